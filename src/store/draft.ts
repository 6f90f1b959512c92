/**
 * A group of transactions in the making: reads see the committed state with the draft over it,
 * writes go to the draft alone. A transaction that throws is undone; one that returns has had its
 * references judged.
 */
import { CatalogError } from '../errors.ts';
import type { Kind, KindName, Row, Scalar } from '../model/kind.ts';
import { KINDS } from '../model/kinds.ts';
import { referrersOf } from '../model/relations.ts';
import { judge } from '../model/rules.ts';
import type { LastIds } from './files/change-set.ts';
import { type Change, indexedAttributes, type Tables } from './memory/tables.ts';

/** State as somebody sees it: committed for readers, with the draft for a transaction. */
export interface View {
  /** The row, or undefined where there is none. */
  get(kind: KindName, id: Scalar): Row | undefined;
  /** Ids of the rows whose indexed attribute has the value. */
  matching(kind: KindName, attribute: string, value: Scalar): Iterable<number>;
}

/** What a transaction may do. */
export interface Transaction extends View {
  /** The last id of a kind that was handed out. */
  lastId(kind: KindName): number;
  /** Hands out the next id of a kind; it is spent only if the transaction commits. */
  nextId(kind: KindName): number;
  put(kind: KindName, row: Row): void;
  /** Runs one of many like parts; a CatalogError for which it is the cause has its `part`. */
  part<T>(index: number, run: () => T): T;
  /** Deletes a row, and with it the rows that belong to it. */
  delete(kind: KindName, id: number): void;
  /** What it has written so far: each row once, in the order of the first writes. */
  written(): Change[];
}

/** How many referring rows a message names. */
const MAX_NAMED_REFERRERS = 3;

/** One write of a transaction. */
interface Written {
  readonly kind: KindName;
  readonly id: number;
  /** The draft's own entry as it was. */
  readonly entry: Row | null | undefined;
  /** The row as the transaction saw it. */
  readonly before: Row | null;
  readonly part: number | undefined;
}

export class Draft implements Transaction {
  readonly #tables: Tables;
  readonly #committedIds: Readonly<Record<KindName, number>>;
  readonly #rows = new Map<KindName, Map<number, Row | null>>();
  readonly #lastIds = new Map<KindName, number>();
  /** Ids that the draft gave an indexed value at some time; whether they have it still, rows say. */
  readonly #candidates = new Map<string, Set<number>>();
  /** What the transaction under way has to undo: the draft's own entry as it was. */
  #undoLog: Written[] = [];
  #part: number | undefined;

  constructor(tables: Tables, lastIds: Readonly<Record<KindName, number>>) {
    this.#tables = tables;
    this.#committedIds = lastIds;
  }

  /** Whether a transaction that ran here has written something. */
  get dirty(): boolean {
    return this.#rows.size > 0;
  }

  /**
   * Runs one transaction whole or not at all.
   *
   * @throws what `transaction` throws; CatalogError `integrity` where a reference or rule is broken
   *   and `referred_to` where a deleted row is still referred to.
   */
  run<T>(transaction: (draft: Transaction) => T): T {
    this.#undoLog = [];
    const ids = new Map(this.#lastIds);
    try {
      const result = transaction(this);
      this.#verify();
      return result;
    } catch (error) {
      for (const { kind, id, entry } of this.#undoLog.reverse()) this.#restore(kind, id, entry);
      this.#lastIds.clear();
      for (const [kind, id] of ids) this.#lastIds.set(kind, id);
      throw error;
    }
  }

  get(kind: KindName, id: Scalar): Row | undefined {
    const drafted = this.#rows.get(kind)?.get(id as number);
    return drafted === undefined ? this.#tables.get(kind, id) : (drafted ?? undefined);
  }

  *matching(kind: KindName, attribute: string, value: Scalar): Generator<number> {
    const drafted = this.#rows.get(kind);
    for (const id of this.#tables.matching(kind, attribute, value).values()) {
      const row = drafted?.get(id);
      if (row === undefined || row?.[attribute] === value) yield id;
    }
    const candidates = this.#candidates.get(`${kind} ${attribute} ${value}`) ?? [];
    // A rolled-back transaction may have left them in another order.
    for (const id of [...candidates].sort((a, b) => a - b)) {
      const committed = this.#tables.get(kind, id);
      if (committed?.[attribute] === value) continue;
      if (drafted?.get(id)?.[attribute] === value) yield id;
    }
  }

  lastId(kind: KindName): number {
    return this.#lastIds.get(kind) ?? this.#committedIds[kind];
  }

  nextId(kind: KindName): number {
    const id = this.lastId(kind) + 1;
    this.#lastIds.set(kind, id);
    return id;
  }

  put(kind: KindName, row: Row): void {
    this.#set(kind, row.id, row);
    for (const attribute of indexedAttributes(KINDS[kind])) {
      const key = `${kind} ${attribute} ${row[attribute]}`;
      const ids = this.#candidates.get(key);
      if (ids === undefined) this.#candidates.set(key, new Set([row.id]));
      else ids.add(row.id);
    }
  }

  part<T>(index: number, run: () => T): T {
    this.#part = index;
    try {
      return run();
    } catch (error) {
      throw withPart(error, index);
    } finally {
      this.#part = undefined;
    }
  }

  delete(kind: KindName, id: number): void {
    this.#set(kind, id, null);
    for (const { kind: owned, attribute, cascade } of referrersOf(kind)) {
      if (!cascade) continue;
      for (const other of this.matching(owned.name, attribute, id)) {
        this.delete(owned.name, other);
      }
    }
  }

  written(): Change[] {
    const seen = new Set<string>();
    return this.#undoLog.flatMap(({ kind, id, before }) => {
      const key = `${kind} ${id}`;
      if (seen.has(key)) return [];
      seen.add(key);
      const after = this.get(kind, id) ?? null;
      return before === after ? [] : [{ kind, id, before, after }];
    });
  }

