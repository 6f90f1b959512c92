/** Where the focus is after a link has turned a page: the link may be gone on the last page. */
import { useLayoutEffect, useRef } from 'preact/hooks';

/** @returns attributes of the element that contains the links. @param page that the address names. */
export function usePagingFocus(page: number) {
  const nav = useRef<HTMLElement>(null);
  const followed = useRef(false);
  useLayoutEffect(() => {
    if (followed.current && !nav.current?.contains(document.activeElement)) {
      nav.current?.querySelector('a')?.focus({ preventScroll: true });
    }
    followed.current = false;
  }, [page]);
  const onClick = ({ target }: MouseEvent) => {
    followed.current = target instanceof Element && target.closest('a') !== null;
  };
  return { ref: nav, onClick };
}
