/**
 * The draft of a group of transactions: reads see the committed state with the draft on top, writes
 * go only to the draft. A transaction that throws is undone. The references of one that returns are
 * verified first.
 */
import type { KindName, Row, Scalar } from '../../model/kind.ts';
import { KINDS } from '../../model/kinds.ts';
import { referrersOf } from '../../model/relations.ts';
import type { RowOf } from '../../model/rows.ts';
import { Candidates } from './candidates.ts';
import { type Change, changeOf } from '../../model/change.ts';
import { noNextId } from '../files/files.ts';
import { type ChangeSetContent, charactersOf, type LastIds } from '../change-set.ts';
import { ShardedMap } from '../memory/maps/sharded-map.ts';
import { rowsInTrail } from './rows-in-trail.ts';
import { atOnce } from '../../slices.ts';
import type { DraftBase, View } from '../view.ts';
import { type OnBroken, verify, type Write } from './verify.ts';

/** What a transaction may do. */
export interface Transaction extends View {
  /** The highest id of the rows whose indexed attribute has the value. */
  latest(kind: KindName, attribute: string, value: Scalar): number | undefined;
  /**
   * All ids of a kind, ascending, except those of rows that are put back under former ids in the
   * same group: to find these, every call would have to look at all rows of the group.
   */
  ids(kind: KindName): Iterable<number>;
  /** The last id of a kind that was handed out. */
  lastId(kind: KindName): number;
  /**
   * Hands out the next id of a kind; it is spent only if the transaction commits.
   *
   * @throws CatalogError `store_damaged` if a row has it, or if it would not be a safe integer.
   */
  nextId(kind: KindName): number;
  put<K extends KindName>(kind: K, row: RowOf<K>): void;
  /** Runs the writes of one element of a request; an IntegrityError that they cause names it. */
  element<T>(index: number, run: () => Generator<undefined, T>): Generator<undefined, T>;
  /** Deletes a row, and with it the rows that belong to it. */
  delete(kind: KindName, id: number): void;
  /** The same; yields between the rows. */
  deleteInParts(kind: KindName, id: number): Generator<undefined, void>;
  /**
   * The changes that the transaction has made up to the first step: each row once, in the order of
   * the first writes. It may write other rows between the steps.
   */
  written(): Iterable<Change>;
  /** The sequence of the change set that it becomes part of. */
  readonly sequence: number;
}

/** A transaction that yields between parts of its work, so that it can be run in slices. */
export type LongTransaction<T> = (draft: Transaction) => Generator<undefined, T>;

/** A write that can be undone. */
interface Undoable extends Write {
  /** The draft's own entry as it was. */
  readonly entry: Row | null | undefined;
}

export class Draft implements Transaction {
  readonly #state: DraftBase;
  readonly #rows = new Map<KindName, ShardedMap<number, Row | null>>();
  readonly #lastIds = new Map<KindName, number>();
  readonly #candidates = new Candidates();
  /** The writes to undo if the transaction under way fails. */
  #undoLog: Undoable[] = [];
  #element: number | undefined;
  #characters = 0;

  /** @param state the committed state. It must not move while the draft is in use. */
  constructor(state: DraftBase) {
    this.#state = state;
  }

  /** About the length of the change set, or more: a row counts each time it is put. */
  get characters(): number {
    return this.#characters;
  }

  get sequence(): number {
    return this.#state.sequence + 1;
  }

  /** Whether the transaction that ran last has written something. */
  get wrote(): boolean {
    return this.#undoLog.length > 0;
  }

