/**
 * The use cases: list, read, create, replace, change and delete rows of any kind. One handler
 * serves every collection; the differences are in the declarations of the kinds.
 */
import { CatalogError, hasCode, missingItem } from '../errors.ts';
import type { Kind, KindName, Row } from '../model/kind.ts';
import { referrersOf, soughtByObject, soughtByWrite } from '../model/relations.ts';
import { existingRow } from '../model/rows.ts';
import { inSlices } from '../slices.ts';
import type { Transaction } from '../store/writer/draft.ts';
import type { Selection } from '../store/memory/selection.ts';
import { type Address, requireParent, requireRow, selectionAt } from './address.ts';
import type { AuditedStore } from './audit/audited-store.ts';
import { requireTargets, writeEach } from './bulk.ts';
import { createOnce, type Creation, type Sender } from './idempotency.ts';
import { type Input, type Mode, parseInput, parseInputs, parseUpdates } from './input.ts';
import { type ListText, listText } from './text/listing.ts';
import { representAll, representInParts } from './represent.ts';
import type { Representation } from './representation.ts';
import { type Readable, RepresentationCache } from './cache/representation-cache.ts';
import { change, countElements, insert } from './rows.ts';

/** Checks the current representation. @throws CatalogError `precondition_failed`. */
export type Precondition = ((current: Representation) => void) | null;

export interface Listing {
  /** JSON text of the array. */
  readonly text: ListText;
  /** Rows in all pages together. */
  readonly total: number;
}

/** A write that concerns more rows runs in slices. */
const MAX_ROWS_AT_ONCE = 200;

export class Records {
  readonly #audited: AuditedStore;
  readonly #store: AuditedStore['store'];
  readonly #representations: RepresentationCache;

  constructor(audited: AuditedStore) {
    const { store } = audited;
    this.#audited = audited;
    this.#store = store;
    this.#representations = new RepresentationCache(store);
  }

