/**
 * Undoing writes by their entries in the audit trail (spec 1.14): the rows get the values that they
 * had before.
 *
 * Invariants:
 * 1. Entries are undone from the newest to the oldest, all or none.
 * 2. An entry is undone only if its row is as the entry left it once the newer of the given entries
 *    are undone. Otherwise nothing is written, unless the caller forces it. Attributes that only the
 *    server sets do not count, and keep their values: undoing a write does not undo what it noted.
 * 3. A SKU and its specification records that one request wrote are undone together.
 */
import { CatalogError, missingItem } from '../../errors.ts';
import { isStored, KIND_NAMES, type Kind, type Row, type Scalar } from '../../model/kind.ts';
import { KINDS } from '../../model/kinds.ts';
import { ownersOf, referrersOf } from '../../model/relations.ts';
import type { RowOf } from '../../model/rows.ts';
import type { Transaction } from '../../store/writer/draft.ts';
import { USERS } from '../audit.ts';
import { storedRow } from '../rows.ts';
import { requireRoomForWebhooks } from '../webhooks/limit.ts';

type AuditEntry = RowOf<'audits'>;

/** A row before and after entries were undone. */
export interface Undone {
  readonly kind: Kind;
  readonly id: number;
  /** As it was before the entries were undone; null if there was no row. */
  readonly before: Row | null;
  /** As it is afterwards; null if there is no row. */
  readonly after: Row | null;
}

/** Differences that a message names, at most. */
const MAX_NAMED_DIFFERENCES = 10;

/** The code `changed_since`: rows are not as the entries that are to be undone left them. */
export class ChangedSinceError extends CatalogError {
  /** A sentence for each row. */
  readonly differences: readonly string[];

  constructor(differences: readonly string[]) {
    const named = differences.slice(0, MAX_NAMED_DIFFERENCES);
    const rest = differences.length - named.length;
    super('changed_since', [...named, ...(rest > 0 ? [`and ${rest} more`] : [])].join('; '));
    this.differences = differences;
  }
}

/**
 * Undoes the writes of audit entries, and what was written together with them.
 *
 * @param ids of the entries, in any order.
 * @param force whether rows that have changed since are overwritten.
 * @returns the rows that were to be undone, each once, a row before the rows that belong to it.
 * @throws CatalogError `not_found`: there is no such entry; `changed_since`; `too_many_webhooks`.
 */
export function* reverse(
  transaction: Transaction,
  ids: Iterable<number>,
  force: boolean,
): Generator<undefined, readonly Undone[]> {
  const plan = new Plan(transaction);
  for (const entry of yield* withCompanions(transaction, ids)) {
    plan.undo(entry);
    yield;
  }
  const undone = plan.inOrder();
  const differences = [...plan.differences];
  for (const each of undone) {
    differences.push(...plan.addedTo(each));
    yield;
  }
  if (differences.length > 0 && !force) throw new ChangedSinceError(differences);
  requireRoom(transaction, undone);
  for (const each of undone) {
    write(transaction, each);
    yield;
  }
  return undone;
}

/**
 * @returns the entries and those that were written with them, from the newest to the oldest.
 * @throws CatalogError `not_found`.
 */
function* withCompanions(
  transaction: Transaction,
  ids: Iterable<number>,
): Generator<undefined, readonly AuditEntry[]> {
  const entries = new Map<number, AuditEntry>();
  for (const id of ids) {
    const entry = transaction.get('audits', id);
    if (entry === undefined) throw missingItem('audit entry', id);
    entries.set(id, entry);
    for (const companion of companionsOf(transaction, entry)) {
      entries.set(companion.id, companion);
      yield;
    }
    yield;
  }
  return [...entries.values()].toSorted((a, b) => b.id - a.id);
}

/** The entries about rows that belong to the row of an entry, and that the same request wrote. */
function* companionsOf(transaction: Transaction, entry: AuditEntry): Generator<AuditEntry> {
  for (let id = entry.id + 1; ; id += 1) {
    const next = transaction.get('audits', id);
    if (next?.time !== entry.time || next.subject !== entry.subject) return;
    const kind = reversibleKind(next);
    if (kind === null) return;
    const owner = ownerOf(kind, valuesIn(next.before) ?? valuesIn(next.after) ?? {});
    if (owner !== `${entry.resource} ${entry.resource_id}`) return;
    yield next;
  }
}

/** The rows after undoing entries, before they are written. */
class Plan {
  readonly #transaction: Transaction;
  readonly #rows = new Map<string, Undone>();
  readonly differences: string[] = [];

  constructor(transaction: Transaction) {
    this.#transaction = transaction;
  }

  /** @param entry older than those that were undone before. */
  undo(entry: AuditEntry): void {
    const kind = kindOf(entry);
    const id = entry.resource_id;
    const key = keyOf(kind, id);
    const current = this.#transaction.get(kind.name, id) ?? null;
    const before = this.#rows.get(key) ?? { after: current };
    const difference = differenceOf(kind, entry, before.after);
    if (difference !== null) this.differences.push(`${kind.label} ${id} ${difference}`);
    const values = valuesIn(entry.before);
    // Attributes that an entry of an earlier version does not have stay as they are.
    const after =
      values &&
      storedRow(kind, id, { ...before.after, ...values, ...serverSetIn(kind, before.after) });
    this.#rows.set(key, { kind, id, before: current, after });
  }

