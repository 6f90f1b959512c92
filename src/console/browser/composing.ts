/** What browsers report as the key while an input method composes text. */
const COMPOSING = 229;

/** Keys that the page and an input method both use; others, such as shortcuts, are for the page. */
const SHARED = /^(?:Enter|Escape|Arrow|Page|Home|End)/;

function leave(event: KeyboardEvent): void {
  if (!SHARED.test(event.key) || event.ctrlKey || event.metaKey) return;
  // Safari ends the composition before it sends the key that does.
  if (event.isComposing || event.keyCode === COMPOSING) event.stopPropagation();
}

/**
 * Leaves keys to an input method while it composes text, such as Chinese or Japanese: Enter takes
 * its suggestion then, the arrow keys choose another one and Escape drops it. The listeners of the
 * page do not get such keys, except those of the window that capture.
 */
export function leaveComposingKeys(): void {
  addEventListener('keydown', leave, { capture: true });
}
