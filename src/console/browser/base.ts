/** Where the server is: its base path, and the addresses of the console below it. */

/** "" or a path such as "/api": the part before `/console/` in the address of this script. */
export const BASE_PATH = new URL(import.meta.url).pathname.replace(/\/console\/[^/]*$/, '');

/** The address of the console itself, without a slash at its end. */
export const CONSOLE_PATH = `${BASE_PATH}/console`;
