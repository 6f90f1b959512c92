/**
 * The use cases: list, read, create, replace, change and delete rows of any kind. One handler
 * serves every collection; what differs stands in the kind's declaration.
 */
import { CatalogError } from '../errors.ts';
import { isStored, type Kind, type Row, type Scalar } from '../model/kind.ts';
import { KINDS } from '../model/kinds.ts';
import type { Transaction, View } from '../store/draft.ts';
import type { Store } from '../store/store.ts';
import type { Selection } from '../store/memory/tables.ts';
import { type Address, requireParent, requireRow } from './address.ts';
import { DEFAULT_AUDIT_BYTES, audit } from './audit.ts';
import { type Created, recall, remember, type Retry } from './idempotency.ts';
import {
  type Input,
  type Mode,
  parseInput,
  parseInputs,
  parseUpdates,
  Problems,
  type Update,
} from './input.ts';
import { type Representation, represent } from './representation.ts';
import { RepresentationCache } from './representation-cache.ts';

/** Judges the current representation. @throws CatalogError `precondition_failed`. */
export type Precondition = ((current: Representation) => void) | null;

export interface Listing {
  /** JSON text of the array. */
  readonly text: string;
  /** Rows in all pages together. */
  readonly total: number;
}

/** Who sends a request that creates. */
export interface Sender {
  /** Whom the token is for; null where none is asked. */
  readonly subject: string | null;
  /** `Idempotency-Key`, as the client chose it; null without one. */
  readonly key: string | null;
}

export interface Creation extends Created {
  /** Whether this is the answer to an earlier request with the same key. */
  readonly replayed: boolean;
}

export class Records {
  readonly #store: Store;
  readonly #representations: RepresentationCache;
  readonly #now: () => number;
  readonly #auditBytes: number;

  /**
   * @param now milliseconds since the epoch.
   * @param auditBytes of the audit trail that are kept; 0 for none.
   */
  constructor(store: Store, now: () => number = Date.now, auditBytes = DEFAULT_AUDIT_BYTES) {
    this.#store = store;
    this.#now = now;
    this.#auditBytes = auditBytes;
    this.#representations = new RepresentationCache(store);
  }

  /** Ends well where the parent of a nested address is there. @throws CatalogError `not_found`. */
  requireParent(address: Address): void {
    requireParent(address, this.#store);
  }

  /**
   * @returns a promise if the rows have to be sorted first.
   * @throws CatalogError `busy`, as a rejection.
   */
  list(address: Address, selection: Selection): Listing | Promise<Listing> {
    const { kind, parent } = address;
    const filters =
      parent === null
        ? selection.filters
        : [...selection.filters, [parent.nesting.foreignKey, parent.id] as const];
    const narrowed = { ...selection, filters };
    const sorting = this.#store.prepare(kind.name, narrowed);
    if (sorting !== undefined) return sorting.then(() => this.list(address, selection));
    const { rows, total } = this.#store.select(kind.name, narrowed);
    const texts = rows.map((row) => this.#representations.get(kind, row).text);
    return { text: `[${texts.join(',')}]`, total };
  }

  /**
   * The committed row of an address.
   *
   * @throws CatalogError `not_found`; `gone` for a row that was deleted, where `telling` asks for it.
   */
  find(address: Address, id: number, telling: boolean): Row {
    const { kind, parent } = address;
    const row = this.#store.get(kind.name, id);
    if (row === undefined && telling && parent === null && !kind.emptyNotFound) {
      if (id >= 1 && id <= this.#store.lastId(kind.name)) {
        throw new CatalogError('gone', `${kind.label} ${id} was deleted`);
      }
    }
    return requireRow(address, id, row, this.#store);
  }

  read({ kind }: Address, row: Row): Representation {
    return this.#representations.get(kind, row);
  }

  /**
   * Creates one object, or where the kind takes them all those of an array, or none.
   *
   * @param body parsed JSON.
   * @throws CatalogError `invalid`, `integrity`, `key_reused`, `not_found` (the parent),
   *   `write_refused`.
   */
  create(address: Address, body: unknown, { subject, key }: Sender): Promise<Creation> {
    const { kind, parent } = address;
    const request = [kind.name, parent?.id ?? null, body];
    const retry: Retry | null = key === null ? null : { subject, key, request };
    const createAll = this.#creating(address, body);
    return this.#commit(kind, subject, (transaction, now) => {
      requireParent(address, transaction);
      const first = retry && recall(transaction, retry, now);
      if (first !== null) return { ...first, replayed: true };
      const created = createAll(transaction);
      if (retry !== null) remember(transaction, retry, created, now);
      return { ...created, replayed: false };
    });
  }

  /** Checks the body, and says what a transaction has to do. */
  #creating({ kind, parent }: Address, body: unknown): (transaction: Transaction) => Created {
    const place = parent === null ? {} : { [parent.nesting.foreignKey]: parent.id };
    const add = (transaction: Transaction, input: Input) => {
      const id = transaction.nextId(kind.name);
      const row = newRow(kind, { ...input.values, ...place, id });
      return { id, ...write(transaction, kind, row, input) };
    };
    if (!isMany(kind, parent, body)) {
      const input = parseInput(kind, body, 'whole');
      return (transaction) => add(transaction, input);
    }
    const inputs = parseInputs(kind, body, 'whole');
    return (transaction) => {
      const all = inputs.map((input, index) =>
        transaction.part(index, () => add(transaction, input)),
      );
      return { id: null, text: arrayOf(all), etag: null };
    };
  }

