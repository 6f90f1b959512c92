/** The conditions of a selection besides its ordering: filters, ranges and words. */
import type { Kind, KindName, Row, Scalar } from '../../model/kind.ts';
import type { OrderedIds } from './orders/ordered-ids.ts';
import type { Orderings } from './orders/orderings.ts';
import type { RowTable } from './row-table.ts';
import { Bitmap } from './search/bitmap.ts';
import type { Searches } from './search/searches.ts';
import type { Range, Selection } from './selection.ts';
import { precedes, type SortKey, sortKey } from './orders/sort-key.ts';
import type { Order } from './orders/order.ts';

/** One condition. */
export interface Restriction {
  /** How many rows of the whole table pass. */
  readonly size: number;
  readonly passes: (row: Row) => boolean;
  /** Their ids, ascending. */
  readonly ids: () => readonly number[];
  /** The same; must not be changed. */
  readonly bitmap: () => Bitmap;
}

export interface Sources {
  readonly rows: Readonly<Record<KindName, RowTable>>;
  readonly orderings: Orderings;
  readonly searches: Searches;
  /** The ids, ascending, of the rows whose indexed attribute has a value. */
  readonly matching: (kind: KindName, attribute: string, value: Scalar) => OrderedIds;
}

export class Restrictions {
  readonly #sources: Sources;

  constructor(sources: Sources) {
    this.#sources = sources;
  }

  filter(name: KindName, [attribute, value]: Selection['filters'][number]): Restriction {
    const list = this.#sources.matching(name, attribute, value);
    return {
      size: list.length,
      passes: (row) => (row[attribute] ?? null) === value,
      ids: () => list.values(),
      bitmap: () => bitmapOf(list.parts()),
    };
  }

  range(kind: Kind, range: Range): Restriction {
    const { attribute } = range;
    const min = range.min === null ? null : sortKey(range.min);
    const max = range.max === null ? null : sortKey(range.max);
    const { orderings, rows } = this.#sources;
    const list = orderings.get(kind, orderOfRange(range)).list(null);
    const keyOfId = (id: number): SortKey => sortKey(rows[kind.name].get(id)?.[attribute] ?? null);
    const begin = min === null ? 0 : list.rank((id) => precedes(keyOfId(id), min));
    const end = max === null ? list.length : list.rank((id) => !precedes(max, keyOfId(id)));
    const size = Math.max(end - begin, 0);
    return {
      size,
      passes: (row) => {
        const key = sortKey(row[attribute] ?? null);
        return (min === null || !precedes(key, min)) && (max === null || !precedes(max, key));
      },
      ids: () => list.slice(begin, size).sort((a, b) => a - b),
      bitmap: () => bitmapOf(list.parts(begin, size)),
    };
  }

  search(kind: Kind, words: readonly string[]): Restriction {
    const { size, bitmap } = this.#sources.searches.matches(kind, words);
    return {
      size,
      passes: ({ id }) => bitmap.has(id),
      ids: () => [...bitmap],
      bitmap: () => bitmap,
    };
  }
}

function bitmapOf(parts: Iterable<readonly number[]>): Bitmap {
  const bitmap = new Bitmap();
  for (const ids of parts) bitmap.addAll(ids, ids.length);
  return bitmap;
}

/** The ordering that a range is read from. */
export function orderOfRange({ attribute }: Range): Order {
  return { partition: null, sortby: attribute, order: 'asc' };
}
