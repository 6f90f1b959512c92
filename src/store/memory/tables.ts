/**
 * The committed state in memory: rows by id, and indexes kept up to date as rows change.
 *
 * Invariants:
 * 1. Between two calls of {@link Tables.apply} every index holds exactly the rows of its table,
 *    each at the place that its current values determine.
 * 2. A few changes update the indexes row by row. Many are planned in steps, while readers see the
 *    old state; {@link Tables.apply} then replaces chunks and lists. Readers see all changes or
 *    none, and no step grows with their number.
 */
import { type Change, changeOf } from '../../model/change.ts';
import { type Dependent, dependentsOf, type Sought } from '../../model/relations.ts';
import type { KindName, Scalar } from '../../model/kind.ts';
import { ALL_KINDS, KINDS } from '../../model/kinds.ts';
import { existingRow, lookupIn, type RowOf } from '../../model/rows.ts';
import { perKind } from '../../model/per-kind.ts';
import { atOnce } from '../../slices.ts';
import { byKind, ChangedRows, differs } from './changed-rows.ts';
import type { IdList } from './id-list.ts';
import { permanentIndexes } from './permanent-indexes.ts';
import type { OrderedIds } from './orders/ordered-ids.ts';
import type { Replacements } from './orders/lists/replacements.ts';
import { type Entering, leave, type Ordering } from './orders/ordering.ts';
import type { OrderingBounds } from './orders/bounds.ts';
import { type Concerned, Orderings } from './orders/orderings.ts';
import { planRows, type TablesPlan } from './plan.ts';
import { Queries } from './queries.ts';
import type { RowTable } from './row-table.ts';
import { Searches } from './search/searches.ts';
import type { Order } from './orders/order.ts';

export class Tables {
  readonly queries: Queries;
  readonly #rows: Record<KindName, RowTable>;
  readonly #orderings: Orderings;
  readonly #searches: Searches;
  readonly #dependencyVersions = perKind(() => 0);
  /** Orderings whose replacement is not complete. */
  #settling: readonly Ordering[] = [];

  constructor(rows: Record<KindName, RowTable>, bounds: Partial<OrderingBounds> = {}) {
    this.#rows = rows;
    this.#orderings = new Orderings(rows, bounds);
    this.#searches = new Searches(
      { rows, index: (kind, attribute) => this.#index(kind, attribute) },
      bounds,
    );
    this.queries = new Queries({
      rows,
      orderings: this.#orderings,
      searches: this.#searches,
      matching: (kind, attribute, value) => this.matching(kind, attribute, value),
    });
  }

  /** While it returns the same object, the row and the rows that belong to it have not changed. */
  get<K extends KindName>(kind: K, id: Scalar): RowOf<K> | undefined {
    // A table holds only rows of its kind: they were checked before they were stored.
    return this.#rows[kind].get(id) as RowOf<K> | undefined;
  }

  /** Returns the row without keeping it: a row stored as text stays text. */
  peek<K extends KindName>(kind: K, id: Scalar): RowOf<K> | undefined {
    return this.#rows[kind].peek(id) as RowOf<K> | undefined;
  }

  /** Changes with every commit that changes what rows of the kind look up in rows of others. */
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

  /** As an array; valid until the next change. */
  idsWith(kind: KindName, attribute: string, value: Scalar): readonly number[] {
    return this.#orderings.idsWith(KINDS[kind], attribute, value);
  }

  /** See {@link Ordering.rank}. */
  rank(kind: KindName, attribute: string, value: Scalar, id: number): number {
    return this.#index(kind, attribute).rank(value, id);
  }

  /** Ascending. */
  ids(kind: KindName): IdList {
    return this.#rows[kind].ids;
  }

  /**
   * Makes sure that rows can be looked up without blocking the event loop.
   *
   * @param isOne see {@link Orderings.prepareIndex}.
   * @returns a promise to await; undefined if nothing has to be prepared.
   */
  prepareIndexes(sought: readonly Sought[], isOne = false): Promise<void> | undefined {
    for (const { kind, attribute } of sought) {
      const building = this.#orderings.prepareIndex(KINDS[kind], attribute, isOne);
      if (building !== undefined) return building.then(() => this.prepareIndexes(sought, isOne));
    }
    return undefined;
  }

  /** See {@link Orderings.complete}. */
  completeIndexes(background: Promise<void>, goesOn: () => boolean): Promise<void> {
    return this.#orderings.complete(background, goesOn);
  }

