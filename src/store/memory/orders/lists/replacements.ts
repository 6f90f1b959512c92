/** Replacing many lists of an ordering at once; each list has the ids of one value. */
import type { Change } from '../../../../model/change.ts';
import type { Scalar } from '../../../../model/kind.ts';
import { mergedIds, OrderedIds } from '../ordered-ids.ts';
import type { Order } from '../order.ts';
import { partitionOf } from '../sorting.ts';
import { idsIn, type List, orderedIdsOf, shortest } from './list.ts';

/** Rows that are read, or lists that are made, between two pauses. */
const STEP_VALUES = 256;

/** A list as it was, and as it will be; undefined if there is none. */
export interface Replacement {
  readonly before: List | undefined;
  readonly after: List | undefined;
}

/** The lists that change, by the values whose rows they hold. */
export type Replacements = ReadonlyMap<Scalar, Replacement>;

/**
 * The lists of an ordering by ascending id as they will be after changes, made in steps.
 *
 * @param listOf the list of a value as it is.
 * @param changes each row once.
 * @throws Error if a list lacks a row that leaves it.
 */
export function* mergedLists(
  order: Order,
  listOf: (value: Scalar) => List | undefined,
  changes: readonly Change[],
): Generator<undefined, Replacements> {
  const moves = yield* movesOf(order, changes);
  const replacements = new Map<Scalar, Replacement>();
  for (const [value, { leaving, entering }] of moves) {
    const before = listOf(value);
    const less = ascending(leaving);
    const more = ascending(entering);
    const isLong = before instanceof OrderedIds || more.length > STEP_VALUES;
    const after = isLong
      ? yield* orderedIdsOf(before).replaced(less, more)
      : mergedIds(idsIn(before), less, more);
    replacements.set(value, { before, after: shortest(after) });
    if (replacements.size % STEP_VALUES === 0) yield;
  }
  return replacements;
}

interface Moves {
  readonly leaving: number[];
  readonly entering: number[];
}

/** The ids that leave and enter the list of each value, in steps. */
function* movesOf(
  order: Order,
  changes: readonly Change[],
): Generator<undefined, Map<Scalar, Moves>> {
  const moves = new Map<Scalar, Moves>();
  const of = (value: Scalar): Moves => {
    let found = moves.get(value);
    if (found === undefined) moves.set(value, (found = { leaving: [], entering: [] }));
    return found;
  };
  for (const [index, { id, before, after }] of changes.entries()) {
    if (index % STEP_VALUES === 0) yield;
    const from = before === null ? undefined : partitionOf(order, before);
    const to = after === null ? undefined : partitionOf(order, after);
    if (from === to) continue;
    if (from !== undefined) of(from).leaving.push(id);
    if (to !== undefined) of(to).entering.push(id);
  }
  return moves;
}

/** @returns the ids in order; usually they already are. */
function ascending(ids: number[]): readonly number[] {
  const isInOrder = ids.every((id, index) => index === 0 || (ids[index - 1] ?? 0) < id);
  return isInOrder ? ids : ids.sort((a, b) => a - b);
}
