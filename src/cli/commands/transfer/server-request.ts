/** An import that the command requests from a running server (spec 8.14). */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Context } from '../../../app/context.ts';
import { importFolder, readInTurns, writeTo } from '../../../app/imports/import-files.ts';
import {
  decodeReply,
  encodeOrder,
  type ImportReply,
  requestPath,
  type RequestedImport,
} from '../../../app/imports/import-request.ts';
import { DATA_FILES } from '../../../data-files.ts';
import { isHeld } from '../../../disk/lock.ts';
import { CatalogError, systemErrorCode } from '../../../errors.ts';
import { hasEnded, type ImportReport } from '../../../resources/transfer/import-state.ts';
import { parseKept } from '../../../resources/transfer/kept-report.ts';
import { CREATABLE } from '../../../resources/transfer/rows/named-rows.ts';
import { commandSubject } from '../subject.ts';
import { type ImportSettings, onSignal, type Show, type Source } from './source.ts';

/** Milliseconds between two reads of the reply. */
const LOOK_MS = 50;

/** Milliseconds without a change of the reply until the command checks that the server runs. */
const SILENCE_MS = 2000;

/** Milliseconds within which a server has to take a request. */
const TAKE_MS = 60_000;

export class ServerRequest {
  readonly #settings: ImportSettings;
  readonly #context: Context;
  readonly #folder: string;
  readonly #token = randomUUID();
  /** The line that precedes the file in a request. */
  readonly #order: Buffer;
  readonly #original: Source;
  /** Whether the file was copied for the server. */
  #isCopied = false;
  #isStopped = false;

  constructor(settings: ImportSettings, source: Source, context: Context) {
    this.#settings = settings;
    this.#context = context;
    this.#folder = importFolder(settings.data);
    this.#original = source;
    this.#order = encodeOrder(orderOf(settings));
  }

