/** Texts that wait for their next piece, and are closed meanwhile because their readers have gone. */

/**
 * @param closed is told first: a generator that waits would be closed with its next piece.
 * @param close closes what the text would close itself if it had begun.
 */
export function closable(
  text: AsyncGenerator<Uint8Array>,
  closed: AbortController,
  close = () => Promise.resolve(),
): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => text.next(),
      async return() {
        closed.abort();
        await text.return(undefined);
        await close();
        return { done: true, value: undefined };
      },
    }),
  };
}