  /** What the draft changes, against the committed state, by ascending id. */
  changes(): Change[] {
    const changes: Change[] = [];
    for (const [kind, rows] of this.#rows) {
      for (const [id, after] of rows) {
        const before = this.#tables.get(kind, id) ?? null;
        if (before !== after) changes.push({ kind, id, before, after });
      }
    }
    // New rows then enter their table in the order of their ids, which every table keeps.
    return changes.sort((a, b) => a.id - b.id);
  }

  /** The last ids that the draft handed out, of the kinds in which it did. */
  lastIds(): LastIds {
    return Object.fromEntries(this.#lastIds);
  }

  #set(kind: KindName, id: number, entry: Row | null): void {
    const before = this.get(kind, id) ?? null;
    const own = this.#rows.get(kind)?.get(id);
    this.#undoLog.push({ kind, id, entry: own, before, part: this.#part });
    this.#restore(kind, id, entry);
  }

  #restore(kind: KindName, id: number, entry: Row | null | undefined): void {
    let rows = this.#rows.get(kind);
    if (rows === undefined) {
      rows = new Map();
      this.#rows.set(kind, rows);
    }
    if (entry === undefined) rows.delete(id);
    else rows.set(id, entry);
    if (rows.size === 0) this.#rows.delete(kind);
  }

  /** Judges every row that the transaction wrote, and the rows that rely on what it changed. */
  #verify(): void {
    for (const { kind, id, before, part } of this.#undoLog) {
      try {
        this.#verifyWritten(KINDS[kind], id, before);
      } catch (error) {
        throw withPart(error, part);
      }
    }
  }

  #verifyWritten(kind: Kind, id: number, before: Row | null): void {
    const row = this.get(kind.name, id);
    if (row === undefined) {
      if (before !== null) this.#verifyUnreferred(kind, id);
      return;
    }
    this.#judge(kind, row);
    if (before !== null && kind.constrains.some((key) => before[key] !== row[key])) {
      this.#verifyReferrers(kind, id);
    }
  }

  /** @param whose where the row is not the one written: what it is, for the message. */
  #judge(kind: Kind, row: Row, whose = ''): void {
    const violation = judge(kind, row, (name, id) => this.get(name, id));
    if (violation === null) return;
    const { attribute, message } = violation;
    throw new CatalogError('integrity', `database error: ${attribute}${whose}: ${message}`);
  }

  /** Rows that refer to a moved row; those that move with it take theirs along. */
  #verifyReferrers(kind: Kind, id: number): void {
    for (const { kind: referrer, attribute } of referrersOf(kind.name)) {
      for (const other of this.matching(referrer.name, attribute, id)) {
        const row = this.get(referrer.name, other) as Row;
        this.#judge(referrer, row, ` of ${referrer.label} ${other}`);
        if (referrer.constrains.includes(attribute)) this.#verifyReferrers(referrer, other);
      }
    }
  }

  #verifyUnreferred(kind: Kind, id: number): void {
    for (const { kind: referrer, attribute } of referrersOf(kind.name)) {
      const ids = first(MAX_NAMED_REFERRERS + 1, this.matching(referrer.name, attribute, id));
      if (ids.length === 0) continue;
      const named = ids.slice(0, MAX_NAMED_REFERRERS).join(', ');
      const more = ids.length > MAX_NAMED_REFERRERS ? ' and others' : '';
      const what = ids.length === 1 ? referrer.label : referrer.plural;
      throw new CatalogError(
        'referred_to',
        `${kind.label} ${id} is referred to by the ${attribute} of ${what} ${named}${more}`,
      );
    }
  }
}

function withPart(error: unknown, part: number | undefined): unknown {
  if (error instanceof CatalogError && part !== undefined) error.part = part;
  return error;
}

function first<T>(count: number, values: Iterable<T>): T[] {
  const found: T[] = [];
  for (const value of values) {
    found.push(value);
    if (found.length === count) break;
  }
  return found;
}
