/** What a dialog over several items is given. */
import type { Collection } from '../../api/collections.ts';
import type { Selection } from '../selection.ts';

export interface BulkProps {
  readonly collection: Collection;
  readonly selection: Selection;
  readonly onClose: () => void;
  readonly onDone: () => void;
}
