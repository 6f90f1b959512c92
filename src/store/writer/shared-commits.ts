/**
 * Commits of a host that shares its log with others: first the shared log, then this host.
 *
 * Invariants:
 * 1. A change set becomes part of this host only if the shared log has it.
 * 2. If the outcome of an append is not known, the same bytes are appended again until it is. No
 *    other change set is tried under that number meanwhile.
 * 3. A change set that the shared log has accepted is never refused here: if the disk refuses it,
 *    the write is retried.
 */
import { backoffDelay } from '../../backoff.ts';
import { pause } from '../../delay.ts';
import { CatalogError, type Code, messageOf, systemErrorCode } from '../../errors.ts';
import type { Appended, ChangeLog } from '../change-log.ts';
import type { EncodedChangeSet } from '../change-set.ts';
import { decodeNextBeside } from '../files/change-set-parts.ts';
import type { Reports } from '../observer.ts';
import type { LocalCommits } from './local-commits.ts';

/** Milliseconds between two attempts: the first pause, and the longest. */
const RETRY_MS = { first: 20, longest: 1000 };

const ENDS: ReadonlySet<Code> = new Set([
  'history_gone',
  'history_differs',
  'schema_version',
  'store_damaged',
]);

export class SharedCommits {
  readonly #log: ChangeLog;
  readonly #local: LocalCommits;
  readonly #onError: Reports['onError'];
  readonly #closing = new AbortController();
  /** Whether the shared log has accepted a change set that is not part of this host yet. */
  #isAccepted = false;

  /** @param onError called with the first of several failures in a row. */
  constructor(log: ChangeLog, local: LocalCommits, onError: Reports['onError']) {
    this.#log = log;
    this.#local = local;
    this.#onError = onError;
  }

  /** Ends the retries: an outcome that is not known by then stays unknown to this process. */
  close(): void {
    this.#closing.abort();
  }

  /**
   * Appends a change set to the shared log, and then makes it part of this host.
   *
   * @returns `conflict` if the log has other change sets, which {@link SharedCommits.catchUp}
   *   applies.
   * @throws CatalogError `body_too_large` if the log will never accept it, `write_unknown` if this
   *   is closed first, `durability_unknown`, `second_writer`; what `State.apply` throws.
   */
  async append(encoded: EncodedChangeSet): Promise<Appended> {
    const appended = await this.#untilDone(() => this.#log.append(encoded), isDecision);
    this.#isAccepted = appended === 'appended';
    if (this.#isAccepted) await this.#commit(encoded);
    this.#isAccepted = false;
    return appended;
  }

  /** What takes so long, for clients. @param isBehind whether {@link catchUp} takes so long. */
  obstacle(isBehind: boolean): string {
    if (isBehind) return 'this host has not caught up with the shared log';
    return this.#isAccepted
      ? 'the disk of this host has not taken what is in the shared log'
      : 'the shared log does not answer';
  }

  /**
   * Applies the change sets that other hosts have appended.
   *
   * @throws CatalogError `history_gone`, `schema_version`, `store_damaged` if this host cannot
   *   continue with the log; otherwise as {@link SharedCommits.append}.
   */
  async catchUp(): Promise<void> {
    for (;;) {
      const after = this.#local.state.sequence;
      const entries = await this.#untilDone(() => this.#log.read(after), isDecision);
      if (entries.length === 0) return;
      for (const bytes of entries) {
        const { sequence, digest } = this.#local.state;
        const path = `change set ${sequence + 1} of the log`;
        const changeSet = await decodeNextBeside(path, Buffer.from(bytes), sequence + 1, digest);
        await this.#commit({ changeSet, bytes });
      }
    }
  }

  /** Commits a change set that is in the shared log, and retries as long as the disk refuses it. */
  async #commit(encoded: EncodedChangeSet): Promise<void> {
    await this.#untilDone(
      () => this.#local.commit(encoded),
      // After errors that are not the disk's, memory or disk cannot be trusted.
      (error) => systemErrorCode(error) === null,
    );
  }

  async #untilDone<T>(
    operation: () => Promise<T>,
    isFinal: (error: unknown) => boolean,
  ): Promise<T> {
    for (let failures = 1; ; failures += 1) {
      try {
        return await operation();
      } catch (error) {
        if (isFinal(error)) throw error;
        if (failures === 1) this.#onError(error);
        const { signal } = this.#closing;
        await pause(backoffDelay(failures, RETRY_MS), signal);
        if (signal.aborted) throw stopped(error);
      }
    }
  }
}

/** The error for a write for which the server waited when it was stopped. */
function stopped(cause: unknown): CatalogError {
  const message = `the server stopped before the log had answered (${messageOf(cause)})`;
  return new CatalogError('write_unknown', message, { cause });
}

/** Whether the log has decided, so that another attempt would have the same outcome. */
function isDecision(error: unknown): boolean {
  return error instanceof CatalogError && error.code !== 'log_unavailable';
}

/** Whether a failure means that this host can apply nothing more from the log. */
export function isEndOfLog(error: unknown): boolean {
  return error instanceof CatalogError && ENDS.has(error.code);
}

/** Seconds after which a client may try again. */
const RETRY_AFTER = { 'Retry-After': '2' };

/** The error for a transaction of which nothing is in the log. */
export function unavailable(why: string, cause?: unknown): CatalogError {
  const message = `${why}; nothing was changed`;
  return new CatalogError('log_unavailable', message, { cause, headers: RETRY_AFTER });
}

/** The error for a transaction that may be in the log. @param why its outcome is not known. */
export function unknownOutcome(why: string): CatalogError {
  return new CatalogError(
    'write_unknown',
    `${why}, and the write may still take effect; repeat it with its Idempotency-Key, or read first`,
    { headers: RETRY_AFTER },
  );
}
