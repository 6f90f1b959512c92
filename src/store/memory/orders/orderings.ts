/**
 * The sort orders of all tables: the permanent indexes, and the orders that clients ask for. Each is
 * built on first use, so that a start does not wait for any of them; {@link Orderings.complete}
 * builds the permanent indexes soon after the start.
 *
 * Invariants:
 * 1. An ordering that is kept holds exactly the rows of its table, each in its place, between two
 *    commits.
 * 2. An ordering of a large table is built in slices while commits go on, one at a time.
 */
import { CatalogError, hasCode } from '../../../errors.ts';
import type { Kind, KindName, Scalar } from '../../../model/kind.ts';
import { ALL_KINDS } from '../../../model/kinds.ts';
import { perKind } from '../../../model/per-kind.ts';
import { atOnce } from '../../../slices.ts';
import type { IdList } from '../id-list.ts';
import { permanentIndexes } from '../permanent-indexes.ts';
import { AskedOrderings } from './asked-orderings.ts';
import { BOUNDS, type OrderingBounds } from './bounds.ts';
import { RowScans } from './row-scans.ts';
import { Ordering } from './ordering.ts';
import type { RowTable } from '../row-table.ts';
import { indexOrder, isById, isIndex, nameOf, type Order } from './order.ts';
import { OrderingBuild } from './ordering-build.ts';
import { lookupFor, sortedLists } from './sorting.ts';

/** How many builds of one ordering commits may invalidate before the request is refused. */
const MAX_BUILDS = 5;

/** Which orderings are told of a change: all, or only those that are being built. */
export type Concerned = 'all' | 'builds';

interface Building {
  readonly build: OrderingBuild;
  readonly ended: Promise<void>;
}

export class Orderings {
  readonly #rows: Readonly<Record<KindName, RowTable>>;
  readonly #bounds: OrderingBounds;
  /** The permanent indexes that were built, by their attributes. */
  readonly #indexes: Record<KindName, Map<string, Ordering>> = perKind(() => new Map());
  readonly #scans: RowScans;
  readonly #asked: AskedOrderings;
  readonly #builds = new Map<string, Building>();
  /** Settles with the build that was requested last. */
  #lastBuild: Promise<void> = Promise.resolve();

  constructor(rows: Readonly<Record<KindName, RowTable>>, bounds: Partial<OrderingBounds>) {
    this.#rows = rows;
    this.#bounds = { ...BOUNDS, ...bounds };
    this.#asked = new AskedOrderings(rows, this.#bounds);
    this.#scans = new RowScans(rows, this.#bounds.scannedRows);
  }

  /** The most rows that a commit moves in an ordering that clients asked for. */
  get maxMovedRows(): number {
    return this.#bounds.movedRows;
  }

  /** The index of an attribute: the ascending ids of each value. It is built at once if needed. */
  index(kind: Kind, attribute: string): Ordering {
    return this.#findIndex(kind, attribute) ?? this.get(kind, indexOrder(attribute));
  }

