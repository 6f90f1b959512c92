/**
 * Carries out the imports that commands request while this process owns the data directory.
 *
 * Invariants:
 * 1. A request is imported at most once: it is renamed before it is read, and files with the new
 *    name are not imported after a start.
 * 2. A request is taken only if no other import of a command is unfinished; until then it waits.
 * 3. A failure with one request does not hold up the others. A reply that cannot be written is
 *    written at a later poll.
 */
import type { Disk } from '../../disk/disk.ts';
import { writeVolatile } from '../../disk/durable-file.ts';
import { pause, repeat } from '../../delay.ts';
import { CatalogError, messageOf, systemErrorCode } from '../../errors.ts';
import { KINDS } from '../../model/kinds.ts';
import type { Imports } from '../../resources/transfer/imports.ts';
import { importFolder, limitedFile, readInTurns } from './import-files.ts';
import {
  decodeOrder,
  type ImportReply,
  OUTDATED,
  PART,
  REQUEST,
  requestPath,
  type RequestedImport,
} from './import-request.ts';

/** Milliseconds between two polls of the folder. */
const POLL_MS = 200;

/** Milliseconds for which the last reply stays, for a command to read. */
const REPLY_MS = 60_000;

/** Milliseconds without a change after which an unfinished request counts as abandoned. */
const ABANDONED_MS = 3_600_000;

/** What has become of a request: the import, or why there is none. */
type Outcome = { readonly id: number } | Extract<ImportReply, { readonly error: unknown }>;

interface Taken {
  readonly outcome: Outcome;
  /** When its last reply was written; null until then. */
  endedAt: number | null;
}

interface Options {
  readonly disk: Disk;
  /** The data directory. */
  readonly data: string;
  readonly imports: Pick<Imports, 'isFullForCommands' | 'accept' | 'progress'>;
  /** ISO 4217. */
  readonly currency: string;
  /** Bytes of a file. */
  readonly maxImport: number;
  /** Called with files that cannot be read, and with the first of several failures in a row. */
  readonly onError: (error: unknown) => void;
  readonly intervalMs?: number | undefined;
}

export class ImportRequests {
  readonly #options: Options;
  readonly #folder: string;
  /** By token. */
  readonly #taken = new Map<string, Taken>();
  readonly #closing = new AbortController();
  #polling: Promise<void> = Promise.resolve();

  private constructor(options: Options) {
    this.#options = options;
    this.#folder = importFolder(options.data);
  }

  /** Removes the files of an earlier process, and polls for requests from now on. */
  static async open(options: Options): Promise<ImportRequests> {
    const requests = new ImportRequests(options);
    await requests.#clean();
    requests.#polling = requests.#run();
    return requests;
  }

  /** Takes no more requests. Those that were taken are imported, or `failed`, like all imports. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#polling;
  }

  async #run(): Promise<void> {
    const { onError, intervalMs = POLL_MS } = this.#options;
    const { signal } = this.#closing;
    // A start that fails soon, for example because its port is in use, takes no request.
    await pause(intervalMs, signal);
    await repeat(() => this.#poll(), intervalMs, signal, onError);
  }

  async #clean(): Promise<void> {
    const { disk } = this.#options;
    for (const name of disk.list(this.#folder)) {
      if (OUTDATED.test(name)) await disk.unlink(`${this.#folder}/${name}`);
    }
  }

  /** @throws the first of the failures, when all has been attempted. */
  async #poll(): Promise<void> {
    const failures: unknown[] = [];
    const attempt = (act: () => Promise<void>) =>
      act().catch((error: unknown) => void failures.push(error));
    await attempt(async () => {
      const names = this.#options.disk.list(this.#folder);
      for (const name of names) await attempt(() => this.#handle(name));
    });
    for (const [token, taken] of this.#taken) await attempt(() => this.#attend(token, taken));
    if (failures.length > 0) throw failures[0];
  }

  async #handle(name: string): Promise<void> {
    const { disk, imports } = this.#options;
    if (this.#closing.signal.aborted) return;
    const [, token] = REQUEST.exec(name) ?? [];
    if (token !== undefined && !imports.isFullForCommands) await this.#take(token);
    if (!PART.test(name)) return;
    // A command that was killed has left its copy of the file.
    const path = `${this.#folder}/${name}`;
    const changed = disk.stat(path)?.changedMs ?? Number.NaN;
    if (Date.now() - changed > ABANDONED_MS) await disk.unlink(path);
  }

  async #take(token: string): Promise<void> {
    const { disk } = this.#options;
    const path = requestPath(this.#folder, token, 'taken');
    try {
      await disk.rename(requestPath(this.#folder, token, 'request'), path);
    } catch (error) {
      // The command has withdrawn it.
      if (systemErrorCode(error) === 'ENOENT') return;
      throw error;
    }
    const taken = { outcome: await this.#outcomeOf(path), endedAt: null };
    // Before anything else can fail, so that the request gets its reply at a later poll.
    this.#taken.set(token, taken);
    // If there is neither the file nor a reply, the command takes it that the server has ended.
    try {
      await this.#reply(token, taken);
    } finally {
      await disk.unlink(path);
    }
  }

  async #outcomeOf(path: string): Promise<Outcome> {
    try {
      return { id: await this.#accept(path) };
    } catch (error) {
      if (error instanceof CatalogError) {
        return { error: { code: error.code, message: messageOf(error) } };
      }
      this.#options.onError(error);
      const message = `the server could not take the file (${messageOf(error)}); nothing was imported; correct the cause, and import the file again`;
      return { error: { code: 'import_failed', message } };
    }
  }

  async #accept(path: string): Promise<number> {
    const { disk, imports, maxImport } = this.#options;
    const [begin = new Uint8Array()] = disk.pieces(path) ?? [];
    const { requested, length } = decodeOrder(begin);
    this.#requireCurrency(requested);
    const { collection, format, match, createMissing, subject } = requested;
    const order = {
      kind: KINDS[collection],
      format,
      match,
      createMissing: new Set<string>(createMissing),
      subject,
      dryRun: false,
    };
    const file = readInTurns(disk, path, length);
    const source = limitedFile(file, maxImport, '--max-import of the server');
    return (await imports.accept(order, source, null, 'command')).id;
  }

  #requireCurrency({ currency }: RequestedImport): void {
    const own = this.#options.currency;
    if (currency === null || currency === own) return;
    throw new CatalogError(
      'import_failed',
      `the server's prices are in ${own}, not in ${currency}; leave out --currency`,
    );
  }

  /** Reports the progress, and removes the last reply once the command had time to read it. */
  async #attend(token: string, taken: Taken): Promise<void> {
    if (taken.endedAt === null) return this.#reply(token, taken);
    if (performance.now() - taken.endedAt <= REPLY_MS) return;
    this.#taken.delete(token);
    await this.#options.disk.unlink(requestPath(this.#folder, token, 'reply'));
  }

  async #reply(token: string, taken: Taken): Promise<void> {
    const reply = this.#replyTo(taken.outcome);
    const path = requestPath(this.#folder, token, 'reply');
    await writeVolatile(this.#options.disk, path, Buffer.from(JSON.stringify(reply)));
    if ('error' in reply || reply.ended) taken.endedAt = performance.now();
  }

  #replyTo(outcome: Outcome): ImportReply {
    if ('error' in outcome) return outcome;
    const progress = this.#options.imports.progress(outcome.id);
    return { ...outcome, ended: progress === null, ...(progress ?? { done: 1, total: 1 }) };
  }
}
