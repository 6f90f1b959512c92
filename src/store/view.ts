/** What readers ask of the rows of a store, whatever state of it they see. */
import type { KindName, Scalar } from '../model/kind.ts';
import type { RowSource } from '../model/rows.ts';

/** Rows as one reader sees them. */
export interface View extends RowSource {
  /** Ids of the rows whose indexed attribute has the value. */
  matching(kind: KindName, attribute: string, value: Scalar): Iterable<number>;
}
