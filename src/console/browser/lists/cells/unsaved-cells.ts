/** Cells of a list whose text could not be saved: it is not lost without a question. */
import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { holdBack } from '../../location.ts';
import { useShown } from '../../parts/change-in-place.ts';
import { confirmLeaving } from '../../parts/dialog.tsx';

/** Another page of the list, or another search, removes the rows as well. @returns what ends it. */
function holdBackList(): () => void {
  const unsaved = signal(true);
  const isUnsaved = () => unsaved.value;
  const release = holdBack({ isUnsaved, ask: () => confirmLeaving(isUnsaved), within: true });
  return () => {
    unsaved.value = false;
    release();
  };
}

interface UnsavedCell {
  readonly isMarked: () => boolean;
  readonly mark: () => void;
}

/** @returns marks a cell as one whose text could not be saved, as long as it is there. */
export function useUnsavedCell(): UnsavedCell {
  /** Null before the cell is marked. */
  const release = useRef<(() => void) | null>(null);
  const isShown = useShown();
  // Not an effect that ends after the next frame: by then the list may be left.
  useLayoutEffect(() => () => release.current?.(), [release]);
  return {
    isMarked: () => release.current !== null,
    // At once: the click that takes the focus from the cell may be the one that leaves the list.
    mark() {
      // A save that fails later has nothing to go back to.
      if (isShown()) release.current ??= holdBackList();
    },
  };
}
