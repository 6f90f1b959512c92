/**
 * What is kept between pages. A browser may forbid it, for example together with all cookies, or
 * have no room; then an access throws, and the console keeps the values until the page is loaded
 * again.
 */

type Kept = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** Ends with the tab. */
export const tabStorage = usable(() => sessionStorage);

/** Stays in the browser, and is the same in all tabs. */
export const browserStorage = usable(() => localStorage);

/** @param open throws if the browser forbids it. */
function usable(open: () => Storage): Kept {
  const inMemory = new Map<string, string>();
  let stored: Kept | null = null;
  try {
    stored = open();
  } catch {
    // All of it is in memory.
  }
  const removeItem = (key: string) => {
    inMemory.delete(key);
    stored?.removeItem(key);
  };
  return {
    getItem: (key) => inMemory.get(key) ?? stored?.getItem(key) ?? null,
    setItem(key, value) {
      inMemory.set(key, value);
      try {
        stored?.setItem(key, value);
      } catch {
        // There is no room. What was stored before is out of date, and must not come back.
        stored?.removeItem(key);
      }
    },
    removeItem,
  };
}
