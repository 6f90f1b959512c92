/**
 * The references of the rows of a table by one attribute, each at the place of the row's id:
 * scanning all of them in order is faster than following the references to many rows backwards.
 *
 * Invariant: once it is built, it has the references of the rows as they are now. A reference is
 * always read from the current table, so that the order in which the build and commits reach a row
 * does not matter.
 */
import type { Change } from '../../../model/change.ts';
import type { RowTable } from '../row-table.ts';
import type { Bitmap } from './bitmap.ts';
import { type IdArray, withRoomFor } from './id-set.ts';

/** Ids of one piece; ranges of ids without a reference have no piece. A multiple of 32. */
const PIECE_IDS = 4096;

/** Rows that are read, and pieces that are scanned, between two pauses. */
const STEP = { rows: 256, pieces: 8 };

interface Piece {
  /** The id that each row refers to; 0 if there is no row, or it refers to none. */
  references: IdArray;
  /** How many references are not 0. */
  count: number;
}

export class ReferenceColumn {
  readonly #rows: RowTable;
  readonly #attribute: string;
  /** By their number. */
  readonly #pieces = new Map<number, Piece>();

  constructor(rows: RowTable, attribute: string) {
    this.#rows = rows;
    this.#attribute = attribute;
  }

  /** Reads the whole table. Must be run once; commits may happen meanwhile. */
  *build(): Generator<undefined, void> {
    let read = 0;
    for (const { ids } of this.#rows.snapshot().columns(null)) {
      for (const id of ids) {
        this.#note(id);
        read += 1;
        if (read % STEP.rows === 0) yield;
      }
    }
  }

  /** Applies the changes of one commit, after the table has applied them. */
  change(changes: readonly Change[]): void {
    for (const { id } of changes) this.#note(id);
  }

  /**
   * Adds the rows that refer to any of some others.
   *
   * @yields between pieces, so that the work may pause.
   */
  *addReferring(others: Bitmap, found: Bitmap): Generator<undefined, void> {
    let read = 0;
    for (const [number, { references }] of this.#pieces) {
      found.addReferring(number * PIECE_IDS, references, others);
      read += 1;
      if (read % STEP.pieces === 0) yield;
    }
  }

  #note(id: number): void {
    // Not kept: the build reads every row, and those that are text stay text.
    const value = this.#rows.peek(id)?.[this.#attribute];
    const reference = typeof value === 'number' ? value : 0;
    const number = Math.floor(id / PIECE_IDS);
    const at = id % PIECE_IDS;
    let piece = this.#pieces.get(number);
    if (piece === undefined) {
      if (reference === 0) return;
      piece = { references: new Uint32Array(PIECE_IDS), count: 0 };
      this.#pieces.set(number, piece);
    }
    piece.count += Number(reference !== 0) - Number(piece.references[at] !== 0);
    piece.references = withRoomFor(reference, piece.references);
    piece.references[at] = reference;
    if (piece.count === 0) this.#pieces.delete(number);
  }
}
