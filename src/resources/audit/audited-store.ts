/** The store as the use cases write to it: each write and its audit entries are one commit. */
import { atOnce } from '../../slices.ts';
import type { LongTransaction, Transaction } from '../../store/writer/draft.ts';
import type { Store } from '../../store/store.ts';
import { type Act, audit, auditAct, DEFAULT_AUDIT_BYTES } from '../audit.ts';

export interface AuditedStoreOptions {
  /** Milliseconds since the epoch; the machine's clock by default. */
  readonly now?: (() => number) | undefined;
  /** Bytes of the audit trail that are kept; 0 for none. */
  readonly auditBytes?: number;
  /** Throws `busy` if memory is scarce. */
  readonly requireRoom?: (() => void) | undefined;
}

export class AuditedStore {
  readonly store: Store;
  /** Call this before data is added. @throws CatalogError `busy` if memory is scarce. */
  readonly requireRoom: () => void;
  readonly #now: () => number;
  readonly #auditBytes: number;

  constructor(store: Store, options: AuditedStoreOptions = {}) {
    this.store = store;
    this.requireRoom = options.requireRoom ?? (() => {});
    this.#now = options.now ?? Date.now;
    this.#auditBytes = options.auditBytes ?? DEFAULT_AUDIT_BYTES;
  }

  /**
   * Adds an audit entry about a change of something that is not a row of the store.
   *
   * @throws CatalogError `write_refused`.
   */
  record(subject: string | null, act: Act): Promise<void> {
    return this.store.transact((transaction) =>
      auditAct(transaction, act, { subject, time: this.#now() }, this.#auditBytes),
    );
  }

  /**
   * Commits all that `run` writes, or nothing.
   *
   * @param subject whom the token is for; null if no token is required.
   * @param isLong whether it may write or read many rows: it runs in slices then.
   * @param run gets the time in milliseconds since the epoch.
   * @throws what `run` throws, and CatalogError `write_refused`.
   */
  transact<T>(
    subject: string | null,
    isLong: boolean,
    run: (transaction: Transaction, now: number) => ReturnType<LongTransaction<T>>,
  ): Promise<T> {
    const [now, bytes] = [this.#now, this.#auditBytes];
    const audited: LongTransaction<T> = function* (transaction) {
      const time = now();
      const result = yield* run(transaction, time);
      yield* audit(transaction, { subject, time }, bytes);
      return result;
    };
    // The write deletes the entries of a trail that is no longer kept, however many there are.
    const clears = bytes === 0 && this.store.count('audits') > 0;
    return isLong || clears
      ? this.store.transactLong(audited)
      : this.store.transact((transaction) => atOnce(audited(transaction)));
  }
}
