/**
 * Short lists of ids by natural number, in little memory: most indexes are by the id of another
 * row, to which few rows refer. A `Map` entry and an array for each would take ten times as much,
 * and the garbage collector would visit all of them.
 *
 * Invariant: the lists of {@link RANGE} consecutive numbers are one array. Its first {@link RANGE}
 * cells hold the end of the list of each number, and the lists follow in order. The cells after the
 * last one are unused.
 */
import type { Scalar } from '../../../../model/kind.ts';
import { lost } from '../positions.ts';
import { MAX_SHORT_LIST } from './list.ts';

/** Numbers that share an array; a power of two. */
const RANGE = 64;

/** The highest id that a cell takes. */
const MAX_ID = 2 ** 32 - 1;

/** A full array grows by this factor, and has a capacity of at least this many ids. */
const GROWTH = 1.5;
const MIN_IDS = 32;

export class NumberedLists {
  readonly #parts = new Map<number, Uint32Array>();

  /** Whether an id can be in a list. */
  static takes(id: number): boolean {
    return id <= MAX_ID;
  }

  /** How many ids the list of a number has. */
  count(key: number): number {
    const cells = this.#parts.get(partOf(key));
    return cells === undefined ? 0 : endOf(cells, placeOf(key)) - startOf(cells, placeOf(key));
  }

  /** @returns the ids of a number in their order; a single one as a number. */
  get(key: number): number | number[] | undefined {
    const cells = this.#parts.get(partOf(key));
    if (cells === undefined) return undefined;
    const start = RANGE + startOf(cells, placeOf(key));
    const end = RANGE + endOf(cells, placeOf(key));
    if (end - start < 2) return end === start ? undefined : cells[start];
    const ids: number[] = [];
    for (let at = start; at < end; at += 1) ids.push(cells[at] ?? 0);
    return ids;
  }

  /** @param ids that {@link NumberedLists.takes} allows; none to delete the list. */
  set(key: number, ids: readonly number[]): void {
    const more = ids.length - this.count(key);
    const cells = this.#resized(key, more);
    if (cells === undefined) return;
    const start = RANGE + startOf(cells, placeOf(key));
    for (let at = 0; at < ids.length; at += 1) cells[start + at] = ids[at] ?? 0;
  }

  /** Inserts an id that {@link NumberedLists.takes} allows among ascending ones. */
  insert(key: number, id: number): void {
    const cells = this.#resized(key, 1);
    if (cells === undefined) return;
    const start = RANGE + startOf(cells, placeOf(key));
    let at = RANGE + endOf(cells, placeOf(key)) - 1;
    // Usually none is greater: new rows have the highest ids.
    for (; at > start && (cells[at - 1] ?? 0) > id; at -= 1) cells[at] = cells[at - 1] ?? 0;
    cells[at] = id;
  }

  /** Removes an id from the list of a number. @throws Error if it is not there. */
  remove(key: number, id: number): void {
    const cells = this.#parts.get(partOf(key));
    if (cells === undefined) throw lost(id);
    const end = RANGE + endOf(cells, placeOf(key));
    let at = RANGE + startOf(cells, placeOf(key));
    while (at < end && cells[at] !== id) at += 1;
    if (at === end) throw lost(id);
    cells.copyWithin(at, at + 1, end);
    this.#resized(key, -1);
  }

  /**
   * Appends ids to the lists of their numbers, all in one pass.
   *
   * @param isFree whether a number that has no ids here may get some.
   * @returns false, without any change, if a list would be too long, or is not free.
   */
  appendRun({ numbers, ids, start, end }: Run, isFree: (key: number) => boolean): boolean {
    const part = partOf(numbers[start]);
    const more = new Uint32Array(RANGE);
    for (let at = start; at < end; at += 1) more[placeOf(numbers[at])]! += 1;
    for (let at = 0; at < RANGE; at += 1) {
      const entering = more[at] ?? 0;
      if (entering === 0) continue;
      const count = this.count(part * RANGE + at);
      if (count + entering > MAX_SHORT_LIST) return false;
      if (count === 0 && !isFree(part * RANGE + at)) return false;
    }
    const cells = this.#withRoom(part, end - start);
    const gaps = openGaps(cells, more, end - start);
    for (let at = start; at < end; at += 1) {
      const place = placeOf(numbers[at]);
      const gap = gaps[place] ?? 0;
      cells[gap] = ids[at] ?? 0;
      gaps[place] = gap + 1;
    }
    return true;
  }

