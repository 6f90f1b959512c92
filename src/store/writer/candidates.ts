/** The rows of a draft by the values that it has given them. */
import type { KindName, Row, Scalar } from '../../model/kind.ts';

/** Ids as they were added, and whether they are in ascending order, each once. */
interface Ids {
  list: number[];
  ordered: boolean;
}

const NONE: readonly number[] = [];

/**
 * Ids that a draft has given an indexed value at some time. A later write may have changed or
 * deleted the row: a reader compares the row itself.
 */
export class Candidates {
  /** A single id is stored as a number: most values of a name or a code have one. */
  readonly #ids = new Map<KindName, Map<string, Map<Scalar, number | Ids>>>();

  /** @param attributes the indexed ones. */
  add(kind: KindName, row: Row, attributes: readonly string[]): void {
    let byAttribute = this.#ids.get(kind);
    if (byAttribute === undefined) {
      byAttribute = new Map(attributes.map((attribute) => [attribute, new Map()]));
      this.#ids.set(kind, byAttribute);
    }
    for (const [attribute, byValue] of byAttribute) {
      const value = row[attribute] ?? null;
      const ids = byValue.get(value);
      if (ids === undefined) byValue.set(value, row.id);
      else if (typeof ids !== 'number') append(ids, row.id);
      else if (ids !== row.id) byValue.set(value, { list: [ids, row.id], ordered: ids < row.id });
    }
  }

  /** Drops all ids of a kind. */
  forget(kind: KindName): void {
    this.#ids.delete(kind);
  }

  /** Ascending, each id once. */
  matching(kind: KindName, attribute: string, value: Scalar): readonly number[] {
    const ids = this.#ids.get(kind)?.get(attribute)?.get(value);
    if (ids === undefined) return NONE;
    if (typeof ids === 'number') return [ids];
    if (!ids.ordered) {
      ids.list = [...new Set(ids.list)].sort((a, b) => a - b);
      ids.ordered = true;
    }
    return ids.list;
  }
}

function append(ids: Ids, id: number): void {
  const last = ids.list.at(-1);
  if (last === id) return;
  if (last !== undefined && last > id) ids.ordered = false;
  ids.list.push(id);
}
