/** Items of a stream, and signs that the next one is still awaited. */
import { withTimeout } from '../../delay.ts';

/**
 * @param milliseconds without an item after which null is passed on, as often as it takes.
 * @returns the items, in order.
 * @throws what `items` throws.
 */
export async function* withWaits<T>(
  items: AsyncIterable<T>,
  milliseconds: number,
): AsyncGenerator<T | null, void, void> {
  const source = items[Symbol.asyncIterator]();
  const late = { done: undefined, value: null } as const;
  try {
    let next = source.next();
    for (;;) {
      const { done, value } = await withTimeout(next, milliseconds, () => late);
      if (done === true) return;
      yield value;
      if (done === false) next = source.next();
    }
  } finally {
    // Not awaited: a source that is busy returns only once it has the item that nobody needs now.
    void source.return?.().catch(() => {});
  }
}