  /**
   * Runs one transaction whole or not at all.
   *
   * @throws what `transaction` throws; CatalogError `integrity` if a reference or rule is broken,
   *   and `referred_to` if a deleted row is still referred to.
   */
  run<T>(transaction: (draft: Transaction) => T): T {
    const undo = this.#begin();
    try {
      const result = transaction(this);
      atOnce(verify(this, this.#undoLog));
      return result;
    } catch (error) {
      undo();
      throw error;
    }
  }

  /**
   * The same for a large transaction: the caller may do other things at every `yield`, but run no
   * other transaction on the draft.
   *
   * @param onBroken see {@link verify}. If it returns, the writes stay, for a draft to be dropped.
   */
  *runInParts<T>(transaction: LongTransaction<T>, onBroken?: OnBroken): Generator<undefined, T> {
    const undo = this.#begin();
    try {
      const result = yield* transaction(this);
      yield* verify(this, this.#undoLog, onBroken);
      return result;
    } catch (error) {
      undo();
      throw error;
    }
  }

  #begin(): () => void {
    this.#undoLog = [];
    return this.savepoint();
  }

  /** @param element that writes from now on. @returns a function that undoes writes from now on. */
  savepoint(element?: number): () => void {
    this.#element = element;
    const begin = this.#undoLog.length;
    const lastIds = new Map(this.#lastIds);
    return () => {
      const undone = this.#undoLog.splice(begin).reverse();
      for (const { kind, id, entry } of undone) this.#restore(kind, id, entry);
      this.#lastIds.clear();
      for (const [kind, id] of lastIds) this.#lastIds.set(kind, id);
    };
  }

  get<K extends KindName>(kind: K, id: Scalar): RowOf<K> | undefined {
    const drafted = typeof id === 'number' ? this.#rows.get(kind)?.get(id) : undefined;
    if (drafted === undefined) return this.#state.get(kind, id);
    // A row that was put under a kind is a row of that kind.
    return (drafted ?? undefined) as RowOf<K> | undefined;
  }

  *matching(kind: KindName, attribute: string, value: Scalar): Generator<number> {
    const drafted = this.#rows.get(kind);
    for (const id of this.#state.matching(kind, attribute, value)) {
      const row = drafted?.get(id);
      if (row === undefined || row?.[attribute] === value) yield id;
    }
    for (const id of this.#candidates.matching(kind, attribute, value)) {
      const committed = this.#state.get(kind, id);
      if (committed?.[attribute] === value) continue;
      if (drafted?.get(id)?.[attribute] === value) yield id;
    }
  }

  latest(kind: KindName, attribute: string, value: Scalar): number | undefined {
    const has = (id: number) => this.get(kind, id)?.[attribute] === value;
    const drafted = this.#candidates.matching(kind, attribute, value).findLast(has);
    const list = this.#state.index(kind, attribute, value);
    // Usually the last one: a draft rarely changes the row at the end.
    const committed =
      list.last === undefined || has(list.last) ? list.last : list.values().findLast(has);
    return drafted === undefined ? committed : Math.max(drafted, committed ?? 0);
  }

  *ids(kind: KindName): Generator<number> {
    const drafted = this.#rows.get(kind);
    for (const ids of this.#state.idList(kind).chunks(false)) {
      for (const id of ids) if (drafted?.get(id) !== null) yield id;
    }
    for (let id = this.#state.lastId(kind) + 1; id <= this.lastId(kind); id += 1) {
      if (this.get(kind, id) !== undefined) yield id;
    }
  }

  lastId(kind: KindName): number {
    return this.#lastIds.get(kind) ?? this.#state.lastId(kind);
  }

  nextId(kind: KindName): number {
    const id = this.lastId(kind) + 1;
    const isFree = Number.isSafeInteger(id) && this.get<KindName>(kind, id) === undefined;
    if (!isFree) throw noNextId(kind, id);
    this.#lastIds.set(kind, id);
    return id;
  }

  put<K extends KindName>(kind: K, row: RowOf<K>): void;
  put(kind: KindName, row: Row): void {
    this.#set(kind, row.id, row);
    this.#characters += charactersOf(row);
    this.#candidates.add(kind, row);
  }

  *element<T>(index: number, run: () => Generator<undefined, T>): Generator<undefined, T> {
    this.#element = index;
    try {
      return yield* run();
    } finally {
      this.#element = undefined;
    }
  }

  delete(kind: KindName, id: number): void {
    atOnce(this.deleteInParts(kind, id));
  }

  *deleteInParts(kind: KindName, id: number): Generator<undefined, void> {
    this.#set(kind, id, null);
    yield;
    for (const { kind: owned, attribute, cascade } of referrersOf(kind)) {
      if (!cascade) continue;
      for (const other of this.matching(owned.name, attribute, id)) {
        yield* this.deleteInParts(owned.name, other);
      }
    }
  }

  *written(): Generator<Change> {
    const seen = new Map<KindName, Set<number>>();
    const end = this.#undoLog.length;
    for (const [index, { kind, id, before }] of this.#undoLog.entries()) {
      if (index === end) return;
      let ids = seen.get(kind);
      if (ids === undefined) seen.set(kind, (ids = new Set()));
      if (ids.has(id)) continue;
      ids.add(id);
      const after = this.get(kind, id) ?? null;
      if (before !== after) yield changeOf(kind, id, before, after);
    }
  }

  /**
   * What the draft would do to the committed state, in steps.
   *
   * @param time ISO 8601, UTC. @param writer see {@link ChangeSetContent.writer}.
   * @returns null if it would do nothing. Assigning an id counts as a change: ids stay used even if
   *   the rows that had them are deleted within the group.
   */
  *changeSet(time: string, writer?: string): Generator<undefined, ChangeSetContent | null> {
    const put: Partial<Record<KindName, Row[]>> = {};
    const deleted: Partial<Record<KindName, number[]>> = {};
    const before: Partial<Record<KindName, Row[]>> = {};
    const inTrail = yield* rowsInTrail(
      this.#rows.get('audits')?.entries() ?? [],
      this.#state.lastId('audits'),
      this.lastId('audits'),
    );
    let empty = this.#lastIds.size === 0;
    for (const [kind, rows] of this.#rows) {
      // By ascending id: new rows then enter their table in the order that every table keeps.
      for (const id of Float64Array.from(rows.keys()).sort()) {
        const after = rows.get(id) ?? null;
        yield;
        const committed = this.#state.get<KindName>(kind, id) ?? null;
        if (committed === after) continue;
        empty = false;
        if (after === null) (deleted[kind] ??= []).push(id);
        else (put[kind] ??= []).push(after);
        if (committed === null || !KINDS[kind].published || inTrail.get(kind)?.has(id)) continue;
        (before[kind] ??= []).push(committed);
        this.#characters += charactersOf(committed);
      }
    }
    if (empty) return null;
    const last_ids: LastIds = Object.fromEntries(this.#lastIds);
    const named = writer === undefined ? {} : { writer };
    const head = { sequence: this.sequence, previous: this.#state.digest, time, last_ids };
    return { ...head, ...named, put, delete: deleted, before };
  }

  /** Drops the writes to a kind, for a caller that does not read these rows again. */
  forget(kind: KindName): void {
    this.#rows.delete(kind);
    this.#candidates.forget(kind);
  }

  #set(kind: KindName, id: number, entry: Row | null): void {
    const before = this.get(kind, id) ?? null;
    const own = this.#rows.get(kind)?.get(id);
    this.#undoLog.push({ kind, id, entry: own, before, element: this.#element });
    this.#restore(kind, id, entry);
  }

  #restore(kind: KindName, id: number, entry: Row | null | undefined): void {
    let rows = this.#rows.get(kind);
    if (rows === undefined) this.#rows.set(kind, (rows = new ShardedMap()));
    if (entry === undefined) rows.delete(id);
    else rows.set(id, entry);
  }
}
