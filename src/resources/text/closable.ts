/** Texts that can be closed while they wait for their next piece, because the reader has gone. */

/**
 * @param closed is aborted first: a waiting generator would otherwise close only at its next piece.
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
