/**
 * Pages as the server sends them.
 *
 * Invariant: no reader of the server gets a page that is older than the request. While a file may
 * be older than the store, the page is gathered from the committed state and compared with its
 * file; if it differs, it is rendered and sent, and the file follows later. A page that cannot be
 * rendered is sent as its file is; the queue reports the failure.
 */
import pLimit from 'p-limit';
import { type PageName, parseName } from '../shop/names.ts';
import type { PageFiles } from '../writer/files.ts';
import type { PageMaker } from '../writer/page-writer.ts';
import type { PageBatches } from './batches.ts';

/** Pages that are gathered or rendered for readers at the same time. */
const MAX_CONCURRENT_RENDERS = 8;

export interface ServedPage {
  readonly body: Uint8Array;
  /** Left out for a page whose file is still to follow: no time tells it from that file. */
  readonly modified?: Date;
}

/** Where the pages stand. */
export interface PageState {
  /** Whether a file may be older than the store. */
  readonly isBehind: boolean;
  /** Of the last commit. */
  readonly sequence: number;
}

export class ServedPages {
  readonly #files: PageFiles;
  readonly #batches: PageBatches;
  readonly #maker: PageMaker;
  readonly #state: () => PageState;
  readonly #limit = pLimit(MAX_CONCURRENT_RENDERS);
  /** Pages that are asked for now; readers of the same page in the same state share it. */
  readonly #current = new Map<string, Promise<ServedPage | null>>();

  constructor(files: PageFiles, batches: PageBatches, maker: PageMaker, state: () => PageState) {
    this.#files = files;
    this.#batches = batches;
    this.#maker = maker;
    this.#state = state;
  }

  /** @returns null if the shop has no such page. @throws what the disk throws. */
  async read(name: PageName): Promise<ServedPage | null> {
    const { isBehind, sequence } = this.#state();
    if (!isBehind || parseName(name) === null) return this.#read(name);
    const key = `${sequence} ${name}`;
    let page = this.#current.get(key);
    if (page === undefined) {
      page = this.#limit(() => this.#render(name)).finally(() => this.#current.delete(key));
      this.#current.set(key, page);
    }
    return page;
  }

  async #render(name: PageName): Promise<ServedPage | null> {
    const facts = await this.#batches.facts(name);
    // A thread that dies is reported by the queue.
    const result = await this.#maker.render(facts).catch(() => 'current' as const);
    if (result === null) return null;
    if (result === 'current' || !('text' in result)) return this.#read(name);
    return { body: Buffer.from(result.text) };
  }

  async #read(name: PageName): Promise<ServedPage | null> {
    const file = await this.#files.read(name);
    return file && { body: file.body, modified: lastModified(file.named, Date.now()) };
  }
}

/**
 * The `Last-Modified` of a file: the second after the one in which it got its name, so that it is
 * later than that of every file that was sent in its place before. It has whole seconds, and a client
 * that has no entity tag would otherwise keep what was sent earlier in the same second. It is never a
 * time to come (RFC 9110, section 8.8.2.1).
 *
 * @param named when the file got its name, and `now`, in milliseconds since the epoch.
 */
export function lastModified(named: number, now: number): Date {
  return new Date(Math.min(Math.floor(named / 1000) + 1, Math.floor(now / 1000)) * 1000);
}
