/** Where the choices of a picker are. */
import { useLayoutEffect } from 'preact/hooks';

/** Pixels between the choices and the edge that they would go over. */
const DISTANCE_PX = 8;

/**
 * Moves a list to the left as far as it would go over the edge of the window, or of the dialog that
 * it is in, which would scroll sideways for it.
 *
 * @param list is below the left end of its field unless it is moved.
 */
export function useInWindow(list: { readonly current: HTMLElement | null }): void {
  useLayoutEffect(() => {
    const element = list.current;
    if (element === null) return;
    element.style.left = '';
    const { right } = element.getBoundingClientRect();
    const dialog = element.closest('dialog')?.getBoundingClientRect();
    const over = right - (dialog?.right ?? document.documentElement.clientWidth);
    if (over > 0) element.style.left = `${-over - DISTANCE_PX}px`;
  });
}
