/** The version of OpenAPI that the description is written in. */
export const OPENAPI = '3.1.1';
