/**
 * The lists of an ordering by the value of its partition, each where it takes least memory: short
 * lists of numbers and single ids of texts are packed; the rest are entries of a map.
 */
import type { Scalar } from '../../../../model/kind.ts';
import { HashedNumbers } from '../../maps/hashed-numbers.ts';
import { ShardedMap } from '../../maps/sharded-map.ts';
import { OrderedIds } from '../ordered-ids.ts';
import { positionIn, without } from '../positions.ts';
import { idsIn, type List, MAX_SHORT_LIST, shortest } from './list.ts';
import { isNatural, NumberedLists, runFrom } from './numbered-lists.ts';

/**
 * Returns the value of the row with an id. Texts are compared with it, so that it must read the
 * state that the lists represent.
 */
export type ValueOf = (id: number) => Scalar | undefined;

/** The fewest ids of neighbouring numbers that are worth appending in one pass. */
const MIN_RUN = 8;

export class ListsByValue {
  readonly #byNumber = new NumberedLists();
  readonly #byText = new HashedNumbers();
  readonly #others = new ShardedMap<Scalar, List>();

  get(value: Scalar, valueOf: ValueOf): List | undefined {
    return this.#packed(value, valueOf) ?? this.#others.get(value);
  }

  /**
   * @param before the list as it is; undefined if there is none.
   * @param after the list as it will be; undefined to delete it.
   */
  replace(value: Scalar, before: List | undefined, after: List | undefined): void {
    const made =
      after === undefined || after instanceof OrderedIds ? after : shortest(idsIn(after));
    const place = before === undefined ? null : placeOf(value, before);
    const isOverwritten = made !== undefined && place === placeOf(value, made) && place !== 'text';
    if (before !== undefined && !isOverwritten) this.#remove(value, before);
    if (made !== undefined) this.#put(value, made);
  }

  /**
   * Appends ids that are higher than all others of their values.
   *
   * @param values of the ids, place by place; null if missing.
   */
  append(ids: readonly number[], values: readonly Scalar[], valueOf: ValueOf): void {
    const isFree = (value: number) => this.#others.get(value) === undefined;
    for (let at = 0; at < ids.length; ) {
      const run = runFrom(values, ids, at);
      const isLong = run.end - at >= MIN_RUN;
      if (isLong && this.#byNumber.appendRun(run, isFree)) at = run.end;
      else {
        const end = Math.max(run.end, at + 1);
        for (; at < end; at += 1) this.insert(values[at] ?? null, ids[at] ?? 0, valueOf);
      }
    }
  }

  /** Inserts an id into the list of a value, which has to be by ascending id. */
  insert(value: Scalar, id: number, valueOf: ValueOf): void {
    if (isNatural(value) && NumberedLists.takes(id)) {
      const count = this.#byNumber.count(value);
      const isPacked = count > 0 || this.#others.get(value) === undefined;
      if (isPacked && count < MAX_SHORT_LIST) {
        this.#byNumber.insert(value, id);
        return;
      }
    }
    const list = this.get(value, valueOf);
    if (list instanceof OrderedIds) list.insertById(id);
    else this.replace(value, list, inserted(idsIn(list), id));
  }

  /**
   * Removes an id from the list of a value, which has to be by ascending id.
   *
   * @throws Error if it is not in the list.
   */
  remove(value: Scalar, id: number, valueOf: ValueOf): void {
    if (isNatural(value) && this.#byNumber.count(value) > 0) {
      this.#byNumber.remove(value, id);
      return;
    }
    const list = this.get(value, valueOf);
    if (list instanceof OrderedIds) {
      list.removeById(id);
      if (list.length === 0) this.replace(value, list, undefined);
    } else {
      const ids = idsIn(list);
      this.replace(
        value,
        list,
        without(ids, id, (other) => other < id),
      );
    }
  }

  /** Every value that has a list; packed texts are read from their rows. */
  *values(valueOf: ValueOf): Generator<Scalar> {
    yield* this.#byNumber.keys();
    for (const id of this.#byText.numbers()) yield valueOf(id) ?? null;
    yield* this.#others.keys();
  }

  #packed(value: Scalar, valueOf: ValueOf): List | undefined {
    if (typeof value === 'string') {
      return this.#byText.get(value, (id, text) => valueOf(id) === text);
    }
    return isNatural(value) ? this.#byNumber.get(value) : undefined;
  }

  #remove(value: Scalar, list: List): void {
    const place = placeOf(value, list);
    if (place === 'number') this.#byNumber.set(value as number, []);
    else if (place === 'text') this.#byText.remove(value as string, list as number);
    else this.#others.delete(value);
  }

  #put(value: Scalar, list: List): void {
    const place = placeOf(value, list);
    if (place === 'number') this.#byNumber.set(value as number, idsIn(list));
    else if (place === 'text') this.#byText.add(value as string, list as number);
    else this.#others.set(value, list);
  }
}

/** @returns ascending ids with one more. */
function inserted(ids: readonly number[], id: number): number[] {
  return ids.toSpliced(
    positionIn(ids, (other) => other < id),
    0,
    id,
  );
}

/** Where the list of a value is. */
function placeOf(value: Scalar, list: List): 'number' | 'text' | 'other' {
  if (typeof value === 'string') {
    return typeof list === 'number' && HashedNumbers.takes(list) ? 'text' : 'other';
  }
  const isShort = isNatural(value) && !(list instanceof OrderedIds);
  return isShort && idsIn(list).every((id) => NumberedLists.takes(id)) ? 'number' : 'other';
}
