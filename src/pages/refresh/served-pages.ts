/**
 * Pages as the server sends them.
 *
 * Invariant: no client gets a page that is older than its request. While a file may be older than
 * the store, the page is gathered from the committed state and compared with its file; if it
 * differs, it is rendered and sent, and the file is written later. If the page cannot be gathered or
 * rendered, its file is sent as it is; the queue reports the failure.
 *
 * A page whose file is missing or unreadable is rendered too, and its file is made again. If it has
 * no file and cannot be rendered, the request fails.
 *
 * Clients take turns if more pages are to be rendered than may be at a time. Requests for the same
 * page in the same state share the work, which begins at the first turn that one of them has.
 */
import { type PageName, parseName } from '../shop/names.ts';
import type { PageFiles } from '../writer/files.ts';
import type { PageMaker, RenderResult } from '../writer/page-writer.ts';
import type { PageBatches } from './batches.ts';
import { CatalogError, systemErrorCode } from '../../errors.ts';
import { FairQueue } from '../../fair-queue.ts';

/** Pages that are gathered or rendered for readers at the same time. */
const MAX_CONCURRENT_RENDERS = 8;

/** Read errors that come from the system or the process; the file itself may be intact. */
const NOT_OF_THE_FILE: ReadonlySet<string | undefined> = new Set(['EMFILE', 'ENFILE', 'ENOMEM']);

export interface ServedPage {
  readonly body: Uint8Array;
  /** Left out if no time can tell the page from a file before or after it. */
  readonly modified?: Date | undefined;
}

/** How current the files of the pages are. */
export interface PageState {
  /** Whether a file may be older than the store. */
  readonly isBehind: boolean;
  /** Of the last commit. */
  readonly sequence: number;
}

/** The result of reading a file: a page, none, or an error of the disk. */
interface Reading {
  readonly page: ServedPage | null;
  readonly failure?: unknown;
}

export interface ServedPagesOptions {
  readonly files: Pick<PageFiles, 'read'>;
  readonly batches: Pick<PageBatches, 'facts'>;
  readonly maker: Pick<PageMaker, 'render' | 'forget'>;
  readonly state: () => PageState;
  /** What to await before a page is gathered; undefined if there is nothing. */
  readonly prepare: () => Promise<void> | undefined;
  /** Whether the shop has a page now. */
  readonly has: (name: PageName) => boolean;
  /** Queues a page whose file is missing or unreadable, to be made again. */
  readonly mend: (name: PageName) => void;
}

/** The work that several requests share. It begins once, whichever of them comes first. */
class Rendering {
  readonly #work: () => Promise<ServedPage | null>;
  readonly #result = Promise.withResolvers<ServedPage | null>();
  hasBegun = false;

  constructor(work: () => Promise<ServedPage | null>) {
    this.#work = work;
  }

  get result(): Promise<ServedPage | null> {
    return this.#result.promise;
  }

  /** Resolves after the work, and at once if another request has begun it. It never rejects. */
  readonly begin = async (): Promise<void> => {
    if (this.hasBegun) return;
    this.hasBegun = true;
    try {
      this.#result.resolve(await this.#work());
    } catch (error) {
      this.#result.reject(error);
    }
  };
}

export class ServedPages {
  readonly #options: ServedPagesOptions;
  readonly #queue = new FairQueue<string>({ atOnce: MAX_CONCURRENT_RENDERS });
  /** Renderings that wait or run, by the state and the page. */
  readonly #renderings = new Map<string, Rendering>();

  constructor(options: ServedPagesOptions) {
    this.#options = options;
  }

  /**
   * @param client who asks; clients take turns.
   * @returns null if the shop has no such page.
   * @throws what the disk throws, if rendering fails as well or the file is not at fault;
   *   CatalogError `page_failed` if there is no file and the page cannot be rendered.
   */
  async read(name: PageName, client: string): Promise<ServedPage | null> {
    const { isBehind, sequence } = this.#options.state();
    if (parseName(name) === null) return null;
    if (!isBehind) {
      const reading = await this.#tryToRead(name);
      if (!this.#isLost(name, reading)) return reading.page;
      await this.#lose(name);
    }
    return this.#inTurn(`${sequence} ${name}`, name, client);
  }

  /** Renders a page at the client's turn, or shares the rendering that has the same key. */
  #inTurn(key: string, name: PageName, client: string): Promise<ServedPage | null> {
    let rendering = this.#renderings.get(key);
    if (rendering === undefined) {
      rendering = new Rendering(() => this.#render(name));
      this.#renderings.set(key, rendering);
      const forget = () => void this.#renderings.delete(key);
      rendering.result.then(forget, forget);
    }
    const { result, begin } = rendering;
    if (!rendering.hasBegun) void this.#queue.run(client, begin);
    return result;
  }

  async #render(name: PageName): Promise<ServedPage | null> {
    await this.#options.prepare();
    const rendered = await this.#tryToRender(name);
    if (rendered !== 'file') return rendered;
    const reading = await this.#tryToRead(name);
    if (!this.#isLost(name, reading)) return reading.page;
    await this.#lose(name);
    const again = await this.#tryToRender(name);
    if (again !== 'file') return again;
    // Not null: to a search engine, 404 means that the shop has no such page.
    throw reading.failure ?? new CatalogError('page_failed', `${name} cannot be rendered`);
  }

  /** @returns `file` if the file is up to date, or if the page cannot be gathered or rendered. */
  async #tryToRender(name: PageName): Promise<ServedPage | null | 'file'> {
    const { batches, maker } = this.#options;
    let result: RenderResult;
    try {
      result = await maker.render(await batches.facts(name));
    } catch {
      // A row that cannot be read, or a thread that dies, is reported by the queue.
      return 'file';
    }
    if (result === null) return null;
    return result !== 'current' && 'text' in result ? { body: Buffer.from(result.text) } : 'file';
  }

  async #tryToRead(name: PageName): Promise<Reading> {
    try {
      const file = await this.#options.files.read(name);
      const page = file && { body: file.body, modified: lastModified(file.named, Date.now()) };
      return { page };
    } catch (failure) {
      if (NOT_OF_THE_FILE.has(systemErrorCode(failure) ?? '')) throw failure;
      return { page: null, failure };
    }
  }

  #isLost(name: PageName, { page, failure }: Reading): boolean {
    return failure !== undefined || (page === null && this.#options.has(name));
  }

  /** Drops the record of a lost file, which no longer holds, and queues its page. */
  async #lose(name: PageName): Promise<void> {
    // If the thread dies, its records are lost too. The queue reports that.
    await this.#options.maker.forget(name).catch(() => {});
    this.#options.mend(name);
  }
}

/**
 * The `Last-Modified` of a file: the second after the one in which it got its name, so that it is
 * later than that of every earlier version. The header has whole seconds, and a client without an
 * entity tag would otherwise keep a version that was sent earlier in the same second.
 *
 * @param named when the file got its name, and `now`, in milliseconds since the epoch.
 * @returns undefined until then: no time of the header is in the future (RFC 9110, section
 *   8.8.2.1), and the second before is that of an earlier version.
 */
export function lastModified(named: number, now: number): Date | undefined {
  const second = Math.floor(named / 1000) + 1;
  return second * 1000 <= now ? new Date(second * 1000) : undefined;
}
