/**
 * Moves the focus to the content of the page, unless it is in there: what had it was replaced, or
 * is the link that has led here. Tab goes on from there.
 */
export function focusContent(): void {
  const content = document.getElementById('content');
  if (content?.contains(document.activeElement) === false) content.focus({ preventScroll: true });
}

/** The region of the messages; null before the user has signed in. */
function region(): HTMLElement | null {
  return document.querySelector('.notices');
}

/**
 * Moves the focus if what has it is removed: a button that is pressed is often gone when it has done
 * its work. It goes to where it was before F8, or to the dialog that is open, else to the content.
 * Without that, Tab would begin again at the top of the page.
 *
 * F8 leads to the messages, which are the last of the page, and F8 or Escape leads back.
 */
export function keepFocus(): void {
  let last: EventTarget | null = null;
  // Where F8 was pressed, as long as the focus is among the messages.
  let before: Element | null = null;
  addEventListener('focusin', ({ target }) => {
    last = target;
    if (region()?.contains(target as Node) !== true) before = null;
    // Browsers leave it half in sight in a table that scrolls sideways. When the pointer is pressed,
    // nothing may move: the click would miss it.
    document
      .querySelector(':is(td, th) :focus-visible')
      ?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  });
  const look = () => {
    const focused = document.activeElement;
    const isLost = focused === document.body && last instanceof Element && !last.isConnected;
    // The last message has gone, which the user has read.
    const isIdle = focused === region() && focused?.querySelector('.notice') === null;
    if (!isLost && !isIdle) return;
    last = null;
    const dialogs = [...document.querySelectorAll('dialog[open]')].toReversed();
    for (const place of [before, ...dialogs, document.getElementById('content')]) {
      // What is below a modal dialog takes no focus, and neither does what is gone.
      if (place instanceof HTMLElement) place.focus({ preventScroll: true });
      if (document.activeElement === place) return;
    }
  };
  // A component that moves the focus itself does it before, or in the same frame.
  const later = () => requestAnimationFrame(look);
  new MutationObserver(later).observe(document.body, { childList: true, subtree: true });
  addEventListener('keydown', (event) => {
    const notices = region();
    const isInside = notices?.contains(document.activeElement) === true;
    if (event.key !== 'F8' && !(event.key === 'Escape' && isInside)) return;
    event.preventDefault();
    if (!isInside) {
      const from = document.activeElement;
      if (notices?.querySelector('.notice') instanceof Element) notices.focus();
      before = from;
    } else if (before instanceof HTMLElement && before.isConnected) before.focus();
    else focusContent();
  });
}
