/** Keeps messages, which are at the bottom of the window, off the buttons of a form. */
import { useLayoutEffect } from 'preact/hooks';

/** Above and below messages, in pixels. */
const GAP = 32;

/** @param bar with the buttons. It is anywhere in the window, and at its bottom if a form is long. */
export function useClearOfNotices(bar: { readonly current: HTMLElement | null }): void {
  useLayoutEffect(() => {
    const { style } = document.documentElement;
    const notices = document.querySelector<HTMLElement>('.notices');
    const place = () => {
      if (bar.current === null || notices === null) return;
      const { top, bottom } = bar.current.getBoundingClientRect();
      const fits = innerHeight - bottom >= notices.offsetHeight + GAP;
      style.setProperty('--bar', fits ? '0px' : `${innerHeight - top}px`);
    };
    const observer = new ResizeObserver(place);
    for (const each of [bar.current, notices, document.body]) {
      if (each !== null) observer.observe(each);
    }
    for (const event of ['scroll', 'resize']) addEventListener(event, place);
    return () => {
      observer.disconnect();
      for (const event of ['scroll', 'resize']) removeEventListener(event, place);
      style.removeProperty('--bar');
    };
  }, [bar]);
}
