/**
 * Moves the focus to the content of the page, unless it is in there: what had it was replaced, or
 * is the link that has led here. Tab goes on from there.
 */
export function focusContent(): void {
  const content = document.getElementById('content');
  if (content?.contains(document.activeElement) === false) content.focus({ preventScroll: true });
}
