/** What the server answers, and that it does not: every `fetch`, and all that reads a response. */

/** The server does not answer, or its response breaks off. A TypeError of another class is a defect. */
export class NoAnswer extends TypeError {}

/**
 * Awaits a response, a part of one, or a file of the console.
 *
 * @throws NoAnswer instead of the TypeError of the browser, which is that of any defect.
 */
export async function answer<T>(pending: Promise<T>): Promise<T> {
  try {
    return await pending;
  } catch (error) {
    throw error instanceof TypeError ? new NoAnswer(error.message, { cause: error }) : error;
  }
}