  #findIndex(kind: Kind, attribute: string): Ordering | undefined {
    return this.#indexes[kind.name].get(attribute) ?? this.find(kind, indexOrder(attribute));
  }

  /**
   * Makes sure that rows can be looked up by an attribute without blocking the event loop.
   *
   * @param isOne whether only one value is looked up, by {@link Orderings.idsWith}: the first such
   *   calls after a start need not wait for the index.
   * @returns a promise to await; undefined if nothing has to be prepared.
   */
  prepareIndex(kind: Kind, attribute: string, isOne: boolean): Promise<void> | undefined {
    if (this.#findIndex(kind, attribute) !== undefined) return undefined;
    if (isOne && this.#scans.mayScan(kind, attribute)) return undefined;
    return this.prepare(kind, indexOrder(attribute))?.catch((error: unknown) => {
      unlessBusy(error);
      // The table changes faster than an index is built in slices.
      this.index(kind, attribute);
    });
  }

  /** The ids of the rows with a value of an attribute, ascending; see {@link Orderings.prepareIndex}. */
  idsWith(kind: Kind, attribute: string, value: Scalar): readonly number[] {
    const isThere = this.#findIndex(kind, attribute) !== undefined || this.#isSmall(kind);
    const found = isThere || value === null ? null : this.#scans.idsWith(kind, attribute, value);
    return found ?? this.index(kind, attribute).ids(value);
  }

  #isSmall(kind: Kind): boolean {
    return this.#rows[kind.name].size <= this.#bounds.smallTableRows;
  }

  /**
   * Builds the permanent indexes that are not there yet: those of small tables at once, the others
   * in slices.
   *
   * @param background the others are begun when it resolves.
   * @param goesOn called before each of them; false ends the work.
   */
  async complete(background: Promise<void>, goesOn: () => boolean): Promise<void> {
    const large = ALL_KINDS.filter((kind) => !this.#isSmall(kind));
    if (large.length > 0) await background;
    for (const kind of ALL_KINDS.filter((each) => this.#isSmall(each))) {
      for (const attribute of permanentIndexes(kind)) this.index(kind, attribute);
    }
    for (const kind of large) {
      for (const attribute of permanentIndexes(kind)) {
        if (!goesOn()) return;
        await this.prepareIndex(kind, attribute, false);
      }
    }
  }

  /** The ordering, if it exists; it then counts as used. */
  find(kind: Kind, order: Order): Ordering | undefined {
    return isPermanent(kind, order)
      ? this.#indexes[kind.name].get(order.partition)
      : this.#asked.find(nameOf(kind, order));
  }

  /** The ids of the rows with a value in the partition; a table by id needs no ordering. */
  list(kind: Kind, order: Order, value: Scalar): IdList {
    return isById(order) ? this.#rows[kind.name].ids : this.get(kind, order).list(value);
  }

  /** The ordering, built at once if it does not exist. */
  get(kind: Kind, order: Order): Ordering {
    const found = this.find(kind, order);
    if (found !== undefined) return found;
    const built = this.#buildAtOnce(kind, order);
    this.#keep(nameOf(kind, order), built);
    return built;
  }

  /**
   * Makes sure that an ordering can be read without blocking the event loop.
   *
   * @returns a promise to await; undefined if the ordering exists, or is quickly built. A commit
   *   may drop the ordering again before the caller continues: repeat the call until it returns
   *   undefined.
   * @throws CatalogError `busy`, as a rejection, if commits overtook every build.
   */
  prepare(kind: Kind, order: Order): Promise<void> | undefined {
    if (isById(order) || this.find(kind, order) || this.#isSmall(kind)) return undefined;
    const name = nameOf(kind, order);
    const running = this.#builds.get(name);
    if (running !== undefined) return running.ended;
    const build = new OrderingBuild(kind, order, this.#rows, this.#bounds);
    const ended = this.#lastBuild.then(() => this.#build(name, build));
    this.#builds.set(name, { build, ended });
    // The next build begins in any case; the error reaches the caller.
    this.#lastBuild = ended.catch(() => {});
    return ended;
  }

  /** Every ordering of a kind. */
  *of(kind: KindName): Generator<Ordering> {
    yield* this.#indexes[kind].values();
    yield* this.asked(kind);
  }

  /** Those that clients asked for. */
  asked(kind: KindName): Generator<Ordering> {
    return this.#asked.of(kind);
  }

  /** The orders of a kind that clients asked for, including those that are being built. */
  *sortedBy(kind: KindName): Generator<Order> {
    for (const { order } of this.asked(kind)) yield order;
    for (const { build } of this.#builds.values()) {
      if (build.kind.name === kind) yield build.order;
    }
  }

  /**
   * Prepares for the rows of a kind that a commit is about to move.
   *
   * @param moved rows that change themselves, or whose joined value changes by which `concerns`
   *   sorts; null if it changes for more rows than an ordering may move.
   * @param concerns whether an order is affected.
   * @param to `builds` if the orderings that exist were told before.
   */
  expect(
    kind: KindName,
    moved: readonly number[] | null,
    concerns: (order: Order) => boolean,
    to: Concerned,
  ): void {
    if (to === 'all') this.#asked.expect(kind, moved?.length ?? Number.POSITIVE_INFINITY, concerns);
    for (const { build } of this.#builds.values()) {
      if (build.kind.name === kind && concerns(build.order)) build.expect(moved);
    }
  }

  /** Drops all orderings except some. The dropped ones are built again when they are needed. */
  keepOnly(kept: ReadonlySet<Ordering>): void {
    this.#asked.keepOnly(kept);
    for (const indexes of Object.values(this.#indexes)) {
      for (const [name, index] of indexes) if (!kept.has(index)) indexes.delete(name);
    }
  }

  /** Contradictions between the orderings and the rows, one sentence each. */
  faults(): string[] {
    return ALL_KINDS.flatMap(({ name }) =>
      [...this.of(name)].flatMap((ordering) => ordering.faults(this.#rows[name])),
    );
  }

  async #build(name: string, build: OrderingBuild): Promise<void> {
    try {
      for (let attempt = 1; attempt <= MAX_BUILDS; attempt += 1) {
        if (await build.run((ordering) => this.#keep(name, ordering))) return;
      }
    } finally {
      this.#builds.delete(name);
    }
    throw new CatalogError(
      'busy',
      `the ${build.kind.plural} change faster than they can be sorted by ${build.order.sortby}; try again`,
      { headers: { 'Retry-After': '5' } },
    );
  }

  #buildAtOnce(kind: Kind, order: Order): Ordering {
    const lookup = lookupFor(order, (name) => this.#rows[name]);
    const lists = atOnce(sortedLists(kind, order, this.#rows[kind.name], lookup));
    return new Ordering(kind, order, lists, lookup);
  }

  #keep(name: string, ordering: Ordering): void {
    const { order, kind } = ordering;
    if (!isPermanent(kind, order)) this.#asked.keep(name, ordering);
    // It may have been built at once in the meantime.
    else if (!this.#indexes[kind.name].has(order.partition)) {
      this.#indexes[kind.name].set(order.partition, ordering);
    }
  }
}

/** Whether an order is that of an index that always exists. */
function isPermanent(kind: Kind, order: Order): order is ReturnType<typeof indexOrder> {
  return isIndex(order) && permanentIndexes(kind).includes(order.partition);
}

/** @throws an error other than `busy`. */
function unlessBusy(error: unknown): void {
  if (!hasCode(error, 'busy')) throw error;
}
