/**
 * What is kept between pages. A browser may forbid it, for example together with all cookies; then
 * each access throws, and the console keeps the values until the page is loaded again.
 */

type Kept = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** Ends with the tab. */
export const tabStorage = usable(() => sessionStorage);

/** Stays in the browser, and is the same in all tabs. */
export const browserStorage = usable(() => localStorage);

/** @param open throws if the browser forbids it. */
function usable(open: () => Storage): Kept {
  try {
    return open();
  } catch {
    return inMemory();
  }
}

function inMemory(): Kept {
  const values = new Map<string, string>();
  return {
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => void values.set(key, value),
    removeItem: (key) => void values.delete(key),
  };
}
