/**
 * Moves the focus to the content of the page, unless it is in there: what had it was replaced, or
 * is the link that has led here. Tab goes on from there.
 */
export function focusContent(): void {
  const content = document.getElementById('content');
  if (content?.contains(document.activeElement) === false) content.focus({ preventScroll: true });
}

/**
 * Moves the focus if what has it is removed: a button that is pressed is often gone when it has done
 * its work. It goes to the dialog that is open, else to the content. Without that, Tab would begin
 * again at the top of the page.
 */
export function keepFocus(): void {
  let last: EventTarget | null = null;
  addEventListener('focusin', ({ target }) => {
    last = target;
  });
  const look = () => {
    const lost = last instanceof Element && !last.isConnected;
    if (!lost || document.activeElement !== document.body) return;
    last = null;
    const places = [...document.querySelectorAll('dialog[open]')].toReversed();
    for (const place of [...places, document.getElementById('content')]) {
      // What is below a modal dialog takes no focus.
      if (place instanceof HTMLElement) place.focus({ preventScroll: true });
      if (document.activeElement === place) return;
    }
  };
  // A component that moves the focus itself does it before, or in the same frame.
  const later = () => requestAnimationFrame(look);
  new MutationObserver(later).observe(document.body, { childList: true, subtree: true });
}
