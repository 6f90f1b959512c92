/**
 * The committed state in memory: rows by id, and indexes kept in place as rows change.
 *
 * Invariant: between two calls of {@link Tables.apply} every index holds exactly the rows of its
 * table, each at the place that its current values give.
 */
import { ALL_KINDS, KINDS } from '../../model/kinds.ts';
import { dependentKinds, referrersOf } from '../../model/relations.ts';
import type { Kind, KindName, Lookup, Row, Scalar } from '../../model/kind.ts';
import { referencesOf } from '../../model/rules.ts';
import type { OrderedIds } from './ordered-ids.ts';
import { type Direction, Ordering } from './ordering.ts';
import { perKind } from '../../model/per-kind.ts';
import type { RowTable } from './row-table.ts';

/** What a page of a collection asks for. */
export interface Selection {
  /** Attributes that must have the value; all of them indexed. */
  readonly filters: readonly (readonly [attribute: string, value: Scalar])[];
  /** Any scalar attribute of the object, joined ones included. */
  readonly sortby: string;
  readonly order: Direction;
  readonly offset: number;
  /** Infinity for all. */
  readonly limit: number;
}

export interface Page {
  readonly rows: readonly Row[];
  /** Rows that the filters let through. */
  readonly total: number;
}

/** One changed row: what was and what is; null where there is none. */
export interface Change {
  readonly kind: KindName;
  readonly id: number;
  readonly before: Row | null;
  readonly after: Row | null;
}

export class Tables {
  readonly #rows: Record<KindName, RowTable>;
  /** The orderings by id of the indexed attributes: where every look-up by value begins. */
  readonly #indexes: Record<KindName, ReadonlyMap<string, Ordering>>;
  readonly #orderings: Record<KindName, Map<string, Ordering>>;
  readonly #dependencyVersions = perKind(() => 0);

  constructor(rows: Record<KindName, RowTable>) {
    this.#rows = rows;
    this.#orderings = perKind(() => new Map());
    for (const kind of ALL_KINDS) {
      this.#ordering(kind, null, 'id', 'asc');
    }
    this.#indexes = perKind((kind) => {
      const attributes = indexedAttributes(kind);
      return new Map(
        attributes.map((attribute) => [attribute, this.#ordering(kind, attribute, 'id', 'asc')]),
      );
    });
  }

  get(kind: KindName, id: Scalar): Row | undefined {
    return this.#rows[kind].get(id);
  }

  /** How often a joined attribute or an owned row of the kind has changed. */
  dependencyVersion(kind: KindName): number {
    return this.#dependencyVersions[kind];
  }

  count(kind: KindName): number {
    return this.#rows[kind].size;
  }

  /** Ids of the rows whose indexed attribute has the value, ascending. */
  matching(kind: KindName, attribute: string, value: Scalar): OrderedIds {
    const index = this.#indexes[kind].get(attribute);
    if (index === undefined) throw new Error(`${kind} has no index by ${attribute}`);
    return index.list(value);
  }

  /** All ids of a table, ascending. */
  ids(kind: KindName): OrderedIds {
    return this.#ordering(KINDS[kind], null, 'id', 'asc').list(null);
  }

  select(name: KindName, { filters, sortby, order, offset, limit }: Selection): Page {
    const kind = KINDS[name];
    const [narrowest, ...others] = filters.toSorted(
      ([a, x], [b, y]) => this.matching(name, a, x).length - this.matching(name, b, y).length,
    );
    // Ids have no equals, so their other direction is the same list read backwards.
    const backwards = sortby === 'id' && order === 'desc';
    const ordering = this.#ordering(
      kind,
      narrowest?.[0] ?? null,
      sortby,
      backwards ? 'asc' : order,
    );
    const list = ordering.list(narrowest?.[1] ?? null);
    const row = (id: number) => this.get(name, id) as Row;