  /**
   * Prepares many changes in steps. Nothing changes until {@link Tables.apply}, and no other changes
   * may be applied in between.
   *
   * @param changes each row once.
   * @throws Error as {@link Tables.apply} does.
   */
  *plan(changes: readonly Change[]): Generator<undefined, TablesPlan> {
    yield* this.settle();
    const changed = new ChangedRows(changes);
    const moved = this.#announce(changed).filter(({ kind, id }) => changed.add(kind, id));
    const moving = moved.length === 0 ? changed.byKind : byKind([...changes, ...moved]);
    const orderings = perKind(({ name }) => [...this.#orderings.of(name)]);
    const known = new Set(Object.values(orderings).flat());
    const rows = yield* planRows(this.#rows, changed);
    const next = lookupIn((kind, id) => (rows.get(kind) ?? this.#rows[kind]).get(id));
    const lists = new Map<Ordering, Replacements>();
    for (const [kind, ofKind] of moving) {
      for (const ordering of orderings[kind]) {
        lists.set(ordering, yield* ordering.plan(ofKind, next));
      }
    }
    return { changed, rows, lists, known };
  }

  /**
   * Makes committed changes visible.
   *
   * @param changes each row once.
   * @param plan of the same changes; without one, the indexes are updated row by row.
   * @throws Error if an index contradicts its table. The process has to end then.
   */
  apply(changes: readonly Change[], plan: TablesPlan | null = null): void {
    atOnce(this.settle());
    const changed = plan?.changed ?? new ChangedRows(changes);
    if (plan === null) this.#move(changes, changed);
    else this.#adopt(plan);
    for (const [kind, ofKind] of changed.byKind) this.#noteChanges(kind, ofKind);
  }

  /** Whether {@link Tables.settle} has nothing to do. */
  get settled(): boolean {
    return this.#settling.length === 0;
  }

  /** Completes, in steps, the work that a planned change deferred. Readers see no difference. */
  *settle(): Generator<undefined, void> {
    for (const ordering of this.#settling) yield* ordering.settle();
    this.#settling = [];
  }

  #move(changes: readonly Change[], changed: ChangedRows): void {
    const next = lookupIn((kind, id) => {
      const change = changed.get(kind, id);
      return change === undefined ? this.get(kind, id) : (change.after ?? undefined);
    });
    // A joined value moves rows that did not change themselves; they leave and enter with the rest.
    const moved = this.#announce(changed).filter(({ kind, id }) => changed.add(kind, id));
    // All rows leave while every value is the old one, and enter once every value is the new one,
    // so that comparisons within a list always agree with its order.
    const entering: Entering[] = [];
    const leaving = moved.length === 0 ? changed.byKind : byKind([...changes, ...moved]);
    for (const [kind, ofKind] of leaving) {
      for (const ordering of this.#orderings.of(kind)) leave(ordering, ofKind, next, entering);
    }
    for (const { kind, id, after } of changes) {
      if (after === null) this.#rows[kind].delete(id);
      else this.#rows[kind].set(after);
    }
    for (const { ordering, row } of entering) ordering.enter(row);
  }

  #adopt({ changed, rows, lists, known }: TablesPlan): void {
    // Again, for builds that began after the plan. Orderings built since the plan are built again.
    this.#announce(changed, 'builds');
    this.#orderings.keepOnly(known);
    for (const [kind, planned] of rows) this.#rows[kind].adopt(planned);
    for (const [ordering, replacements] of lists) ordering.replace(replacements);
    this.#settling = [...lists.keys()];
  }

  #noteChanges(kind: KindName, changes: readonly Change[]): void {
    this.#searches.change(kind, changes);
    for (const { kind: dependent, attribute } of dependentsOf(kind)) {
      if (changes.some((change) => differs(change, attribute))) {
        this.#dependencyVersions[dependent] += 1;
      }
    }
  }

  /** Contradictions between the indexes and the rows, one sentence each. */
  faults(): string[] {
    // Also builds the indexes that were not needed yet, since later queries will use them.
    for (const kind of ALL_KINDS) {
      for (const attribute of permanentIndexes(kind)) this.#orderings.index(kind, attribute);
    }
    return this.#orderings.faults();
  }

  #index(kind: KindName, attribute: string): Ordering {
    return this.#orderings.index(KINDS[kind], attribute);
  }

  /**
   * Tells the orderings which rows are about to move in them, by their own or a joined value.
   *
   * @param to `builds` if those that exist know it already.
   * @returns the rows that a joined value moves.
   */
  #announce({ byKind: kinds }: ChangedRows, to: Concerned = 'all'): Change[] {
    for (const [kind, changes] of kinds) {
      const ids = changes.map(({ id }) => id);
      this.#orderings.expect(kind, ids, () => true, to);
    }
    const moved: Change[] = [];
    for (const [kind, changes] of kinds) {
      for (const dependent of dependentsOf(kind)) {
        for (const each of this.#movedByJoin(dependent, changes, to)) moved.push(each);
      }
    }
    return moved;
  }

  /** Rows that are sorted by a value looked up in changed rows; none if there are too many. */
  #movedByJoin(
    { kind, name, foreignKey, attribute }: Dependent,
    changes: readonly Change[],
    to: Concerned,
  ): Change[] {
    const sorts = ({ sortby }: Order) => sortby === name;
    if (![...this.#orderings.sortedBy(kind)].some(sorts)) return [];
    const ids: number[] = [];
    for (const change of changes) {
      if (!differs(change, attribute)) continue;
      // An ordering in which more rows move is dropped, whatever else moves.
      const room = this.#orderings.maxMovedRows + 1 - ids.length;
      for (const id of this.matching(kind, foreignKey, change.id).slice(0, room)) ids.push(id);
      if (ids.length > this.#orderings.maxMovedRows) break;
    }
    this.#orderings.expect(kind, ids.length > this.#orderings.maxMovedRows ? null : ids, sorts, to);
    if (![...this.#orderings.asked(kind)].some(({ order }) => sorts(order))) return [];
    return ids.map((id) => {
      const row = existingRow(this, kind, id);
      return changeOf(kind, id, row, row);
    });
  }
}
