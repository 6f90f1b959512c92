/**
 * Copies every change set of a running store into an archive, and bases from time to time.
 *
 * Invariants:
 * 1. At most one upload of change sets and one of a base are under way, and one removal of old
 *    objects. None of them waits for another, and writes wait for none: the archive reads change
 *    sets from the history of the store, so its memory does not grow while it is cut off.
 * 2. Change sets are archived in order. The position moves when an upload is confirmed. If its
 *    outcome is unknown, its change sets are uploaded again. An object is never replaced by a
 *    different one, because the names differ.
 * 3. An archive holds one history. Before the first upload, the last change set of the archive has
 *    to be one of the store, by its digest, or this directory must have written the archive before.
 * 4. Only the server that claimed the archive last writes to it. Others stop when they notice.
 */
import { randomUUID } from 'node:crypto';
import { withTimeout } from '../delay.ts';
import { CatalogError, hasCode, messageOf } from '../errors.ts';
import type { LogPosition } from '../store/change-log.ts';
import { attach, resume } from './attach.ts';
import { MAX_CHANGE_SETS } from './archive-objects.ts';
import type { ArchiveStatus, ArchiverOptions, PrivateFiles } from './archiver-options.ts';
import { BackgroundWork } from './background-work.ts';
import { BaseUpload } from './base-upload.ts';
import { readBatch } from './batch.ts';
import { changesName, withoutNames } from './names.ts';
import { prune } from './retention.ts';
import { retryDelay } from './retry.ts';
import { watchTimes } from './times.ts';

/** A fifth of the second within which a change set is to be archived. */
const GATHER_MS = 200;

/** How often accounts and keys are compared, in milliseconds. */
const TICK_MS = 500;

/** An hour. Removal is not urgent. */
const PRUNE_INTERVAL_MS = 3_600_000;

export class Archiver {
  readonly #options: ArchiverOptions;
  readonly #now: () => number;
  readonly #bases: BaseUpload;
  readonly #id = randomUUID();
  #isAttached = false;
  /** The change set after which archiving goes on; null while it is not known. */
  #position: LogPosition | null = null;
  /** Whether the loss was logged that archiving has not gone on after yet. */
  #isLossLogged = false;
  /** When the oldest change set that is not archived was made, in milliseconds since the epoch. */
  #behindSince: number | null = null;
  /** Failures in a row, of change sets. */
  #failures = 0;
  #failing: CatalogError | null = null;
  readonly #baseUploads: BackgroundWork;
  readonly #pruning: BackgroundWork;
  /** When the accounts and keys changed that are not archived, like {@link #behindSince}. */
  #privateSince: number | null = null;
  /** Why accounts and keys could not be read, which is logged once. */
  #unreadable: string | null = null;
  #closing = false;
  #over = false;
  #wake: (isCommit: boolean) => void = () => {};
  #running: Promise<void> = Promise.resolve();

  constructor(options: ArchiverOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#bases = new BaseUpload(options.objects, options.store);
    const background = {
      retryDelay: (failures: number, error: unknown) => this.#delay(failures, error),
      onError: (error: unknown) => this.#report(error),
    };
    this.#baseUploads = new BackgroundWork(background);
    this.#pruning = new BackgroundWork(background);
  }

