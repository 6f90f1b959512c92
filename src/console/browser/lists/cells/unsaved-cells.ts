/** Cells of a list whose text could not be saved: it is not lost without a question. */
import { useEffect, useRef } from 'preact/hooks';
import { holdBack } from '../../location.ts';
import { confirmLeaving } from '../../parts/dialog.tsx';

/** One object for each of these cells. */
const unsaved = new Set<object>();

function warn(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

/** At once: the click that takes the focus from the cell may be the one that leaves the list. */
function mark(cell: object, isUnsaved: boolean): void {
  if (isUnsaved === unsaved.has(cell)) return;
  if (isUnsaved) unsaved.add(cell);
  else unsaved.delete(cell);
  if (unsaved.size === 0) {
    holdBack(null);
    removeEventListener('beforeunload', warn);
  } else {
    // Another page of the list, or another search, removes the rows as well.
    holdBack(confirmLeaving, { within: true });
    addEventListener('beforeunload', warn);
  }
}

/** @returns marks a cell as one whose text could not be saved, or no longer. */
export function useUnsavedCell(): (isUnsaved: boolean) => void {
  const cell = useRef({}).current;
  useEffect(() => () => mark(cell, false), [cell]);
  return (isUnsaved) => mark(cell, isUnsaved);
}