  /** Differences: rows that belong to a row that is to be deleted, and that no entry deletes. */
  addedTo({ kind, id, after }: Undone): string[] {
    if (after !== null) return [];
    return referrersOf(kind.name).flatMap(({ kind: child, attribute, cascade }) => {
      if (!cascade) return [];
      const ids = [...this.#transaction.matching(child.name, attribute, id)];
      return ids
        .filter((other) => !this.#rows.has(keyOf(child, other)))
        .map((other) => `${child.label} ${other} was added to ${kind.label} ${id} since`);
    });
  }

  /** A row before the rows that belong to it: the entries of this write need the same order. */
  inOrder(): readonly Undone[] {
    const families = Map.groupBy(
      this.#rows.values(),
      ({ kind, id, before, after }) => ownerOf(kind, after ?? before ?? {}) ?? keyOf(kind, id),
    );
    return [...families.values()].flatMap((family) =>
      family.toSorted(
        (a, b) => KIND_NAMES.indexOf(a.kind.name) - KIND_NAMES.indexOf(b.kind.name) || a.id - b.id,
      ),
    );
  }
}

/** @throws CatalogError `too_many_webhooks`, if more are restored than deleted. */
function requireRoom(transaction: Transaction, undone: readonly Undone[]): void {
  const webhooks = undone.filter(({ kind }) => kind.name === 'webhooks');
  const restored = webhooks.filter(({ before }) => before === null).length;
  const deleted = webhooks.filter(({ after }) => after === null).length;
  if (restored > deleted) requireRoomForWebhooks(transaction, restored - deleted);
}

/** Deletes, restores or changes a row, unless it is already as it should be. */
function write(transaction: Transaction, { kind, id, after }: Undone): void {
  const current = transaction.get(kind.name, id) ?? null;
  if (after === null) {
    if (current !== null) transaction.delete(kind.name, id);
  } else if (current === null || changedAttributes(kind, current, after).length > 0) {
    transaction.put(kind.name, after);
  }
}

/** A message about how a row differs from what an entry left; null if it does not differ. */
function differenceOf(kind: Kind, { id, after }: AuditEntry, row: Row | null): string | null {
  const left = valuesIn(after);
  if (left === null) return row === null ? null : `exists again since audit entry ${id}`;
  if (row === null) return `was deleted since audit entry ${id}`;
  const expected = storedRow(kind, row.id, { ...left, ...serverSetIn(kind, row) });
  const changed = changedAttributes(kind, expected, row);
  return changed.length === 0 ? null : `has changed since audit entry ${id}: ${changed.join(', ')}`;
}

function changedAttributes(kind: Kind, one: Row, other: Row): string[] {
  return Object.entries(kind.attributes).flatMap(([name, declared]) =>
    isStored(declared) && one[name] !== other[name] ? [name] : [],
  );
}

/** The values of a row that clients cannot set; none if there is no row. */
function serverSetIn(kind: Kind, row: Row | null): Readonly<Record<string, Scalar>> {
  const values = Object.entries(row ?? {});
  return Object.fromEntries(values.filter(([name]) => kind.attributes[name]?.role === 'serverSet'));
}

/** The kind of an entry's row; null if the entry is about an account, or about something unknown. */
export function reversibleKind({ resource }: Pick<AuditEntry, 'resource'>): Kind | null {
  const name = KIND_NAMES.find((known) => known === resource);
  return name !== undefined && KINDS[name].audited ? KINDS[name] : null;
}

/** The kind of an entry's row. @throws CatalogError `not_found` if there is no such kind. */
export function kindOf({ id, resource }: Pick<AuditEntry, 'id' | 'resource'>): Kind {
  const kind = reversibleKind({ resource });
  if (kind !== null) return kind;
  if (resource === USERS) {
    throw new CatalogError(
      'not_found',
      `audit entry ${id} is about an account; change it at /admin/users/`,
    );
  }
  throw new CatalogError('not_found', `audit entry ${id} is about ${resource}, which is not known`);
}

function keyOf({ name }: Kind, id: number): string {
  return `${name} ${id}`;
}

/** The key of the row that a row belongs to; null if it belongs to no other row. */
function ownerOf({ name }: Kind, values: Readonly<Record<string, Scalar>>): string | null {
  const [owner] = ownersOf(name);
  const id = owner && values[owner.foreignKey];
  return owner === undefined || typeof id !== 'number' ? null : keyOf(KINDS[owner.kind], id);
}

/** The values in the text of an entry, which an earlier version may have stored. */
function valuesIn(text: string | null): Readonly<Record<string, Scalar>> | null {
  return text === null ? null : (JSON.parse(text) as Readonly<Record<string, Scalar>>);
}
