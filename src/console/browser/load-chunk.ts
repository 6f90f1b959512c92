/** Files of the console that are loaded after its start, and whether the server still has them. */
import { answer } from './api/answer.ts';
import { CONSOLE_PATH } from './base.ts';

/** The server has another version of the console now, without the files of this one. */
export class ConsoleUpdated extends Error {}

/**
 * Awaits a dynamic import.
 *
 * @throws ConsoleUpdated if the server has another version; TypeError if it does not answer.
 */
export async function loadChunk<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await answer(load());
  } catch (error) {
    if (await isUpdated()) throw new ConsoleUpdated();
    throw error;
  }
}

/**
 * A failed import does not say why it failed, nor in every browser which file it was. The page of
 * the console does: it names the file that contains this function, until there is another version.
 *
 * @throws TypeError if the server does not answer.
 */
async function isUpdated(): Promise<boolean> {
  const response = await answer(fetch(`${CONSOLE_PATH}/`, { cache: 'no-store' }));
  const own = import.meta.url.slice(import.meta.url.lastIndexOf('/') + 1);
  return response.ok && !(await answer(response.text())).includes(own);
}
