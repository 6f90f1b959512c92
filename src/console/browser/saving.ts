/** What is being saved: shown if it takes a while, and not to be cut off by a reload. */
import { signal } from '@preact/signals';

/** Milliseconds that a save may take before it is shown. */
const PATIENCE_MS = 200;

/** Whether a save takes longer than {@link PATIENCE_MS}. */
export const isSaving = signal(false);

let underWay = 0;

/** Milliseconds that a sign-out, or the save of a form, waits for what is being saved. */
const MAX_WAIT_MS = 5000;

let waiting: (() => void)[] = [];

/** Resolves when nothing is being saved, or has taken {@link MAX_WAIT_MS}. */
export async function whenSaved(): Promise<void> {
  if (underWay === 0) return;
  await new Promise<void>((resolve) => {
    waiting.push(resolve);
    setTimeout(resolve, MAX_WAIT_MS);
  });
}

function warn(event: Event): void {
  event.preventDefault();
}

/** @param work a save without questions to the user. @returns and throws what it does. */
export async function whileSaving<T>(work: () => Promise<T>): Promise<T> {
  underWay += 1;
  addEventListener('beforeunload', warn);
  const timer = setTimeout(() => {
    isSaving.value = true;
  }, PATIENCE_MS);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
    underWay -= 1;
    if (underWay === 0) {
      isSaving.value = false;
      removeEventListener('beforeunload', warn);
      const resolved = waiting;
      waiting = [];
      for (const resolve of resolved) resolve();
    }
  }
}
