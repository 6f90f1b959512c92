/** Read access to the rows of a store, in whichever state the reader sees. */
import type { KindName, Scalar } from '../model/kind.ts';
import type { RowSource } from '../model/rows.ts';

/** Rows as one reader sees them. */
export interface View extends RowSource {
  /** Ids of the rows whose indexed attribute has the value. */
  matching(kind: KindName, attribute: string, value: Scalar): Iterable<number>;
}

/** The state that a draft builds on: that of a store, or a frozen view of it. */
export interface DraftBase extends View {
  readonly sequence: number;
  readonly digest: string;
  lastId(kind: KindName): number;
  /** The ids of {@link View.matching}. */
  index(
    kind: KindName,
    attribute: string,
    value: Scalar,
  ): { readonly last: number | undefined; values(): readonly number[] };
  /** All ids of a kind. */
  idList(kind: KindName): { chunks(backwards: boolean): Iterable<readonly number[]> };
}
