/** How rows are sorted, and into which lists; an index is one of these orders. */
import type { Kind, KindName } from '../../../model/kind.ts';
import { joinOf } from '../../../model/rules.ts';

export type Direction = 'asc' | 'desc';

export interface Order {
  /** The attribute whose values divide the table into lists; null for one list of all. */
  readonly partition: string | null;
  readonly sortby: string;
  readonly order: Direction;
}

/** The order of an index: lists by ascending id, one for each value of the attribute. */
export function indexOrder(attribute: string): Order & { readonly partition: string } {
  return { partition: attribute, sortby: 'id', order: 'asc' };
}

/** Whether an order is that of an index: pages are divided only by indexed attributes. */
export function isIndex(order: Order): order is Order & { readonly partition: string } {
  return order.partition !== null && order.sortby === 'id' && order.order === 'asc';
}

/** Whether an order is the one in which tables keep their rows. */
export function isById({ partition, sortby, order }: Order): boolean {
  return partition === null && sortby === 'id' && order === 'asc';
}

/** The kind whose rows an order sorts by; null if it sorts by the rows' own attribute. */
export function joinedKind(kind: Kind, { sortby }: Order): KindName | null {
  const declared = kind.attributes[sortby];
  return declared?.role === 'lookup' ? joinOf(kind, declared).references : null;
}

/** A key that no other order of any kind has, since attributes have no spaces in their names. */
export function nameOf(kind: Kind, { partition, sortby, order }: Order): string {
  return `${kind.name} ${partition ?? ''} ${sortby} ${order}`;
}
