/**
 * Ids in a sort order, in chunks, so that inserting, removing and reading from the n-th on do not
 * touch all of them. A snapshot shares the chunks; a write to a shared chunk copies it first.
 */
import { countBefore } from '../binary-search.ts';
import type { IdList } from '../id-list.ts';
import { type Before, lost, positionIn } from './positions.ts';

/** The most ids of one chunk. */
const CHUNK_SIZE = 1024;

/** The initial number of snapshots of a list that shares chunks: a write to one copies it first. */
const SHARED = 1;

interface Chunk {
  /** The number of snapshots taken before the chunk was made: none of them shares it. */
  since: number;
  ids: number[];
}

export class OrderedIds implements IdList {
  readonly #chunks: Chunk[] = [];
  #length = 0;
  #snapshots = 0;

  /** @param ids in their order already. */
  constructor(ids: readonly number[] = []) {
    for (let start = 0; start < ids.length; start += CHUNK_SIZE / 2) {
      this.#chunks.push({ since: 0, ids: ids.slice(start, start + CHUNK_SIZE / 2) });
    }
    this.#length = ids.length;
  }

  get length(): number {
    return this.#length;
  }

  /** The id at the end; undefined if there is none. */
  get last(): number | undefined {
    return this.#chunks.at(-1)?.ids.at(-1);
  }

  insert(id: number, before: Before): void {
    this.#length += 1;
    // An id after all others is put into the last chunk.
    const at = Math.min(this.#chunkOf(before), this.#chunks.length - 1);
    const ids = this.#writableIds(at);
    if (ids === undefined) {
      this.#chunks.push({ since: this.#snapshots, ids: [id] });
      return;
    }
    ids.splice(positionIn(ids, before), 0, id);
    if (ids.length > CHUNK_SIZE) {
      const second = { since: this.#snapshots, ids: ids.splice(CHUNK_SIZE / 2) };
      this.#chunks.splice(at + 1, 0, second);
    }
  }

  /** Adds ids after all others. @param ids ascending in the order of the list. */
  append(ids: readonly number[]): void {
    for (const id of ids) {
      const last = this.#writableIds(this.#chunks.length - 1);
      if (last !== undefined && last.length < CHUNK_SIZE) last.push(id);
      else this.#chunks.push({ since: this.#snapshots, ids: [id] });
    }
    this.#length += ids.length;
  }

  /** Puts an id into a list by ascending id. */
  insertById(id: number): void {
    // New rows have the highest ids.
    if ((this.last ?? 0) < id) this.append([id]);
    else this.insert(id, (other) => other < id);
  }

  /** Takes an id out of a list by ascending id. @throws Error if it is not there. */
  removeById(id: number): void {
    this.remove(id, (other) => other < id);
  }

  /** @throws Error if the id is not at the place that `before` gives. */
  remove(id: number, before: Before): void {
    const at = this.#chunkOf(before);
    const ids = this.#writableIds(at) ?? [];
    const position = positionIn(ids, before);
    if (ids[position] !== id) throw lost(id);
    ids.splice(position, 1);
    if (ids.length === 0) this.#chunks.splice(at, 1);
    this.#length -= 1;
  }

  /**
   * A copy of a list by ascending id, with some ids removed and some added. This list does not
   * change; the two share the chunks that do not differ.
   *
   * @param leaving ids of the list, ascending.
   * @param entering other ids, ascending.
   * @returns the new list, built in steps.
   * @throws Error if an id that leaves is not in the list.
   */
  *replaced(
    leaving: readonly number[],
    entering: readonly number[],
  ): Generator<undefined, OrderedIds> {
    if (leaving.length === 0 && follows(this.last, entering))
      return yield* this.#extended(entering);
    const made = new OrderedIds();
    let [left, entered] = [0, 0];
    for (const { ids } of this.#chunks) {
      const last = ids.at(-1) ?? 0;
      const leftNow = endOf(leaving, left, last);
      const enteredNow = endOf(entering, entered, last);
      if (leftNow === left && enteredNow === entered) made.#share(ids);
      else {
        const [less, more] = [leaving.slice(left, leftNow), entering.slice(entered, enteredNow)];
        made.#addChunks(mergedIds(ids, less, more));
      }
      [left, entered] = [leftNow, enteredNow];
      yield;
    }
    const missing = leaving[left];
    if (missing !== undefined) throw lost(missing);
    return yield* made.#extended(entering.slice(entered));
  }

  /** @param ids greater than all of the list, as is usual: new rows have the highest ids. */
  *#extended(ids: readonly number[]): Generator<undefined, OrderedIds> {
    const made = this.fork();
    for (let start = 0; start < ids.length; start += CHUNK_SIZE) {
      made.append(ids.slice(start, start + CHUNK_SIZE));
      yield;
    }
    return made;
  }

  /** @returns an independent list with the same ids; the two share their chunks (copy-on-write). */
  fork(): OrderedIds {
    const fork = new OrderedIds();
    fork.#snapshots = SHARED;
    for (const { ids } of this.#chunks) fork.#share(ids);
    return fork;
  }

  #share(ids: number[]): void {
    this.#chunks.push({ since: 0, ids });
    this.#length += ids.length;
  }

  #addChunks(ids: readonly number[]): void {
    const size = ids.length > CHUNK_SIZE ? CHUNK_SIZE / 2 : CHUNK_SIZE;
    for (let start = 0; start < ids.length; start += size) {
      this.#chunks.push({ since: this.#snapshots, ids: ids.slice(start, start + size) });
    }
    this.#length += ids.length;
  }