  /** Every number that has ids. */
  *keys(): Generator<number> {
    for (const [part, cells] of this.#parts) {
      for (let at = 0; at < RANGE; at += 1) {
        if (endOf(cells, at) > startOf(cells, at)) yield part * RANGE + at;
      }
    }
  }

  /**
   * Makes the list of a number longer, or shorter, at its end.
   *
   * @returns the array that it is in; undefined if no list is left in it.
   */
  #resized(key: number, more: number): Uint32Array | undefined {
    const part = partOf(key);
    const cells = this.#withRoom(part, more);
    const used = RANGE + endOf(cells, RANGE - 1);
    if (used + more === RANGE) {
      this.#parts.delete(part);
      return undefined;
    }
    const end = RANGE + endOf(cells, placeOf(key));
    if (more !== 0 && end < used) cells.copyWithin(end + more, end, used);
    for (let at = placeOf(key); at < RANGE; at += 1) cells[at] = endOf(cells, at) + more;
    return cells;
  }

  /** The array of a part, with room for `more` additional ids. */
  #withRoom(part: number, more: number): Uint32Array {
    const cells = this.#parts.get(part);
    const needed = (cells === undefined ? 0 : endOf(cells, RANGE - 1)) + more;
    if (cells !== undefined && RANGE + needed <= cells.length) return cells;
    const grown = new Uint32Array(RANGE + Math.max(Math.ceil(needed * GROWTH), MIN_IDS));
    if (cells !== undefined) grown.set(cells);
    this.#parts.set(part, grown);
    return grown;
  }
}

/** The ids from `start` to before `end`, and place by place the numbers to which they belong. */
export interface Run {
  readonly numbers: readonly Scalar[];
  readonly ids: readonly number[];
  readonly start: number;
  readonly end: number;
}

/** @returns the longest run from `start` on whose lists are in one array; it may be empty. */
export function runFrom(numbers: readonly Scalar[], ids: readonly number[], start: number): Run {
  const part = partOf(numbers[start]);
  let end = start;
  while (end < ids.length && isNatural(numbers[end]) && partOf(numbers[end]) === part) {
    if (!NumberedLists.takes(ids[end] ?? 0)) break;
    end += 1;
  }
  return { numbers, ids, start, end };
}

/** Whether a value is a number that can have a list. */
export function isNatural(value: Scalar | undefined): value is number {
  return typeof value === 'number' && value >= 0 && Number.isSafeInteger(value);
}

function partOf(key: Scalar | undefined): number {
  return Math.floor((key as number) / RANGE);
}

function placeOf(key: Scalar | undefined): number {
  // The same as `% RANGE`, a power of two; `%` of numbers that may be large is slow.
  return (key as number) & (RANGE - 1);
}

/**
 * Makes room after the list of each number.
 *
 * @param more how many ids are added to each, `all` together.
 * @returns the cell of the first added id of each.
 */
function openGaps(cells: Uint32Array, more: Uint32Array, all: number): Uint32Array {
  const gaps = new Uint32Array(RANGE);
  let shift = all;
  for (let at = RANGE - 1; at >= 0 && shift > 0; at -= 1) {
    const start = RANGE + startOf(cells, at);
    const end = RANGE + endOf(cells, at);
    cells[at] = end - RANGE + shift;
    shift -= more[at] ?? 0;
    gaps[at] = end + shift;
    if (shift > 0 && end > start) cells.copyWithin(start + shift, start, end);
  }
  return gaps;
}

/** Where the list of a number begins, counted after the first {@link RANGE} cells. */
function startOf(cells: Uint32Array, at: number): number {
  return at === 0 ? 0 : endOf(cells, at - 1);
}

function endOf(cells: Uint32Array, at: number): number {
  return cells[at] ?? 0;
}
