/**
 * Judges whether a history of concurrent operations on a register is linearizable (Herlihy and Wing
 * 1990): whether every operation can have taken effect at one moment between its call and its end,
 * so that each read, and each conditional write, saw the last value before it.
 */

/** An operation on one register. Times are those of one clock that never goes back. */
export interface Operation {
  readonly called: number;
  readonly ended: number;
  readonly does: Effect;
  /** Whether it may have had no effect at all: a kill has cut it off. */
  readonly isCutOff: boolean;
}

type Effect =
  | { readonly type: 'read'; readonly saw: string }
  | { readonly type: 'write'; readonly wrote: string }
  /** Writes if the register has the expected value. */
  | {
      readonly type: 'exchange';
      readonly expected: string;
      readonly wrote: string;
      readonly succeeded: boolean;
    };

/** One way in which the operations so far may have taken effect. */
interface Possibility {
  readonly value: string;
  /** Operations under way that have taken effect. */
  readonly done: ReadonlySet<Operation>;
}

/**
 * @param operations of one register, in any order.
 * @param initial its value before them.
 * @returns the first operation by whose end no order explains the history; null if one does.
 */
export function violationIn(operations: readonly Operation[], initial: string): Operation | null {
  const moments = operations.flatMap((operation) => [
    { at: operation.called, isEnd: false, operation },
    { at: operation.ended, isEnd: true, operation },
  ]);
  // What begins in the moment in which another ends counts as concurrent with it.
  moments.sort((a, b) => a.at - b.at || Number(a.isEnd) - Number(b.isEnd));
  const underWay = new Set<Operation>();
  let possible: Possibility[] = [{ value: initial, done: new Set() }];
  for (const { isEnd, operation } of moments) {
    if (!isEnd) {
      underWay.add(operation);
      continue;
    }
    possible = closure(possible, [...underWay])
      .filter(({ done }) => operation.isCutOff || done.has(operation))
      .map(({ value, done }) => ({ value, done: done.difference(new Set([operation])) }));
    possible = unique(possible, [...underWay]);
    underWay.delete(operation);
    if (possible.length === 0) return operation;
  }
  return null;
}

/**
 * Settles operations that were cut off where nothing ended with them: another host may carry them out
 * at any time after. Each writes a value of its own. One whose value was seen had taken effect by
 * then. One that nobody saw counts as one without an effect, and so no conditional write that may
 * have failed because of it counts.
 *
 * @returns operations of which none is cut off.
 */
export function settled(operations: readonly Operation[]): Operation[] {
  const sightings = new Map<string, number>();
  for (const { does, ended } of operations) {
    const seen = valueSeen(does);
    if (seen === null) continue;
    sightings.set(seen, Math.min(sightings.get(seen) ?? Infinity, ended));
  }
  const seenAt = ({ does }: Operation) =>
    does.type === 'read' ? undefined : sightings.get(does.wrote);
  const unseen = operations.filter((each) => each.isCutOff && seenAt(each) === undefined);
  const since = Math.min(...unseen.map(({ called }) => called));
  return operations.flatMap((operation) => {
    const { isCutOff, does, ended } = operation;
    const seen = seenAt(operation);
    if (isCutOff) return seen === undefined ? [] : [{ ...operation, ended: seen, isCutOff: false }];
    const mayBeDueToUnseen = does.type === 'exchange' && !does.succeeded && ended > since;
    return mayBeDueToUnseen ? [] : [operation];
  });
}

function valueSeen(does: Effect): string | null {
  if (does.type === 'read') return does.saw;
  return does.type === 'exchange' && does.succeeded ? does.expected : null;
}

/** Every possibility that follows when operations under way take effect, in any order. */
function closure(from: readonly Possibility[], underWay: readonly Operation[]): Possibility[] {
  const found = [...from];
  const seen = new Set(found.map((each) => keyOf(each, underWay)));
  for (const { value, done } of found) {
    for (const operation of underWay) {
      if (done.has(operation)) continue;
      const after = valueAfter(operation.does, value);
      if (after === null) continue;
      const next = { value: after, done: new Set([...done, operation]) };
      const key = keyOf(next, underWay);
      if (seen.has(key)) continue;
      seen.add(key);
      found.push(next);
    }
  }
  return found;
}

function unique(from: readonly Possibility[], underWay: readonly Operation[]): Possibility[] {
  return [...new Map(from.map((each) => [keyOf(each, underWay), each])).values()];
}

function keyOf({ value, done }: Possibility, underWay: readonly Operation[]): string {
  return `${value} ${underWay.map((each) => Number(done.has(each))).join('')}`;
}

/** @returns the value after an operation on a register; null if its outcome would be another. */
function valueAfter(does: Effect, value: string): string | null {
  switch (does.type) {
    case 'read':
      return does.saw === value ? value : null;
    case 'write':
      return does.wrote;
    case 'exchange':
      if (does.succeeded !== (does.expected === value)) return null;
      return does.succeeded ? does.wrote : value;
  }
}
