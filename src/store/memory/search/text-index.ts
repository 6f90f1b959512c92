/**
 * The words of one text attribute of a table, kept in step with commits.
 *
 * Invariant: once the index is built it holds exactly the words of the rows as they are now, between
 * two commits. It is built in slices from a snapshot; rows that change meanwhile are noted, and read
 * anew before the build ends.
 */
import type { Row } from '../../../model/kind.ts';
import { foldText, wordsOf } from '../../../model/text-folding.ts';
import type { RowTable } from '../row-table.ts';
import type { Bitmap } from './id-set.ts';
import { Vocabulary } from './vocabulary.ts';

/** Rows that are read between two pauses. */
const STEP_ROWS = 32;

export class TextIndex {
  readonly #rows: RowTable;
  readonly #attribute: string;
  readonly #vocabulary = new Vocabulary();
  /** Rows that have changed since the snapshot; null once the index is built. */
  #changed: Set<number> | null = new Set();

  constructor(rows: RowTable, attribute: string) {
    this.#rows = rows;
    this.#attribute = attribute;
  }

  /** Reads the whole table. To be run once, whatever commits come meanwhile. */
  *build(): Generator<undefined, void> {
    const snapshot = this.#rows.snapshot();
    let read = 0;
    for (const row of snapshot) {
      this.#vocabulary.add(this.#wordsOf(row), row.id);
      read += 1;
      if (read % STEP_ROWS === 0) yield;
    }
    const changed = (this.#changed ??= new Set());
    /** Of rows that were read anew: as they were then. */
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

  /** Takes in a change of a row, after the table did. */
  change(id: number, before: Row | null, after: Row | null): void {
    if (this.#changed !== null) this.#changed.add(id);
    else this.#replace(id, before ?? undefined, after ?? undefined);
  }

  /** See {@link Vocabulary.find}. */
  find(text: string, found: Bitmap): Generator<undefined, void> {
    return this.#vocabulary.find(text, found);
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
