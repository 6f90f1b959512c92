/**
 * The committed state in memory: rows by id, and indexes kept in place as rows change.
 *
 * Invariant: between two calls of {@link Tables.apply} every index holds exactly the rows of its
 * table, each at the place that its current values give.
 */
import { type Change, changeOf } from '../../model/change.ts';
import { ALL_KINDS } from '../../model/kinds.ts';
import { dependentKinds, ownersOf, referrersOf } from '../../model/relations.ts';
import type { Kind, KindName, Row, Scalar } from '../../model/kind.ts';
import { existingRow, type Lookup, lookupIn, type RowOf } from '../../model/rows.ts';
import { referencesOf } from '../../model/rules.ts';
import { perKind } from '../../model/per-kind.ts';
import type { IdList } from './id-list.ts';
import type { OrderedIds } from './ordered-ids.ts';
import type { Ordering } from './ordering.ts';
import { type OrderingBounds, Orderings } from './orderings.ts';
import { Queries } from './queries.ts';
import type { RowTable } from './row-table.ts';
import { Searches } from './search/searches.ts';
import type { Page, Selection } from './selection.ts';
import type { Order } from './sorting.ts';

export class Tables {
  readonly #rows: Record<KindName, RowTable>;
  readonly #orderings: Orderings;
  readonly #searches: Searches;
  readonly #queries: Queries;
  /** The orderings by id of the indexed attributes: every look-up by value begins with one. */
  readonly #indexes: Record<KindName, ReadonlyMap<string, Ordering>>;
  readonly #dependencyVersions = perKind(() => 0);