  /** Checks that the parent of a nested address exists. @throws CatalogError `not_found`. */
  requireParent(address: Address): void {
    requireParent(address, this.#store);
  }

  /** @throws CatalogError `not_found` if no row ever had the id. */
  requireAssigned({ name, label }: Kind, id: number): void {
    if (!this.#wasAssigned(name, id)) throw missingItem(label, id);
  }

  /**
   * @returns a promise if the rows have to be sorted first, or an index is still to be built.
   * @throws CatalogError `busy`, as a rejection.
   */
  list(address: Address, selection: Selection): Listing | Promise<Listing> {
    const { kind } = address;
    const narrowed = selectionAt(address, selection);
    const preparing =
      this.#store.prepare(kind.name, narrowed) ??
      this.#store.prepareIndexes(soughtByObject(kind.name));
    if (preparing !== undefined) return preparing.then(() => this.list(address, selection));
    const cache = this.#representations;
    if (selection.limit === Number.POSITIVE_INFINITY) {
      const { rows, total } = this.#store.selectAll(kind.name, narrowed);
      const text = listText<Row>(
        rows,
        (row, target, at) => cache.copyText(kind, row.id, target, at),
        (rest) => representAll(kind, rest, this.#store),
      );
      return { text, total };
    }
    const { ids, total } = this.#store.select(kind.name, narrowed);
    const rowOf = (id: number): Row => existingRow<KindName>(this.#store, kind.name, id);
    const text = listText(
      ids,
      (id, target, at) => cache.copyText(kind, id, target, at),
      // Read now, because rows of a page may change or be deleted before the client has taken it.
      (rest) => representAll(kind, Array.from(rest, rowOf), this.#store),
    );
    return { text, total };
  }

  /**
   * Checks that there is a row at an address.
   *
   * @throws CatalogError `not_found`; `gone` for a row that was deleted, if `showsGone` is set.
   */
  requireItem(address: Address, id: number, showsGone: boolean): void {
    const { kind, parent } = address;
    if (parent !== null) {
      requireRow(address, id, this.#store.get(kind.name, id), this.#store);
    } else if (!this.#store.has(kind.name, id)) {
      if (showsGone && !kind.emptyNotFound && this.#wasAssigned(kind.name, id)) {
        throw new CatalogError('gone', `${kind.label} ${id} was deleted`);
      }
      requireRow(address, id, undefined, this.#store);
    }
  }

  /** The committed row at an address. @throws CatalogError `not_found`. */
  find(address: Address, id: number): Row {
    this.requireItem(address, id, false);
    return existingRow<KindName>(this.#store, address.kind.name, id);
  }

  /**
   * @returns a promise if the row owns so many rows that its text is made in steps, or if an index
   *   is still to be built.
   * @throws CatalogError as {@link Records.requireItem} does.
   */
  read(address: Address, id: number): Readable | Promise<Readable> {
    const { kind, parent } = address;
    const known = parent === null ? this.#representations.known(kind, id) : null;
    if (known !== null) return known;
    this.requireItem(address, id, true);
    const preparing = this.#store.prepareIndexes(soughtByObject(kind.name), true);
    if (preparing !== undefined) return preparing.then(() => this.read(address, id));
    return this.#representations.get(kind, id) ?? this.#representations.prepare(kind, id);
  }

  /**
   * Creates one object.
   *
   * @param body parsed JSON.
   * @throws CatalogError `invalid`, `integrity`, `key_reused`, `not_found` (the parent),
   *   `write_refused`.
   */
  async create(address: Address, body: unknown, sender: Sender): Promise<Creation> {
    this.#audited.requireRoom();
    const { kind, parent } = address;
    const input = await inSlices(parseInput(kind, body, 'whole'));
    await this.#store.prepareIndexes(soughtByWrite(kind.name));
    const request = [kind.name, parent?.id ?? null, body];
    const isLong = isMany(countElements(input));
    return this.#commit(kind, sender.subject, isLong, function* (transaction, now) {
      requireParent(address, transaction);
      return yield* createOnce(transaction, sender, request, now, function* () {
        const { id, representation } = yield* insert(transaction, address, input);
        return { id, text: representation.text, etag: representation.etag };
      });
    });
  }

  /**
   * Creates the objects of an array, all or none.
   *
   * @param body parsed JSON: an array of objects.
   * @throws CatalogError `invalid`, `integrity`, `key_reused`, `write_refused`.
   */
  async createAll(kind: Kind, body: unknown, sender: Sender): Promise<Creation> {
    this.#audited.requireRoom();
    const address = { kind, parent: null };
    const inputs = await parseInputs(kind, body);
    await this.#store.prepareIndexes(soughtByWrite(kind.name));
    const request = [kind.name, null, body];
    return this.#commit(kind, sender.subject, true, (transaction, now) =>
      createOnce(transaction, sender, request, now, function* () {
        const write = function* (input: Input) {
          return (yield* insert(transaction, address, input)).representation;
        };
        return { id: null, text: yield* writeEach(transaction, inputs, write), etag: null };
      }),
    );
  }

  /**
   * Changes the rows that the elements of an array name, all or none.
   *
   * @param body parsed JSON: an array of objects, each with `id` and what is to change.
   * @param subject whom the token is for; null if no token is required.
   * @returns JSON text of the array of objects.
   * @throws CatalogError `invalid`, `integrity`, `write_refused`.
   */
  async updateAll(kind: Kind, body: unknown, subject: string | null): Promise<string> {
    this.#audited.requireRoom();
    const updates = await parseUpdates(kind, body);
    await this.#store.prepareIndexes(soughtByWrite(kind.name));
    return this.#commit(kind, subject, true, function* (transaction) {
      const targets = requireTargets(kind, updates, transaction);
      return yield* writeEach(transaction, targets, ({ row, input }) =>
        change(transaction, kind, row, input),
      );
    });
  }

  /**
   * Overwrites attributes of a row by those of a request, and adds rows to those that it owns, or
   * replaces these (spec 2.8).
   *
   * @param mode `whole` for PUT, `partial` or `merge` for PATCH.
   * @param body parsed JSON.
   * @param subject whom the token is for; null if no token is required.
   * @throws CatalogError `invalid`, `integrity`, `not_found`, `precondition_failed`, `write_refused`.
   */
  async update(
    address: Address,
    id: number,
    mode: Mode,
    body: unknown,
    allowed: Precondition,
    subject: string | null,
  ): Promise<Representation> {
    this.#audited.requireRoom();
    const { kind } = address;
    const input = await inSlices(parseInput(kind, body, mode));
    await this.#store.prepareIndexes(soughtByWrite(kind.name));
    const isLong = isMany(countElements(input) + this.#countReferrers(kind, id));
    return this.#commit(kind, subject, isLong, function* (transaction) {
      // Checked again here: the row may have changed while the body was received.
      const row = requireRow(address, id, transaction.get(kind.name, id), transaction);
      allowed?.(yield* representInParts(kind, row, transaction));
      return yield* change(transaction, kind, row, input);
    });
  }

  /**
   * @param subject whom the token is for; null if no token is required.
   * @throws CatalogError `not_found`, `precondition_failed`, `referred_to`, `write_refused`.
   */
  async remove(
    address: Address,
    id: number,
    allowed: Precondition,
    subject: string | null,
  ): Promise<void> {
    const { kind } = address;
    await this.#store.prepareIndexes(soughtByWrite(kind.name));
    const isLong = isMany(this.#countReferrers(kind, id));
    return this.#commit(kind, subject, isLong, function* (transaction) {
      const row = requireRow(address, id, transaction.get(kind.name, id), transaction);
      allowed?.(yield* representInParts(kind, row, transaction));
      yield* transaction.deleteInParts(kind.name, id);
    });
  }

  /**
   * The number of rows that a write to a committed row may have to read: those that refer to it and,
   * if these move with it, those that refer to these. It stops counting when they are many.
   */
  #countReferrers({ name, constrains }: Kind, id: number): number {
    let count = 0;
    for (const { kind, attribute } of referrersOf(name)) {
      count += this.#store.rank(kind.name, attribute, id, Number.POSITIVE_INFINITY);
      if (isMany(count)) break;
      if (constrains.length === 0 || !kind.constrains.includes(attribute)) continue;
      for (const other of this.#store.matching(kind.name, attribute, id)) {
        count += this.#countReferrers(kind, other);
        if (isMany(count)) break;
      }
    }
    return count;
  }

  /** Whether there is a row with the id, or was one that is deleted. */
  #wasAssigned(kind: KindName, id: number): boolean {
    return id >= 1 && id <= this.#store.lastId(kind);
  }

  /** As {@link AuditedStore.transact}, with the failures of {@link translated}. */
  #commit<T>(
    kind: Kind,
    subject: string | null,
    isLong: boolean,
    run: (transaction: Transaction, now: number) => Generator<undefined, T>,
  ): Promise<T> {
    return translated(kind, this.#audited.transact(subject, isLong, run));
  }
}

/** Whether a write that concerns so many rows runs in slices. */
function isMany(rows: number): boolean {
  return rows > MAX_ROWS_AT_ONCE;
}

/**
 * For some kinds, a write that the disk refuses is reported as a validation error (spec 3.9).
 *
 * @throws CatalogError `integrity` instead of `write_refused`; otherwise as `committed`.
 */
export async function translated<T>(kind: Kind, committed: Promise<T>): Promise<T> {
  try {
    return await committed;
  } catch (error) {
    if (!kind.refusalIsValidation || !hasCode(error, 'write_refused')) throw error;
    throw new CatalogError('integrity', error.message, { cause: error });
  }
}
