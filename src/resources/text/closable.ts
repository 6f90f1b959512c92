/** Texts that can be closed while they wait for their next piece, because the reader has gone. */

/**
 * @param closed is aborted if the text is closed before its end: a waiting generator would otherwise
 *   close only at its next piece.
 * @param close called at the end of the text, and when it is closed, even if it has not begun. Later
 *   calls must have no effect.
 */
export function closable(
  text: AsyncGenerator<Uint8Array>,
  closed: AbortController,
  close = () => Promise.resolve(),
): AsyncIterable<Uint8Array> {
  const pieces = (async function* () {
    try {
      yield* text;
    } finally {
      await close();
    }
  })();
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => pieces.next(),
      async return() {
        closed.abort();
        await pieces.return(undefined);
        await close();
        return { done: true, value: undefined };
      },
    }),
  };
}
