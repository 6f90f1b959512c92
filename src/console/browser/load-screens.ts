/** Loads the file of the screens that are no lists. */

async function load() {
  return await import('./more-screens.ts');
}

let screens: ReturnType<typeof load> | null = null;

/** The file of the screens that are no lists. @throws TypeError if it cannot be loaded. */
export function moreScreens(): ReturnType<typeof load> {
  screens ??= load().catch((error: unknown) => {
    screens = null;
    throw error;
  });
  return screens;
}

/** How long a browser may put off what is loaded ahead, in milliseconds. */
const IDLE_MS = 2000;

/** Loads the other screens ahead, when the browser has nothing else to do. */
export function loadAhead(): void {
  // Safari has no idle callbacks.
  if ('requestIdleCallback' in globalThis) requestIdleCallback(tryAhead, { timeout: IDLE_MS });
  else setTimeout(tryAhead, IDLE_MS);
}

function tryAhead(): void {
  void moreScreens().catch(() => {
    // Whoever needs them tries again, and says what failed.
  });
}