  /** How many ids come before the place that `before` gives, whether its id is there or not. */
  rank(before: Before): number {
    const at = this.#chunkOf(before);
    let rank = 0;
    for (let chunk = 0; chunk < at; chunk += 1) rank += this.#chunks[chunk]?.ids.length ?? 0;
    return rank + positionIn(this.#chunks[at]?.ids ?? [], before);
  }

  /** The ids from the `offset`-th on, at most `count`. */
  slice(offset: number, count: number): number[] {
    const found: number[] = [];
    for (const ids of this.parts(offset, count)) for (const id of ids) found.push(id);
    return found;
  }

  /** Every id in order; valid until the next change. */
  values(): readonly number[] {
    const [only, ...more] = this.#chunks;
    return more.length === 0 ? (only?.ids ?? []) : this.#chunks.flatMap(({ ids }) => ids);
  }

  /** The ids from the `offset`-th on, at most `count`, in parts; valid until the next change. */
  *parts(offset = 0, count = Number.POSITIVE_INFINITY): Generator<readonly number[]> {
    let skip = offset;
    let left = count;
    for (const { ids } of this.#chunks) {
      if (left <= 0) return;
      if (skip >= ids.length) {
        skip -= ids.length;
        continue;
      }
      const isWhole = skip === 0 && ids.length <= left;
      const part = isWhole ? ids : ids.slice(skip, skip + left);
      yield part;
      skip = 0;
      left -= part.length;
    }
  }

  /** The ids in order, or backwards, in parts; valid until the next change. */
  *chunks(backwards: boolean): Generator<readonly number[]> {
    for (let at = 0; at < this.#chunks.length; at += 1) {
      const ids = this.#chunks[backwards ? this.#chunks.length - 1 - at : at]?.ids ?? [];
      yield backwards ? ids.toReversed() : ids;
    }
  }

  /** @returns the ids as they are now, in order or backwards; later changes do not show in it. */
  snapshot(backwards = false): Iterable<number> {
    this.#snapshots += 1;
    const shared = this.#chunks.map(({ ids }) => ids);
    if (backwards) shared.reverse();
    return {
      *[Symbol.iterator]() {
        for (const ids of shared) yield* backwards ? ids.toReversed() : ids;
      },
    };
  }

  [Symbol.iterator](): Iterator<number> {
    return this.values()[Symbol.iterator]();
  }

  /** The first chunk whose last id does not come before. */
  #chunkOf(before: Before): number {
    const chunks = this.#chunks;
    return countBefore(chunks.length, (at) => before(chunks[at]?.ids.at(-1) as number));
  }

  /** The ids of a chunk, not shared with any snapshot; undefined if there is no such chunk. */
  #writableIds(at: number): number[] | undefined {
    const chunk = this.#chunks[at];
    if (chunk !== undefined && chunk.since < this.#snapshots) {
      chunk.ids = chunk.ids.slice();
      chunk.since = this.#snapshots;
    }
    return chunk?.ids;
  }
}

/**
 * @param ids ascending, as all three are.
 * @returns the ids without those that leave and with those that enter.
 * @throws Error if an id that leaves is not among them.
 */
export function mergedIds(
  ids: readonly number[],
  leaving: readonly number[],
  entering: readonly number[],
): number[] {
  if (leaving.length === 0 && follows(ids.at(-1), entering)) return ids.concat(entering);
  const merged: number[] = [];
  let [left, entered] = [0, 0];
  for (const id of ids) {
    if (id === leaving[left]) {
      left += 1;
      continue;
    }
    for (let next = entering[entered]; next !== undefined && next < id; next = entering[entered]) {
      merged.push(next);
      entered += 1;
    }
    merged.push(id);
  }
  const missing = leaving[left];
  if (missing !== undefined) throw lost(missing);
  for (const id of entered === 0 ? entering : entering.slice(entered)) merged.push(id);
  return merged;
}

/** Whether ids, ascending, come after the last one of a list. */
function follows(last: number | undefined, later: readonly number[]): boolean {
  return (later[0] ?? Number.POSITIVE_INFINITY) > (last ?? 0);
}

/** @returns the position after the ids, from a position on, that are not greater than `last`. */
function endOf(ids: readonly number[], start: number, last: number): number {
  let end = start;
  for (let id = ids[end]; id !== undefined && id <= last; id = ids[end]) end += 1;
  return end;
}
