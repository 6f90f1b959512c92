/** Verifies what a transaction wrote: references, rules, and rows that depend on changed ones. */
import {
  type DependentRow,
  IntegrityError,
  referredTo,
  type Referrers,
} from '../../model/failures.ts';
import type { Kind, KindName, Row } from '../../model/kind.ts';
import { KINDS } from '../../model/kinds.ts';
import { type Owner, ownersOf, referrersOf } from '../../model/relations.ts';
import { existingRow, type Lookup } from '../../model/rows.ts';
import { duplicate, judge, uniqueAttributes } from '../../model/rules.ts';
import type { View } from '../view.ts';

/** How many rows a message names of those that refer by one attribute. */
const MAX_NAMED_REFERRERS = 3;

/** How many referring rows are read to find their owners. */
const MAX_READ_REFERRERS = 1000;

/** One write of a transaction. */
export interface Write {
  readonly kind: KindName;
  readonly id: number;
  /** The row as the transaction saw it. */
  readonly before: Row | null;
  /** The element of the request that wrote it, if it has elements. */
  readonly element: number | undefined;
}

/**
 * Called with what a write breaks, a CatalogError `integrity` or `referred_to`. If it returns, the
 * next write is verified.
 */
export type OnBroken = (error: unknown) => void;

/**
 * Verifies the writes of a transaction. Yields before each row.
 *
 * @param view the state with everything that was written.
 * @param onBroken throws by default.
 * @throws what `onBroken` throws.
 */
export function* verify(
  view: View,
  writes: readonly Write[],
  onBroken: OnBroken = rethrow,
): Generator<undefined, void> {
  const lookup: Lookup = (kind, id) => view.get(kind, id);
  const extended = new Map<string, Extended>();
  for (const { kind: name, id, before, element } of writes) {
    yield;
    const kind = KINDS[name];
    const row = view.get(name, id);
    try {
      if (row === undefined) {
        if (before !== null) verifyUnreferred(view, kind, id);
        continue;
      }
      const violation = judge(kind, row, lookup);
      if (violation !== null) throw new IntegrityError(violation, { element });
      verifyUnique(view, kind, row, { before, element });
      for (const owner of ownersOf(name)) {
        const ownerId = Number(row[owner.foreignKey]);
        if (before?.[owner.foreignKey] === ownerId) continue;
        extended.set(`${name} ${owner.kind} ${ownerId}`, { kind, owner, ownerId, element });
      }
      if (before !== null && kind.constrains.some((key) => before[key] !== row[key])) {
        yield* verifyReferrers(view, kind, id, element);
      }
    } catch (error) {
      onBroken(error);
    }
  }
  for (const each of extended.values()) {
    try {
      yield* verifyNumber(view, each);
    } catch (error) {
      onBroken(error);
    }
  }
}

/** An owner of rows that has got another one. */
interface Extended {
  /** Of the rows. */
  readonly kind: Kind;
  readonly owner: Owner;
  readonly ownerId: number;
  readonly element: number | undefined;
}

/** An owner that has too many rows already may keep them, and lose some. */
function* verifyNumber(
  view: View,
  { kind, owner, ownerId, element }: Extended,
): Generator<undefined, void> {
  let count = 0;
  for (const _ of view.matching(kind.name, owner.foreignKey, ownerId)) {
    count += 1;
    if (count > owner.most) {
      const named = `${KINDS[owner.kind].label} ${ownerId}`;
      const message = `${named} would have more than ${owner.most} ${kind.plural}`;
      throw new IntegrityError({ attribute: owner.attribute, message }, { element });
    }
    yield;
  }
}

function rethrow(error: unknown): never {
  throw error;
}

function verifyUnique(
  view: View,
  kind: Kind,
  row: Row,
  { before, element }: Pick<Write, 'before' | 'element'>,
): void {
  for (const attribute of uniqueAttributes(kind)) {
    const value = row[attribute] ?? null;
    if (value === null || before?.[attribute] === value) continue;
    for (const other of view.matching(kind.name, attribute, value)) {
      if (other === row.id) continue;
      throw new IntegrityError(duplicate(kind, attribute, value, other), { element });
    }
  }
}

/** Verifies rows that refer to a moved row and, if they move with it, those that refer to them. */
function* verifyReferrers(
  view: View,
  kind: Kind,
  id: number,
  element: number | undefined,
): Generator<undefined, void> {
  for (const { kind: referrer, attribute } of referrersOf(kind.name)) {
    for (const other of view.matching(referrer.name, attribute, id)) {
      yield;
      const row = existingRow(view, referrer.name, other);
      const violation = judge(referrer, row, (name, to) => view.get(name, to));
      if (violation !== null) {
        throw new IntegrityError(violation, { dependent: dependentRow(referrer, row), element });
      }
      if (referrer.constrains.includes(attribute)) {
        yield* verifyReferrers(view, referrer, other, element);
      }
    }
  }
}

function dependentRow(kind: Kind, row: Row): DependentRow {
  const [owner] = ownersOf(kind.name);
  if (owner === undefined) return { kind, id: row.id };
  const ownerId = Number(row[owner.foreignKey]);
  return { kind, id: row.id, owner: { kind: KINDS[owner.kind], id: ownerId } };
}

function verifyUnreferred(view: View, kind: Kind, id: number): void {
  const referrers = referrersOf(kind.name).flatMap(({ kind: referrer, attribute }): Referrers[] => {
    const [owner] = ownersOf(referrer.name);
    const referring = view.matching(referrer.name, attribute, id);
    const named =
      owner === undefined
        ? referring
        : ownerIds(view, referrer.name, owner.foreignKey, first(MAX_READ_REFERRERS, referring));
    const found = first(MAX_NAMED_REFERRERS + 1, named);
    if (found.length === 0) return [];
    return [
      {
        kind: referrer,
        attribute,
        owner: owner === undefined ? null : KINDS[owner.kind],
        ids: found.slice(0, MAX_NAMED_REFERRERS),
        more: found.length > MAX_NAMED_REFERRERS,
      },
    ];
  });
  if (referrers.length > 0) throw referredTo({ kind, id }, referrers);
}

/** The ids of the owners of some rows, each once. */
function ownerIds(
  view: View,
  kind: KindName,
  foreignKey: string,
  ids: readonly number[],
): Iterable<number> {
  return new Set(ids.map((id) => Number(existingRow<KindName>(view, kind, id)[foreignKey])));
}

function first<T>(count: number, values: Iterable<T>): T[] {
  const found: T[] = [];
  for (const value of values) {
    found.push(value);
    if (found.length === count) break;
  }
  return found;
}
