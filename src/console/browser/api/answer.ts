/** What the server answers, and that it does not: every `fetch`, and all that reads a response. */

/** The server does not answer, or its response breaks off. A TypeError of another class is a defect. */
export class NoAnswer extends TypeError {
  /** Whether the request may have written something. */
  readonly isWrite: boolean;

  constructor(cause: TypeError, isWrite: boolean) {
    super(cause.message, { cause });
    this.isWrite = isWrite;
  }
}

/**
 * Awaits a response, a part of one, or a file of the console.
 *
 * @param isWrite whether the request may write something.
 * @throws NoAnswer instead of the TypeError of the browser, which is that of any defect.
 */
export async function answer<T>(pending: Promise<T>, isWrite = false): Promise<T> {
  try {
    return await pending;
  } catch (error) {
    // What has been told apart already knows whether it was a write.
    const isNew = error instanceof TypeError && !(error instanceof NoAnswer);
    throw isNew ? new NoAnswer(error, isWrite) : error;
  }
}
