/** The ids of one value of a partition, in the shortest form. */
import { OrderedIds } from '../ordered-ids.ts';

/**
 * Most values have few rows: a single id is a number, and up to {@link MAX_SHORT_LIST} ids are a
 * plain array, which must not be changed.
 */
export type List = number | readonly number[] | OrderedIds;

/** The most ids of a list that is a plain array. */
export const MAX_SHORT_LIST = 32;

const NONE = new OrderedIds();

/** @returns the shortest form of a list; undefined for an empty one. */
export function shortest(ids: readonly number[] | OrderedIds): List | undefined {
  if (ids.length > MAX_SHORT_LIST) return ids instanceof OrderedIds ? ids : new OrderedIds(ids);
  const few = ids instanceof OrderedIds ? ids.slice(0, MAX_SHORT_LIST) : ids;
  return few.length > 1 ? few : few[0];
}

/** @returns a list that does not change when the other one does. */
export function copyOf(list: List): List {
  return list instanceof OrderedIds ? list.fork() : list;
}

/** @returns the ids of a list, which must not be changed. */
export function orderedIdsOf(list: List | undefined): OrderedIds {
  if (list === undefined) return NONE;
  return list instanceof OrderedIds ? list : new OrderedIds(idsIn(list));
}

/** @returns the ids of a list, made without a copy if they are few. */
export function idsIn(list: List | undefined): readonly number[] {
  if (list === undefined) return [];
  if (typeof list === 'number') return [list];
  return list instanceof OrderedIds ? list.values() : list;
}
