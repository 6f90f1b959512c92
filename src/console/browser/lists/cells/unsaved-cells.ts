/** Cells of a list whose text could not be saved: it is not lost without a question. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { holdBack } from '../../location.ts';
import { confirmLeaving } from '../../parts/dialog.tsx';

/** Another page of the list, or another search, removes the rows as well. */
const UNSAVED = { isUnsaved: () => true, ask: confirmLeaving, within: true };

/** @returns marks a cell as one whose text could not be saved, or no longer. */
export function useUnsavedCell(): (isUnsaved: boolean) => void {
  /** Null once the cell is removed: a save that fails later has nothing to go back to. */
  const release = useRef<(() => void) | null>(() => {});
  // At once: the click that takes the focus from the cell may be the one that leaves the list.
  const mark = (isUnsaved: boolean) => {
    if (release.current === null) return;
    release.current();
    release.current = isUnsaved ? holdBack({ ...UNSAVED }) : () => {};
  };
  // Not an effect that ends after the next frame: by then the list may be left.
  useLayoutEffect(
    () => () => {
      release.current?.();
      release.current = null;
    },
    [release],
  );
  return mark;
}