  constructor(rows: Record<KindName, RowTable>, bounds: Partial<OrderingBounds> = {}) {
    this.#rows = rows;
    this.#orderings = new Orderings(rows, bounds);
    this.#searches = new Searches(
      {
        rows,
        matching: (kind, attribute, id) => this.idsWith(kind, attribute, id),
        lastId: (kind) => this.ids(kind).last ?? 0,
      },
      bounds,
    );
    this.#queries = new Queries({
      rows,
      orderings: this.#orderings,
      searches: this.#searches,
      matching: (kind, attribute, value) => this.matching(kind, attribute, value),
    });
    this.#indexes = perKind(
      (kind) =>
        new Map(
          indexedAttributes(kind).map((attribute) => [
            attribute,
            this.#orderings.addIndex(kind, byId(attribute)),
          ]),
        ),
    );
  }

  /**
   * A row. As long as it is the same object, so are its values and the rows that belong to it.
   */
  get<K extends KindName>(kind: K, id: Scalar): RowOf<K> | undefined {
    // A table holds rows of its kind alone: they were checked before they were stored.
    return this.#rows[kind].get(id) as RowOf<K> | undefined;
  }

  /** How often an attribute has changed that rows of the kind look up in rows of others. */
  dependencyVersion(kind: KindName): number {
    return this.#dependencyVersions[kind];
  }

  count(kind: KindName): number {
    return this.#rows[kind].size;
  }

  /** Ids of the rows whose indexed attribute has the value, ascending. */
  matching(kind: KindName, attribute: string, value: Scalar): OrderedIds {
    return this.#index(kind, attribute).list(value);
  }

  /** The same ids as an array; valid until the next change. */
  idsWith(kind: KindName, attribute: string, value: Scalar): readonly number[] {
    return this.#index(kind, attribute).ids(value);
  }

  /** All ids of a table, ascending. */
  ids(kind: KindName): IdList {
    return this.#rows[kind].ids;
  }

  /** See {@link Queries.prepare}. */
  prepare(kind: KindName, selection: Selection): Promise<void> | undefined {
    return this.#queries.prepare(kind, selection);
  }

  /** See {@link Queries.select}. */
  select<K extends KindName>(kind: K, selection: Selection): Page<K> {
    return this.#queries.select(kind, selection);
  }

  /** See {@link Queries.selectAll}. */
  selectAll<K extends KindName>(
    kind: K,
    selection: Selection,
  ): { readonly rows: Iterable<RowOf<K>>; readonly total: number } {
    return this.#queries.selectAll(kind, selection);
  }

  /**
   * Makes committed changes visible.
   *
   * @throws Error if an index contradicts its table. Memory can no longer be trusted then, and the
   *   process has to end.
   */
  apply(changes: readonly Change[]): void {
    const changed = new Map(changes.map((change) => [`${change.kind} ${change.id}`, change]));
    const next = lookupIn((kind, id) => {
      const change = changed.get(`${kind} ${id}`);
      return change === undefined ? this.get(kind, id) : (change.after ?? undefined);
    });
    this.#announce(changes);
    // A joined value moves rows that did not change themselves; they leave and enter with the rest.
    for (const moved of this.#movedByJoin(changes)) {
      const key = `${moved.kind} ${moved.id}`;
      if (!changed.has(key)) changed.set(key, moved);
    }
    // All rows leave while every value is the old one, and enter once every value is the new one:
    // within a list the comparisons then always agree with the places.
    const entering = [...changed.values()].flatMap((move) => this.#leave(move, next));
    for (const { kind, id, after } of changes) {
      if (after === null) this.#rows[kind].delete(id);
      else this.#rows[kind].set(after);
    }
    for (const [ordering, row] of entering) ordering.enter(row);
    for (const { kind, id, before, after } of changes) {
      this.#searches.change(kind, id, before, after);
      for (const name of dependentKinds(kind, before, after)) this.#dependencyVersions[name] += 1;
      if (before !== null) this.#renewOwners(kind, before);
      if (after !== null) this.#renewOwners(kind, after);
    }
  }

  /** Replaces the rows that a changed row belongs to by copies: see {@link Tables.get}. */
  #renewOwners(kind: KindName, child: Row): void {
    for (const { kind: owner, foreignKey } of ownersOf(kind)) {
      const row = this.#rows[owner].get(child[foreignKey] ?? null);
      if (row !== undefined) this.#rows[owner].set({ ...row });
    }
  }

  /** What in the indexes contradicts the rows, a sentence each; empty if all is well. */
  faults(): string[] {
    return this.#orderings.faults();
  }

  /** See {@link Queries.scan}. */
  scan<K extends KindName>(kind: K, selection: Selection): Iterable<RowOf<K> | null> {
    return this.#queries.scan(kind, selection);
  }

  #index(kind: KindName, attribute: string): Ordering {
    const index = this.#indexes[kind].get(attribute);
    if (index === undefined) throw new Error(`${kind} has no index by ${attribute}`);
    return index;
  }

  /** Tells the orderings which rows are about to move in them, by their own or a joined value. */
  #announce(changes: readonly Change[]): void {
    for (const { name } of ALL_KINDS) {
      const moved = changes.flatMap(({ kind, id }) => (kind === name ? [id] : []));
      if (moved.length > 0) this.#orderings.expect(name, moved, () => true);
    }
    for (const { kind, id, before, after } of changes) {
      if (before === null || after === null) continue;
      for (const { kind: dependent, attribute } of referrersOf(kind)) {
        const concerned = (order: Order) => sortsByJoin(dependent, attribute, order, before, after);
        if (![...this.#orderings.sortedBy(dependent.name)].some(concerned)) continue;
        const moved = this.idsWith(dependent.name, attribute, id);
        this.#orderings.expect(dependent.name, moved, concerned);
      }
    }
  }

  /** Rows that show an attribute of a changed row, by joining it. */
  #movedByJoin(changes: readonly Change[]): Change[] {
    const moved: Change[] = [];
    for (const { kind, id, before, after } of changes) {
      if (before === null || after === null) continue;
      for (const { kind: dependent, attribute } of referrersOf(kind)) {
        const sorts = [...this.#orderings.of(dependent.name)].some(({ order }) =>
          sortsByJoin(dependent, attribute, order, before, after),
        );
        if (!sorts) continue;
        for (const other of this.idsWith(dependent.name, attribute, id)) {
          const row = existingRow(this, dependent.name, other);
          moved.push(changeOf(dependent.name, other, row, row));
        }
      }
    }
    return moved;
  }

  /** Takes a row out of the orderings in which its place changes. @returns where it enters. */
  #leave({ kind, before, after }: Change, next: Lookup): (readonly [Ordering, Row])[] {
    const entering: (readonly [Ordering, Row])[] = [];
    for (const ordering of this.#orderings.of(kind)) {
      if (before !== null && after !== null && ordering.stays(before, after, next)) continue;
      if (before !== null) ordering.leave(before);
      if (after !== null) entering.push([ordering, after]);
    }
    return entering;
  }
}

function byId(partition: string): Order {
  return { partition, sortby: 'id', order: 'asc' };
}

/** Whether an order sorts by what a changed row lends through a reference. */
function sortsByJoin(
  kind: Kind,
  foreignKey: string,
  { sortby }: Order,
  before: Row,
  after: Row,
): boolean {
  const declared = kind.attributes[sortby];
  if (declared?.role !== 'lookup' || declared.foreignKey !== foreignKey) return false;
  return before[declared.attribute] !== after[declared.attribute];
}

const indexed = perKind((kind): readonly string[] => {
  const attributes = referencesOf(kind).map(({ attribute }) => attribute);
  for (const [name, declared] of Object.entries(kind.attributes)) {
    if ('filter' in declared || 'unique' in declared) attributes.push(name);
  }
  return [...attributes, ...[kind.keyword, kind.shelf].filter((name) => name !== undefined)];
});

/** Attributes by whose value rows are found: references, filters, the keyword, the shelf. */
export function indexedAttributes({ name }: Kind): readonly string[] {
  return indexed[name];
}
