/** A query of a collection, and its result. */
import type { KindName, Scalar } from '../../model/kind.ts';
import type { RowOf } from '../../model/rows.ts';
import type { Direction } from './orders/order.ts';

/** Which rows a query asks for, in which order. */
export interface RowSelection {
  /** Attributes that must have the value; all of them indexed. */
  readonly filters: readonly (readonly [attribute: string, value: Scalar])[];
  /** Folded words that must all occur in the row's texts (spec 4.7); none by default. */
  readonly words?: readonly string[];
  /** None by default. */
  readonly ranges?: readonly Range[];
  /** Any scalar attribute of the object, joined ones included. */
  readonly sortby: string;
  readonly order: Direction;
}

/** What a query asks for: a page of the rows. */
export interface Selection extends RowSelection {
  readonly offset: number;
  /** Infinity for all. */
  readonly limit: number;
}

/** Rows whose attribute has a value within bounds, both included; null is no bound. */
export interface Range {
  /** A stored attribute. */
  readonly attribute: string;
  readonly min: Scalar;
  readonly max: Scalar;
}

/** The rows of a page, by their ids. */
export interface Page {
  /** In the order of the rows. */
  readonly ids: readonly number[];
  /** Rows that match the filters, on all pages together. */
  readonly total: number;
}

/** All rows of a selection, looked up as they are read. */
export interface RowsOf<K extends KindName> {
  readonly rows: Iterable<RowOf<K>>;
  readonly total: number;
}