    if (others.length > 0) {
      const rows = list
        .values()
        .map(row)
        .filter((candidate) =>
          others.every(([attribute, value]) => candidate[attribute] === value),
        );
      if (backwards) rows.reverse();
      return { rows: rows.slice(offset, offset + limit), total: rows.length };
    }
    if (backwards) {
      const end = Math.max(list.length - offset, 0);
      const start = Math.max(end - limit, 0);
      const ids = list.slice(start, end - start).reverse();
      return { rows: ids.map(row), total: list.length };
    }
    return { rows: list.slice(offset, limit).map(row), total: list.length };
  }

  /**
   * Makes committed changes visible.
   *
   * @throws Error where an index contradicts its table. Memory is then no truth any more, and the
   *   process has to end.
   */
  apply(changes: readonly Change[]): void {
    const changed = new Map(changes.map((change) => [`${change.kind} ${change.id}`, change]));
    const next: Lookup = (kind, id) => {
      const change = changed.get(`${kind} ${id}`);
      return change === undefined ? this.get(kind, id) : (change.after ?? undefined);
    };
    // A joined value moves rows that did not change themselves; they leave and enter with the rest.
    for (const carried of this.#movedByJoin(changes)) {
      const key = `${carried.kind} ${carried.id}`;
      if (!changed.has(key)) changed.set(key, carried);
    }
    // Out while every value is the old one, in once every value is the new one: within a list the
    // comparisons then always agree with the places.
    const entering = [...changed.values()].flatMap((move) => this.#leave(move, next));
    for (const { kind, id, after } of changes) {
      if (after === null) this.#rows[kind].delete(id);
      else this.#rows[kind].set(after);
    }
    for (const [ordering, row] of entering) ordering.enter(row);
    for (const change of changes) this.#countLent(change);
  }

  /** What in the indexes contradicts the rows, a sentence each; empty where all is well. */
  faults(): string[] {
    return ALL_KINDS.flatMap(({ name }) =>
      [...this.#orderings[name].values()].flatMap((ordering) => ordering.faults(this.#rows[name])),
    );
  }

  #countLent({ kind, before, after }: Change): void {
    for (const name of dependentKinds(kind, before, after)) this.#dependencyVersions[name] += 1;
  }

  /** Rows that show an attribute of a changed row, by joining it. */
  #movedByJoin(changes: readonly Change[]): Change[] {
    const carried: Change[] = [];
    for (const { kind, id, before, after } of changes) {
      if (before === null || after === null) continue;
      for (const { kind: shower, attribute } of referrersOf(kind)) {
        if (!this.#sortsByJoined(shower, attribute, before, after)) continue;
        for (const other of this.matching(shower.name, attribute, id).values()) {
          const row = this.get(shower.name, other) as Row;
          carried.push({ kind: shower.name, id: other, before: row, after: row });
        }
      }
    }
    return carried;
  }

  /** Whether an ordering that is kept sorts by a joined attribute that differs. */
  #sortsByJoined(kind: Kind, through: string, before: Row, after: Row): boolean {
    for (const { sortby } of this.#orderings[kind.name].values()) {
      const declared = kind.attributes[sortby];
      if (declared?.role !== 'lookup' || declared.foreignKey !== through) continue;
      if (before[declared.attribute] !== after[declared.attribute]) return true;
    }
    return false;
  }

  /** Takes a row out of the orderings in which its place changes. @returns where it comes in. */
  #leave({ kind, before, after }: Change, next: Lookup): (readonly [Ordering, Row])[] {
    const entering: (readonly [Ordering, Row])[] = [];
    for (const ordering of this.#orderings[kind].values()) {
      if (before !== null && after !== null && ordering.stays(before, after, next)) continue;
      if (before !== null) ordering.leave(before);
      if (after !== null) entering.push([ordering, after]);
    }
    return entering;
  }

  /** An ordering, built from the whole table the first time it is asked for and kept from then on. */
  #ordering(kind: Kind, partition: string | null, sortby: string, order: Direction): Ordering {
    const name = `${partition ?? ''} ${sortby} ${order}`;
    let ordering = this.#orderings[kind.name].get(name);
    if (ordering === undefined) {
      const lookup: Lookup = (other, id) => this.get(other, id);
      const rows = this.#rows[kind.name].values();
      ordering = new Ordering(kind, { partition, sortby, order }, rows, lookup);
      this.#orderings[kind.name].set(name, ordering);
    }
    return ordering;
  }
}

const indexed = perKind((kind): readonly string[] => {
  const attributes = referencesOf(kind).map(({ attribute }) => attribute);
  for (const [name, declared] of Object.entries(kind.attributes)) {
    if (declared.role === 'serverSet' && declared.filter) attributes.push(name);
  }
  return kind.keyword === undefined ? attributes : [...attributes, kind.keyword];
});

/** Attributes by whose value rows are found: the references, the filters and the keyword. */
export function indexedAttributes({ name }: Kind): readonly string[] {
  return indexed[name];
}