  get figures(): ArchiveStatus {
    const now = this.#now();
    const since = Math.min(this.#behindSince ?? now, this.#privateSince ?? now);
    return {
      changeSets: this.#options.store.sequence - (this.#position?.sequence ?? 0),
      seconds: Math.max(0, (now - since) / 1000),
      failing: this.#failing?.message ?? null,
    };
  }

  /** Starts to archive in the background. */
  start(): void {
    this.#behindSince = this.#now();
    if (this.#options.privateFiles !== null) this.#privateSince = this.#behindSince;
    this.#options.store.onCommit(({ changeSet }) => {
      this.#behindSince ??= Date.parse(changeSet.time);
      this.#wake(true);
    });
    watchTimes(this.#options.store, this.#options.warn);
    this.#running = this.#run();
  }

  /**
   * Archives what is left, and stops.
   *
   * @param grace milliseconds for it; the next start archives the rest.
   */
  async close(grace: number): Promise<void> {
    this.#closing = true;
    this.#wake(false);
    await withTimeout(this.#running, grace, () => {});
    this.#over = true;
  }

  async #run(): Promise<void> {
    while (!this.#over) {
      try {
        await this.#step();
        this.#succeeded();
        const isBehind = this.#behindSince !== null;
        if (!isBehind && this.#closing) return;
        if (!isBehind) await this.#wait(TICK_MS, true);
      } catch (error) {
        this.#failures += 1;
        this.#report(error);
        if (this.#closing || isFinal(error)) return;
        await this.#wait(this.#delay(this.#failures, error), false);
      }
    }
  }

  /** Archives what is new, at most one object of change sets. @throws CatalogError. */
  async #step(): Promise<void> {
    const { store, objects, record } = this.#options;
    if (!this.#isAttached) await attach(objects, store, record, this.#id);
    this.#isAttached = true;
    this.#position ??= await this.#resume();
    this.#uploadBase();
    if (this.#position.sequence < store.sequence) await this.#archiveChanges(this.#position);
    if (this.#position?.sequence === store.sequence) this.#behindSince = null;
    await this.#archivePrivate();
    this.#prune();
  }

  /** Uploads a base if the store no longer keeps what follows in the archive. */
  async #resume(): Promise<LogPosition> {
    const { objects, store } = this.#options;
    await this.#requireClaim();
    // A base that is added later would end the gap that is noted now.
    await this.#bases.settled();
    const { position, base, lostAfter } = await resume(objects, store);
    this.#bases.newest = base;
    if (lostAfter !== null) this.#logLoss(lostAfter);
    const next = position ?? (await this.#bases.upload());
    this.#isLossLogged = false;
    return next;
  }

  /** @param sequence the last change set before those that are lost. */
  #logLoss(sequence: number): void {
    if (this.#isLossLogged) return;
    this.#isLossLogged = true;
    this.#options.warn(
      `${this.#url} fell further behind than --history keeps changes: some after change set ${sequence} will never be archived; archiving continues with a later base`,
    );
  }

  /**
   * @throws CatalogError `archive_refused` if another server has claimed the archive;
   *   `archive_failed` if the claim is gone, for example because a mount is missing.
   */
  async #requireClaim(): Promise<void> {
    const writer = await this.#options.objects.writer();
    if (writer === this.#id) return;
    if (writer === null) {
      throw new CatalogError(
        'archive_failed',
        `${this.#url} does not hold what was written to it; check that it is the right bucket or directory, and that its volume is mounted`,
      );
    }
    throw new CatalogError(
      'archive_refused',
      `another server writes to ${this.#url} now, so this one has stopped archiving; give each server an archive of its own`,
    );
  }

  #uploadBase(): void {
    if (!this.#bases.isMissing || !this.#baseUploads.mayBegin || this.#closing) return;
    this.#baseUploads.begin(async () => {
      await this.#requireClaim();
      await this.#bases.upload();
      this.#pruning.endPause();
    }, 0);
  }

  async #archivePrivate(): Promise<void> {
    const { privateFiles: files, objects } = this.#options;
    if (files === null) return;
    if (files.changed()) this.#privateSince ??= this.#now();
    if (this.#privateSince === null) return;
    const copy = this.#undamaged(files);
    if (copy !== null) {
      await this.#requireClaim();
      await objects.putPrivate(copy);
    }
    this.#privateSince = null;
  }

  /** @returns null if a file is damaged: the archive has an older copy, perhaps the only one left. */
  #undamaged(files: PrivateFiles): Uint8Array | null {
    try {
      const copy = files.read();
      this.#unreadable = null;
      return copy;
    } catch (error) {
      if (!hasCode(error, 'access_file') && !hasCode(error, 'key_file')) throw error;
      const { message } = error;
      if (message !== this.#unreadable)
        this.#options.warn(`${this.#url} keeps the accounts and keys that it has: ${message}`);
      this.#unreadable = message;
      return null;
    }
  }

  async #archiveChanges(position: LogPosition): Promise<void> {
    const { store, objects, gatherMs = GATHER_MS } = this.#options;
    // If the archive is far behind, an object is full without waiting.
    const isFull = store.sequence - position.sequence >= MAX_CHANGE_SETS;
    if (!isFull) await this.#wait(gatherMs, false);
    try {
      const batch = await readBatch(store, position);
      this.#behindSince = Date.parse(batch.begun);
      await this.#requireClaim();
      await objects.putChanges(changesName(batch), batch.lines);
      this.#position = { sequence: batch.last, digest: batch.digest };
    } catch (error) {
      if (!hasCode(error, 'history_gone')) throw error;
      this.#position = null;
      this.#logLoss(position.sequence);
    }
  }

  #prune(): void {
    const { keep, objects } = this.#options;
    if (keep === null || !this.#pruning.mayBegin || this.#closing) return;
    this.#pruning.begin(async () => {
      await this.#requireClaim();
      await prune(objects, keep, this.#now());
    }, PRUNE_INTERVAL_MS);
  }

  #succeeded(): void {
    this.#failures = 0;
    // A base that replaces lost change sets is uploaded in another way.
    const lacksBase = this.#baseUploads.isFailing && this.#bases.isMissing;
    if (this.#failing === null || lacksBase || this.#pruning.isFailing) return;
    this.#failing = null;
    this.#options.warn(`${this.#url} can be reached again`);
  }

  /**
   * Reports a failure, unless it is the same as the last one. The name of an object does not count:
   * with the writes since the last attempt, each attempt has another one.
   */
  #report(error: unknown): void {
    const failure =
      error instanceof CatalogError
        ? error
        : new CatalogError('archive_failed', messageOf(error), { cause: error });
    const last = this.#failing === null ? null : withoutNames(this.#failing.message);
    if (last !== withoutNames(failure.message)) this.#options.onError(failure);
    this.#failing = failure;
  }

  #delay(failures: number, error: unknown): number {
    return (this.#options.retryDelay ?? retryDelay)(failures, error);
  }

  /** @param commits whether a commit ends the wait. Closing ends every wait. */
  async #wait(milliseconds: number, commits: boolean): Promise<void> {
    if (this.#closing) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = (isCommit) => {
      if (commits || !isCommit) resolve();
    };
    await withTimeout(promise, milliseconds, () => {});
  }

  get #url(): string {
    return this.#options.objects.url;
  }
}

/** Whether only a person can help, so that a later attempt would fail as well. */
function isFinal(error: unknown): boolean {
  return hasCode(error, 'archive_refused') || hasCode(error, 'encryption');
}
