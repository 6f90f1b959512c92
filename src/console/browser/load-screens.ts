/** Loads the file of the screens that are not lists. */
import { loadChunk } from './load-chunk.ts';

function load() {
  return loadChunk(async () => await import('./more-screens.ts'));
}

let screens: ReturnType<typeof load> | null = null;

/**
 * The file of the screens that are not lists.
 *
 * @throws ConsoleUpdated if the server has another version; TypeError if it does not answer.
 */
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
    // The screen that needs them tries again, and reports what failed.
  });
}
