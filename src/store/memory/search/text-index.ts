/**
 * The words of one text attribute of a table, kept up to date with commits.
 *
 * Invariants:
 * 1. Between two commits, the words of a built index and its waiting changes together are exactly
 *    the words of the current rows. A few changes are applied at once; many wait and are applied in
 *    slices, and before any search.
 * 2. It is built in slices from a snapshot; rows that change meanwhile are noted, and read again
 *    before the build ends.
 */
import type { Change } from '../../../model/change.ts';
import type { Row } from '../../../model/kind.ts';
import { foldText, wordsOf } from '../../../model/text-folding.ts';
import { inSlices } from '../../../slices.ts';
import type { RowTable } from '../row-table.ts';
import type { Bitmap } from './bitmap.ts';
import { Vocabulary } from './vocabulary.ts';

/** Rows that are read between two pauses. */
const STEP_ROWS = 32;

/** Changes that are applied at once; some ten microseconds each. */
const MAX_AT_ONCE = 100;

export class TextIndex {
  readonly #rows: RowTable;
  readonly #attribute: string;
  readonly #vocabulary = new Vocabulary();
  /** Rows that have changed since the snapshot; null once the index is built. */
  #changed: Set<number> | null = new Set();
  /** Waiting changes, of which the first `#taken` ones are applied already. */
  #waiting: Change[] = [];
  #taken = 0;

  constructor(rows: RowTable, attribute: string) {
    this.#rows = rows;
    this.#attribute = attribute;
  }

  /** Reads the whole table. Must be run once; commits may happen meanwhile. */
  *build(): Generator<undefined, void> {
    const snapshot = this.#rows.snapshot();
    let read = 0;
    for (const row of snapshot) {
      this.#vocabulary.add(this.#wordsOf(row), row.id);
      read += 1;
      if (read % STEP_ROWS === 0) yield;
    }
    const changed = (this.#changed ??= new Set());
    /** Rows that were read again, as they were then. */
    const newer = new Map<number, Row | undefined>();
    for (const id of changed) {
      const before = newer.has(id) ? newer.get(id) : snapshot.get(id);
      const after = this.#rows.get(id);
      this.#replace(id, before, after);
      newer.set(id, after);
      changed.delete(id);
      yield;
    }
    this.#changed = null;
  }

  /** Applies the changes of one commit, after the table has. @param changes each row once. */
  change(changes: readonly Change[]): void {
    if (this.#changed !== null) {
      for (const { id } of changes) this.#changed.add(id);
    } else if (this.#waiting.length === 0 && changes.length <= MAX_AT_ONCE) {
      for (const change of changes) this.#takeIn(change);
    } else {
      const isIdle = this.#waiting.length === 0;
      for (const change of changes) this.#waiting.push(change);
      if (isIdle) void inSlices(this.#takeInWaiting());
    }
  }

  /** See {@link Vocabulary.find}. */
  *find(text: string, found: Bitmap): Generator<undefined, void> {
    yield* this.#takeInWaiting();
    yield* this.#vocabulary.find(text, found);
  }

  /** Several may run at the same time: every step applies changes that no other one has. */
  *#takeInWaiting(): Generator<undefined, void> {
    for (let change = this.#next(); change !== undefined; change = this.#next()) {
      this.#takeIn(change);
      if (this.#taken % STEP_ROWS === 0) yield;
    }
  }

  #next(): Change | undefined {
    const change = this.#waiting[this.#taken];
    this.#taken += 1;
    if (change !== undefined) return change;
    this.#waiting = [];
    this.#taken = 0;
    return undefined;
  }

  #takeIn({ id, before, after }: Change): void {
    this.#replace(id, before ?? undefined, after ?? undefined);
  }

  #replace(id: number, before: Row | undefined, after: Row | undefined): void {
    if (before?.[this.#attribute] === after?.[this.#attribute]) return;
    const [old, now] = [this.#wordsOf(before), this.#wordsOf(after)];
    this.#vocabulary.delete(old.difference(now), id);
    this.#vocabulary.add(now.difference(old), id);
  }

  #wordsOf(row: Row | undefined): Set<string> {
    const value = row?.[this.#attribute];
    return new Set(typeof value === 'string' ? wordsOf(foldText(value)) : []);
  }
}
