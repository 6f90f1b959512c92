/** Where the choices of a picker are. */
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

/** Pixels between the choices and the edge that they would go over. */
const DISTANCE_PX = 8;

/**
 * Moves a list to the left as far as it would go over the edge of the window, or of the dialog that
 * it is in, which would scroll sideways for it; and scrolls to its marked choice.
 *
 * @param marked the place or the key of that choice.
 * @returns for the list, which is below the left end of its field unless it is moved.
 */
export function useInWindow(
  marked: number | string | undefined,
): RefObject<HTMLUListElement | null> {
  const list = useRef<HTMLUListElement>(null);
  useLayoutEffect(() => {
    const element = list.current;
    if (element === null) return;
    element.style.left = '';
    const { right } = element.getBoundingClientRect();
    const dialog = element.closest('dialog')?.getBoundingClientRect();
    const over = right - (dialog?.right ?? document.documentElement.clientWidth);
    if (over > 0) element.style.left = `${-over - DISTANCE_PX}px`;
  });
  useEffect(() => {
    list.current?.querySelector('.marked')?.scrollIntoView({ block: 'nearest' });
  }, [marked]);
  return list;
}