  /** The file: the copy if there is one, since standard input is read once. */
  get source(): Source {
    if (!this.#isCopied) return this.#original;
    const read = () => readInTurns(this.#context.disk, this.#path('part'), this.#order.length);
    return { size: this.#original.size, read };
  }

  /**
   * Hands the file to the server, and waits until it is imported.
   *
   * @returns null if the server ended before it took the file.
   * @throws CatalogError of the server; `busy` if it does not take the file; `import_failed` if it
   *   ended meanwhile, or if a signal ends the wait.
   */
  async run(show: Show): Promise<ImportReport | null> {
    const { disk } = this.#context;
    if (!this.#isCopied) await this.#copy();
    // Before the server can take the file: otherwise a signal would end only the command.
    const ignore = onSignal(() => {
      this.#isStopped = true;
    });
    try {
      await disk.rename(this.#path('part'), this.#path('request'));
      return await this.#follow(show);
    } finally {
      ignore();
    }
  }

  /** Removes what is left of the request. */
  async discard(): Promise<void> {
    if (!this.#isCopied) return;
    for (const name of ['part', 'request', 'reply'] as const) {
      await this.#context.disk.unlink(this.#path(name));
    }
  }

  async #copy(): Promise<void> {
    const { disk } = this.#context;
    disk.mkdir(this.#folder);
    const path = this.#path('part');
    const fd = await disk.create(path);
    this.#isCopied = true;
    try {
      writeTo(disk, fd, path, this.#order);
      for await (const bytes of this.#original.read()) writeTo(disk, fd, path, bytes);
    } finally {
      disk.close(fd);
    }
  }

  async #follow(show: Show): Promise<ImportReport | null> {
    const begun = performance.now();
    let [seen, seenAt] = ['', begun];
    let reply: Extract<ImportReply, { readonly id: number }> | null = null;
    let isGone = false;
    for (;;) {
      await wait(LOOK_MS);
      const sign = JSON.stringify(this.#context.disk.stat(this.#path('reply')));
      if (sign !== seen) [seen, seenAt] = [sign, performance.now()];
      reply = this.#read() ?? reply;
      if (reply !== null) {
        if (reply.total > 0) show(reply);
        if (reply.ended) return this.#ended(reply.id);
      }
      if (this.#isStopped) throw await this.#stopped(reply);
      if (performance.now() - seenAt < SILENCE_MS) continue;
      seenAt = performance.now();
      if (!isHeld(join(this.#settings.data, DATA_FILES.lock))) {
        if (reply === null && (await this.#withdraw())) return null;
        return this.#abandoned(reply);
      }
      // A server that was started since does not reply about a file that an earlier one took.
      if (reply !== null && this.#report(reply.id) !== null) return this.#abandoned(reply);
      // Nor about one that it has removed. A server that runs replies before it removes a file.
      if (reply === null && isGone) return this.#abandoned(reply);
      isGone = !this.#isThere();
      if (reply === null && performance.now() - begun > TAKE_MS && (await this.#withdraw())) {
        throw new CatalogError(
          'busy',
          'the server did not accept the file in time; try again later',
        );
      }
    }
  }

  /** @throws CatalogError of the server if it refuses the file. */
  #read(): Extract<ImportReply, { readonly id: number }> | null {
    const bytes = this.#context.disk.read(this.#path('reply'));
    const reply = bytes && decodeReply(bytes);
    if (reply === null) return null;
    if ('id' in reply) return reply;
    throw new CatalogError(reply.error.code, reply.error.message);
  }

  /** @throws CatalogError `import_failed` if the disk did not take the report. */
  #ended(id: number): ImportReport {
    const found = this.#report(id);
    if (found !== null) return found;
    throw new CatalogError(
      'import_failed',
      `the import has ended, but the server could not save its report; see /admin/imports/${id}/ for the rows that are written, and the log of the server`,
    );
  }

  /** The report that the server has saved; null while the import runs. */
  #report(id: number): ImportReport | null {
    const text = this.#saved(id);
    const found = text === null ? null : (JSON.parse(text) as ImportReport);
    return found !== null && hasEnded(found.state) ? found : null;
  }

  #saved(id: number): string | null {
    return this.#context.disk.read(join(this.#folder, `${id}.json`))?.toString() ?? null;
  }

  /** Whether the file waits for a server, or one is taking it. */
  #isThere(): boolean {
    return (['request', 'taken'] as const).some(
      (name) => this.#context.disk.stat(this.#path(name)) !== null,
    );
  }

  /** @returns whether the request is withdrawn; false if the server has taken it. */
  async #withdraw(): Promise<boolean> {
    try {
      await this.#context.disk.rename(this.#path('request'), this.#path('part'));
      return true;
    } catch (error) {
      if (systemErrorCode(error) === 'ENOENT') return false;
      throw error;
    }
  }

  async #stopped(reply: { readonly id: number } | null): Promise<CatalogError> {
    if (reply === null && (await this.#withdraw())) {
      return new CatalogError('import_failed', 'stopped; nothing was imported');
    }
    const where = reply === null ? '' : `; see /admin/imports/${reply.id}/`;
    return new CatalogError(
      'import_failed',
      `stopped waiting, but the server continues the import${where}`,
    );
  }

  /**
   * @returns the report, as the next start of the server shows it if the import has not ended.
   * @throws CatalogError `import_failed` if the server has saved none.
   */
  #abandoned(reply: { readonly id: number } | null): ImportReport {
    const text = reply && this.#saved(reply.id);
    if (text !== null) return JSON.parse(parseKept(text).interrupted ?? text) as ImportReport;
    throw new CatalogError(
      'import_failed',
      'the server stopped when it had taken the file; start it, and look whether /admin/imports/ lists the import before you import the file again',
    );
  }

  #path(name: Parameters<typeof requestPath>[2]): string {
    return requestPath(this.#folder, this.#token, name);
  }
}

function orderOf({ kind, ...settings }: ImportSettings): RequestedImport {
  const { format, match, createMissing, currency } = settings;
  return {
    collection: kind.name,
    format,
    match,
    createMissing: CREATABLE.filter((name) => createMissing.has(name)),
    subject: commandSubject(),
    currency,
  };
}
