/**
 * The committed state of a store: rows, indexes, last ids, and the number, digest and time of the
 * last change set.
 *
 * Invariants:
 * 1. {@link State.apply} is the only transition. Start, commit, check, restore and the tests' store
 *    are all folds of it.
 * 2. Change sets are applied in order, without a gap, and each names the digest of the one before.
 * 3. A state contains only durable change sets: `apply` is called after the log has stored one.
 */
import { randomBytes } from 'node:crypto';
import { type Change, changeOf } from '../model/change.ts';
import type { KindName, Scalar } from '../model/kind.ts';
import { KIND_NAMES } from '../model/kind.ts';
import { perKind } from '../model/per-kind.ts';
import type { Sought } from '../model/relations.ts';
import { existingRow, lookupIn, type RowOf } from '../model/rows.ts';
import type { ChangeSet, ChangeSetContent } from './change-set.ts';
import { FrozenView, type Moment } from './memory/frozen-view.ts';
import type { IdList } from './memory/id-list.ts';
import type { OrderedIds } from './memory/orders/ordered-ids.ts';
import type { TablesPlan } from './memory/plan.ts';
import { type RowParts, RowTable } from './memory/row-table.ts';
import type { Page, RowsOf, RowSelection, Selection } from './memory/selection.ts';
import { Tables } from './memory/tables.ts';
import type { ReadableStore } from './readable-store.ts';

/** A state at one instant. It does not change when the state moves on. */
export interface Snapshot {
  readonly sequence: number;
  readonly digest: string;
  readonly time: string | null;
  readonly lastIds: Readonly<Record<KindName, number>>;
  readonly rows: Readonly<Record<KindName, RowParts>>;
}

/** What a change set will do to a state. */
export interface Transition {
  readonly changes: readonly Change[];
  readonly tables: TablesPlan;
}

/** The initial content of a state. */
interface Origin extends Omit<Snapshot, 'rows'> {
  /** The state takes ownership of the tables. */
  readonly rows: Record<KindName, RowTable>;
}

/** Changes that are read between two pauses. */
const STEP_CHANGES = 256;

export class State implements ReadableStore {
  readonly #rows: Record<KindName, RowTable>;
  readonly #tables: Tables;
  readonly #lastIds: Record<KindName, number>;
  readonly #frozen = new Set<FrozenView>();
  readonly #observers = new Set<(changes: readonly Change[]) => void>();
  #sequence: number;
  #digest: string;
  #time: string | null;

  constructor({ sequence, digest, time, lastIds, rows }: Origin) {
    this.#sequence = sequence;
    this.#digest = digest;
    this.#time = time;
    this.#lastIds = { ...lastIds };
    this.#rows = rows;
    this.#tables = new Tables(rows);
  }

  /**
   * @param origin the digest that names the history; if left out, a random one, which begins a new
   *   history.
   * @returns a state without rows, the first one of the history.
   */
  static empty(origin = randomBytes(32).toString('hex')): State {
    return new State({
      sequence: 0,
      digest: origin,
      time: null,
      lastIds: perKind(() => 0),
      rows: perKind(() => new RowTable()),
    });
  }

  /** The number of the last change set that was applied. */
  get sequence(): number {
    return this.#sequence;
  }

  /** The digest of that change set. Before the first one: a random value that names the history. */
  get digest(): string {
    return this.#digest;
  }

  /** When that change set was made, ISO 8601, UTC; null if that is not known. */
  get time(): string | null {
    return this.#time;
  }

  get lastIds(): Readonly<Record<KindName, number>> {
    return this.#lastIds;
  }

  /** The rows themselves, to read. */
  get rows(): Readonly<Record<KindName, Pick<RowTable, 'get' | 'size' | 'values'>>> {
    return this.#rows;
  }

