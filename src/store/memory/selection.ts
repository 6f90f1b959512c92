/** What is asked of a collection, and the answer. */
import type { KindName, Scalar } from '../../model/kind.ts';
import type { RowOf } from '../../model/rows.ts';
import type { Direction } from './sorting.ts';

/** What a page of a collection asks for. */
export interface Selection {
  /** Attributes that must have the value; all of them indexed. */
  readonly filters: readonly (readonly [attribute: string, value: Scalar])[];
  /** Folded words that must all occur in the row's texts (spec 4.7); none by default. */
  readonly words?: readonly string[];
  /** Any scalar attribute of the object, joined ones included. */
  readonly sortby: string;
  readonly order: Direction;
  readonly offset: number;
  /** Infinity for all. */
  readonly limit: number;
}

export interface Page<K extends KindName = KindName> {
  /** In their order. */
  readonly rows: readonly RowOf<K>[];
  /** Rows that match the filters, on all pages together. */
  readonly total: number;
}