  /**
   * Changes the rows that the elements of an array name, all or none.
   *
   * @param body parsed JSON: an array of objects, each with `id` and what is to change.
   * @param subject whom the token is for; null where none is asked.
   * @returns JSON text of the array of objects.
   * @throws CatalogError `invalid`, `integrity`, `write_refused`.
   */
  updateAll({ kind }: Address, body: unknown, subject: string | null): Promise<string> {
    if (!Array.isArray(body)) {
      throw new CatalogError('invalid', 'the body must be a JSON array of objects', { fields: {} });
    }
    const updates = parseUpdates(kind, body);
    return this.#commit(kind, subject, (transaction) => {
      requireElements(kind, updates, transaction);
      const all = updates.map(({ id, input }, index) => {
        const changed = { ...transaction.get(kind.name, id), ...input.values, id };
        return transaction.part(index, () => write(transaction, kind, changed, input));
      });
      return arrayOf(all);
    });
  }

  /**
   * Writes the attributes of a request over those of the row; what the row owns is added to
   * (spec 2.8).
   *
   * @param mode `whole` for PUT, `partial` for PATCH.
   * @param body parsed JSON.
   * @param subject whom the token is for; null where none is asked.
   * @throws CatalogError `invalid`, `integrity`, `not_found`, `precondition_failed`, `write_refused`.
   */
  update(
    address: Address,
    id: number,
    mode: Mode,
    body: unknown,
    allowed: Precondition,
    subject: string | null,
  ): Promise<Representation> {
    const { kind } = address;
    const input = parseInput(kind, body, mode);
    return this.#commit(kind, subject, (transaction) => {
      // Judged again here: the row may have changed while the body was on its way.
      const row = requireRow(address, id, transaction.get(kind.name, id), transaction);
      allowed?.(represent(kind, row, transaction));
      return write(transaction, kind, { ...row, ...input.values, id }, input);
    });
  }

  /**
   * @param subject whom the token is for; null where none is asked.
   * @throws CatalogError `not_found`, `precondition_failed`, `referred_to`, `write_refused`.
   */
  remove(
    address: Address,
    id: number,
    allowed: Precondition,
    subject: string | null,
  ): Promise<void> {
    const { kind } = address;
    return this.#commit(kind, subject, (transaction) => {
      const row = requireRow(address, id, transaction.get(kind.name, id), transaction);
      allowed?.(represent(kind, row, transaction));
      transaction.delete(kind.name, id);
    });
  }

  /** @param run is given the time in milliseconds since the epoch. */
  async #commit<T>(
    kind: Kind,
    subject: string | null,
    run: (transaction: Transaction, now: number) => T,
  ): Promise<T> {
    try {
      return await this.#store.transact((transaction) => {
        const time = this.#now();
        const result = run(transaction, time);
        audit(transaction, { subject, time }, this.#auditBytes);
        return result;
      });
    } catch (error) {
      if (!(error instanceof CatalogError)) throw error;
      if (error.code === 'write_refused' && kind.refusalIsValidation) {
        // spec 3.9: to the client of an SKU write it is a validation error.
        throw new CatalogError('integrity', `database error: ${error.message}`, { cause: error });
      }
      throw error.part === undefined ? error : atElement(error, error.part);
    }
  }
}

/** Whether a body is an array of objects where one is taken. */
function isMany(kind: Kind, parent: Address['parent'], body: unknown): body is readonly unknown[] {
  return kind.bulk && parent === null && Array.isArray(body);
}

function arrayOf(all: readonly Representation[]): string {
  return `[${all.map(({ text }) => text).join(',')}]`;
}

function requireElements(kind: Kind, updates: readonly Update[], view: View): void {
  const problems = new Problems();
  for (const [index, { id }] of updates.entries()) {
    if (view.get(kind.name, id) === undefined) {
      problems.add(`${index}.id`, `there is no ${kind.label} ${id}`);
    }
  }
  problems.settle();
}

/** The failure of one element of an array: its message names the element. */
function atElement(error: CatalogError, index: number): CatalogError {
  // What relies on the element is named by itself: it is no member of the element.
  const message = error.message.replace(/^(database error: )(\w+:)?/, (_, begin, own = '') =>
    own === '' ? `${begin}element ${index}: ` : `${begin}${index}.${own}`,
  );
  return new CatalogError(error.code, message, { cause: error });
}

function write(transaction: Transaction, kind: Kind, row: Row, input: Input): Representation {
  transaction.put(kind.name, row);
  for (const { kind: owned, through, values } of input.owned) {
    const id = transaction.nextId(owned);
    transaction.put(owned, newRow(KINDS[owned], { ...values, [through]: row.id, id }));
  }
  return represent(kind, row, transaction);
}

/** A row with its attributes in the order of the declaration, which is how the files show it. */
function newRow(kind: Kind, values: Readonly<Record<string, Scalar>>): Row {
  const row: Record<string, Scalar> = {};
  for (const [name, declared] of Object.entries(kind.attributes)) {
    if (declared.role === 'serverSet') row[name] = declared.initial;
    else if (isStored(declared)) row[name] = values[name] ?? null;
  }
  return row as Row;
}
