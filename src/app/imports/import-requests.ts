/**
 * Takes over the imports that commands ask for while this process owns the data directory.
 *
 * Invariants:
 * 1. A request is imported at most once: it is renamed before it is read, and what has that name at
 *    a start is not imported.
 * 2. A request is taken only if there is room among the imports; until then it waits.
 */
import type { Disk } from '../../disk/disk.ts';
import { writeVolatile } from '../../disk/durable-file.ts';
import { CatalogError, messageOf } from '../../errors.ts';
import { KINDS } from '../../model/kinds.ts';
import type { Imports } from '../../resources/transfer/imports.ts';
import { bounded, importFolder, readFile } from './import-files.ts';
import {
  decodeOrder,
  type ImportReply,
  OUTDATED,
  PART,
  REQUEST,
  requestPath,
  type RequestedImport,
} from './import-request.ts';

/** Milliseconds between two looks at the folder. */
const LOOK_MS = 200;

/** Milliseconds for which the last reply stays, for a command to read. */
const REPLY_MS = 60_000;

/** Milliseconds after which nobody writes a request any more that was not changed since. */
const ABANDONED_MS = 3_600_000;

interface Options {
  readonly disk: Disk;
  /** The data directory. */
  readonly data: string;
  readonly imports: Imports;
  /** ISO 4217. */
  readonly currency: string;
  /** Bytes of a file. */
  readonly maxImport: number;
  readonly onError: (error: unknown) => void;
}

export class ImportRequests {
  readonly #options: Options;
  readonly #folder: string;
  /** By token: the import, and when it was seen to have ended. */
  readonly #taken = new Map<string, { readonly id: number; endedAt: number | null }>();
  #timer: NodeJS.Timeout | null = null;
  #look: Promise<void> = Promise.resolve();

  private constructor(options: Options) {
    this.#options = options;
    this.#folder = importFolder(options.data);
  }

  /** Removes what an earlier process left, and looks for requests from now on. */
  static async open(options: Options): Promise<ImportRequests> {
    const requests = new ImportRequests(options);
    await requests.#clean();
    requests.#schedule();
    return requests;
  }

  /** Takes no more requests. Those that were taken are imported, or `failed`, as all others are. */
  async close(): Promise<void> {
    clearTimeout(this.#timer ?? undefined);
    this.#timer = null;
    await this.#look;
  }

  #schedule(): void {
    this.#timer = setTimeout(() => {
      this.#look = this.#lookAround()
        .catch(this.#options.onError)
        .then(() => {
          if (this.#timer !== null) this.#schedule();
        });
    }, LOOK_MS);
    this.#timer.unref();
  }

  async #clean(): Promise<void> {
    const { disk } = this.#options;
    for (const name of disk.list(this.#folder)) {
      const path = `${this.#folder}/${name}`;
      const changed = PART.test(name) ? (disk.stat(path)?.changedMs ?? 0) : Number.NaN;
      if (OUTDATED.test(name) || Date.now() - changed > ABANDONED_MS) await disk.unlink(path);
    }
  }

  async #lookAround(): Promise<void> {
    const { disk, imports } = this.#options;
    for (const name of disk.list(this.#folder)) {
      const [, token] = REQUEST.exec(name) ?? [];
      if (token !== undefined && !imports.isFull) await this.#take(token);
    }
    for (const [token, taken] of this.#taken) {
      if (taken.endedAt === null) {
        const ended = await this.#tell(token, taken.id);
        if (ended) taken.endedAt = performance.now();
      } else if (performance.now() - taken.endedAt > REPLY_MS) {
        this.#taken.delete(token);
        await disk.unlink(requestPath(this.#folder, token, 'reply'));
      }
    }
  }

  async #take(token: string): Promise<void> {
    const { disk } = this.#options;
    const path = requestPath(this.#folder, token, 'taken');
    try {
      await disk.rename(requestPath(this.#folder, token, 'request'), path);
    } catch (error) {
      // The command has withdrawn it.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      throw error;
    }
    try {
      const id = await this.#accept(path);
      this.#taken.set(token, { id, endedAt: null });
      await this.#reply(token, { id, done: 0, total: 0, ended: false });
    } catch (error) {
      const isKnown = error instanceof CatalogError;
      if (!isKnown) this.#options.onError(error);
      const code = isKnown ? error.code : 'import_failed';
      await this.#reply(token, { error: { code, message: messageOf(error) } });
    } finally {
      await disk.unlink(path);
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
    const file = readFile(disk, path, length);
    const source = bounded(file, maxImport, '--max-import of the server');
    return (await imports.accept(order, source)).id;
  }

  #requireCurrency({ currency }: RequestedImport): void {
    const own = this.#options.currency;
    if (currency === null || currency === own) return;
    throw new CatalogError(
      'import_failed',
      `the server's prices are in ${own}, not in ${currency}; leave out --currency`,
    );
  }

  /** @returns whether the import has ended. */
  async #tell(token: string, id: number): Promise<boolean> {
    const progress = this.#options.imports.progress(id);
    const ended = progress === null;
    await this.#reply(token, { id, ended, ...(progress ?? { done: 1, total: 1 }) });
    return ended;
  }

  #reply(token: string, reply: ImportReply): Promise<void> {
    const path = requestPath(this.#folder, token, 'reply');
    return writeVolatile(this.#options.disk, path, Buffer.from(JSON.stringify(reply)));
  }
}