  /**
   * Prepares a large change set in steps, so that {@link State.apply} takes little time. Nothing
   * changes; the state must not move before the change set is applied.
   *
   * @throws Error if an index contradicts its table.
   */
  *plan(content: ChangeSetContent): Generator<undefined, Transition> {
    const changes: Change[] = [];
    for (const change of this.#changesOf(content)) {
      changes.push(change);
      if (changes.length % STEP_CHANGES === 0) yield;
    }
    return { changes, tables: yield* this.#tables.plan(changes) };
  }

  /**
   * Moves the state forward by the change set that follows it.
   *
   * @param plan what {@link State.plan} returned for this state and change set.
   * @returns the rows that changed, before and after.
   * @throws Error if the change set does not follow, in which case nothing has moved; or if an
   *   index contradicts its table, in which case the state must not be used any more.
   */
  apply(changeSet: ChangeSet, plan?: Transition): readonly Change[] {
    if (changeSet.sequence !== this.#sequence + 1 || changeSet.previous !== this.#digest) {
      throw new Error(`change set ${changeSet.sequence} does not follow ${this.#sequence}`);
    }
    const changes = plan?.changes ?? [...this.#changesOf(changeSet)];
    for (const view of this.#frozen) view.keep(changes, plan?.tables);
    this.#tables.apply(changes, plan?.tables);
    Object.assign(this.#lastIds, changeSet.last_ids);
    this.#sequence = changeSet.sequence;
    this.#digest = changeSet.digest;
    this.#time = changeSet.time;
    for (const observer of this.#observers) observer(changes);
    return changes;
  }

  /** Whether {@link State.settle} has nothing to do. */
  get settled(): boolean {
    return this.#tables.settled;
  }

  /** Completes, in steps, what a planned {@link State.apply} deferred; readers see no change. */
  settle(): Generator<undefined, void> {
    return this.#tables.settle();
  }

  /** @returns a view that shares the rows; it copies one reference for each chunk of 1024 ids. */
  snapshot(): Snapshot & Moment {
    return {
      sequence: this.#sequence,
      digest: this.#digest,
      time: this.#time,
      lastIds: { ...this.#lastIds },
      rows: perKind(({ name }) => this.#rows[name].snapshot()),
    };
  }

  /** @returns contradictions between the indexes and the rows, one sentence each. */
  indexFaults(): string[] {
    return this.#tables.faults();
  }

  get<K extends KindName>(kind: K, id: Scalar): RowOf<K> | undefined {
    return this.#tables.get(kind, id);
  }

  peek<K extends KindName>(kind: K, id: Scalar): RowOf<K> | undefined {
    return this.#tables.peek(kind, id);
  }

  has(kind: KindName, id: number): boolean {
    return this.#rows[kind].has(id);
  }

  firstId(kind: KindName, from: number): number | undefined {
    return this.#rows[kind].firstId(from);
  }

  onApply(observer: (changes: readonly Change[]) => void): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  matching(kind: KindName, attribute: string, value: Scalar): Iterable<number> {
    return this.#tables.idsWith(kind, attribute, value);
  }

  /** The ids of {@link matching}; valid until the state moves. */
  index(kind: KindName, attribute: string, value: Scalar): OrderedIds {
    return this.#tables.matching(kind, attribute, value);
  }

  /** All ids of a kind; valid until the state moves. */
  idList(kind: KindName): IdList {
    return this.#tables.ids(kind);
  }

  prepareIndexes(sought: readonly Sought[], isOne?: boolean): Promise<void> | undefined {
    return this.#tables.prepareIndexes(sought, isOne);
  }

  /** See {@link Tables.completeIndexes}. */
  completeIndexes(background: Promise<void>, goesOn: () => boolean): Promise<void> {
    return this.#tables.completeIndexes(background, goesOn);
  }

  prepare(kind: KindName, selection: RowSelection): Promise<void> | undefined {
    return this.#tables.queries.prepare(kind, selection);
  }

  select(kind: KindName, selection: Selection): Page {
    return this.#tables.queries.select(kind, selection);
  }

  selectAll<K extends KindName>(kind: K, selection: Selection): RowsOf<K> {
    return this.#tables.queries.selectAll(kind, selection);
  }

  rowsBy<K extends KindName>(kind: K, attribute: string): (value: Scalar) => Iterable<RowOf<K>> {
    const rows = this.#rows[kind].snapshot();
    const source = { get: lookupIn((_, id) => rows.get(id)) };
    return (value) => {
      const ids = this.#tables.matching(kind, attribute, value).snapshot();
      return {
        *[Symbol.iterator]() {
          for (const id of ids) yield existingRow<K>(source, kind, id);
        },
      };
    };
  }

  scan<K extends KindName>(kind: K, selection: RowSelection): Iterable<RowOf<K> | null> {
    return this.#tables.queries.scan(kind, selection);
  }

  freeze(): FrozenView {
    const view = new FrozenView(this.snapshot(), this, () => this.#frozen.delete(view));
    this.#frozen.add(view);
    return view;
  }

  rank(kind: KindName, attribute: string, value: Scalar, id: number): number {
    return this.#tables.rank(kind, attribute, value, id);
  }

  ids(kind: KindName): Iterable<number> {
    return this.#tables.ids(kind).values();
  }

  count(kind: KindName): number {
    return this.#tables.count(kind);
  }

  dependencyVersion(kind: KindName): number {
    return this.#tables.dependencyVersion(kind);
  }

  lastId(kind: KindName): number {
    return this.#lastIds[kind];
  }

  *#changesOf(changeSet: ChangeSetContent): Generator<Change> {
    for (const kind of KIND_NAMES) {
      const before = (id: number) => this.#rows[kind].get(id) ?? null;
      for (const row of changeSet.put[kind] ?? []) {
        yield changeOf(kind, row.id, before(row.id), row);
      }
      for (const id of changeSet.delete[kind] ?? []) {
        yield changeOf(kind, id, before(id), null);
      }
    }
  }
}
