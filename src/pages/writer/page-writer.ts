/**
 * Renders pages, compares them with their files, and writes those that differ.
 *
 * Invariants:
 * 1. A page is written only under the pages' lock, which the caller holds. Its facts were gathered
 *    under the same lock, so that no page is replaced by an older one.
 * 2. A page is left as it is only if its file is known to have the right content: by its record in
 *    the manifest and its stat, or by its bytes.
 * 3. The record of a page is set after its file is written. A crash between the two leaves an old
 *    record beside a new file: its stat differs, so the file is read.
 */
import { join } from 'node:path';
import type { LogPosition } from '../../store/change-log.ts';
import { DATA_FILES } from '../../data-files.ts';
import type { Disk } from '../../disk/disk.ts';
import { writePieces } from '../../disk/durable-file.ts';
import type { FactGroup, PageFacts } from '../shop/facts.ts';
import type { PageName } from '../shop/names.ts';
import type { Prepared, Renderer } from '../render/renderer.ts';
import { shortDigest } from './digest.ts';
import { PageFiles } from './files.ts';
import { bootOf } from './identity.ts';
import { Manifest, type PageRecord } from './manifest.ts';
import { failureOf, type PageFailure } from './page-failure.ts';
import { systemErrorCode } from '../../errors.ts';

/** Pages that one call checks. */
const CHUNK_SIZE = 1000;

/** The outcome of making a page. */
export type Outcome = 'written' | 'unchanged' | 'removed';

export type PageResult = Outcome | PageFailure;

/** A page as it is now: its text; null if there is none; `current` if the file is up to date. */
export type RenderResult = { readonly text: string } | 'current' | null | PageFailure;

/** The text of a page; null if there is no such page. */
export type PreviewResult = { readonly text: string } | null | PageFailure;

/** Part of a long list, and whether it was the last one. */
export interface Chunk {
  readonly names: readonly PageName[];
  readonly isLast: boolean;
}

/** Makes pages for the queue and the server; the writer may be in another thread. */
export interface PageMaker {
  /**
   * Makes pages, in the order of the groups.
   *
   * @param always whether pages that are up to date are written again.
   */
  make(groups: readonly FactGroup[], always: boolean): Promise<PageResult[]>;
  /** Renders a page to be sent, and writes nothing. */
  render(facts: PageFacts): Promise<RenderResult>;
  /** Drops the record of a page, so that it is made again: its file could not be read. */
  forget(name: PageName): Promise<void>;
  /**
   * Renders a page that may show changes that are not stored, without comparing it with its file.
   *
   * @param root the prefix of links to other pages, such as `/pages/`.
   */
  preview(facts: PageFacts, root: string): Promise<PreviewResult>;
  /** Whether every page of this state has been made, according to the manifest. */
  knows(state: LogPosition): Promise<boolean>;
  /** The next pages whose file does not match their record. */
  damaged(fromStart: boolean): Promise<Chunk>;
  /** The next pages on the disk. @param unknown only those without a record. */
  present(fromStart: boolean, unknown: boolean): Promise<Chunk>;
  /** Removes half-written files. The caller holds the pages' lock. */
  sweep(): Promise<void>;
  /** Saves the manifest. @param state of which every page is made; null if some still wait. */
  save(state: LogPosition | null): Promise<void>;
}

export class PageWriter implements PageMaker {
  readonly #disk: Disk;
  readonly #path: string;
  readonly #files: PageFiles;
  readonly #renderer: Renderer;
  readonly #manifest: Manifest;
  /** Identifies settings, templates and program. */
  readonly #fingerprint: string;
  /** The rest of each list; null if its beginning was not requested from this writer. */
  #records: Iterator<PageName> | null = null;
  #listing: Iterator<PageName> | null = null;

  /** @param fingerprint changes with everything that pages are made from, except their facts. */
  constructor(disk: Disk, dataDirectory: string, renderer: Renderer, fingerprint: string) {
    this.#disk = disk;
    this.#path = join(dataDirectory, DATA_FILES.pagesManifest);
    this.#files = new PageFiles(disk, dataDirectory);
    this.#renderer = renderer;
    this.#fingerprint = fingerprint;
    const kept = readable(() => disk.read(this.#path));
    this.#manifest = Manifest.decode(kept, bootOf(disk));
  }

  async make(groups: readonly FactGroup[], always: boolean): Promise<PageResult[]> {
    const results: PageResult[] = [];
    for (const { shared, pages } of groups) {
      for (const { name, own } of pages) {
        results.push(await this.#make({ name, shared, own }, always).catch(failureOf));
      }
    }
    return results;
  }

  async render(facts: PageFacts): Promise<RenderResult> {
    try {
      const prepared = this.#renderer.prepare(facts);
      if (prepared === null) return null;
      if (this.#isMade(facts.name, this.#inputsOf(prepared))) return 'current';
      return { text: this.#renderer.render(prepared) };
    } catch (error) {
      return failureOf(error);
    }
  }

  async forget(name: PageName): Promise<void> {
    this.#manifest.delete(name);
  }

  async preview(facts: PageFacts, root: string): Promise<PreviewResult> {
    try {
      const prepared = this.#renderer.prepare(facts, root);
      return prepared && { text: this.#renderer.render(prepared) };
    } catch (error) {
      return failureOf(error);
    }
  }

  async knows(state: LogPosition): Promise<boolean> {
    return this.#manifest.mark === this.#markOf(state);
  }

  async damaged(fromStart: boolean): Promise<Chunk> {
    if (fromStart) this.#records = this.#manifest.names();
    return chunkOf(this.#records, (name) => {
      const record = this.#manifest.get(name);
      return record !== null && !this.#isIntact(name, record);
    });
  }

  async present(fromStart: boolean, unknown: boolean): Promise<Chunk> {
    if (fromStart) this.#listing = this.#files.names();
    return chunkOf(this.#listing, (name) => !unknown || this.#manifest.get(name) === null);
  }

  sweep(): Promise<void> {
    return this.#files.sweep();
  }

  async save(state: LogPosition | null): Promise<void> {
    this.#manifest.mark = state && this.#markOf(state);
    await writePieces(this.#disk, this.#path, this.#manifest.encode());
  }

  async #make(facts: PageFacts, always: boolean): Promise<Outcome> {
    const { name } = facts;
    const prepared = this.#renderer.prepare(facts);
    if (prepared === null) {
      await this.#files.remove(name);
      this.#manifest.delete(name);
      return 'removed';
    }
    const inputs = this.#inputsOf(prepared);
    if (!always && this.#isMade(name, inputs)) return 'unchanged';
    const bytes = Buffer.from(this.#renderer.render(prepared));
    const isNew = always || this.#bytes(name)?.equals(bytes) !== true;
    if (isNew) await this.#write(name, bytes);
    const stat = this.#files.stat(name);
    if (stat !== null) this.#manifest.set(name, { inputs, content: shortDigest(bytes), stat });
    return isNew ? 'written' : 'unchanged';
  }

  /** Makes the folders if they are missing. */
  async #write(name: PageName, bytes: Uint8Array): Promise<void> {
    try {
      await this.#files.write(name, bytes);
    } catch (error) {
      if (systemErrorCode(error) !== 'ENOENT') throw error;
      this.#files.prepare();
      await this.#files.write(name, bytes);
    }
  }

  /** Whether the file of a page was made from these inputs, and is still as it was written. */
  #isMade(name: PageName, inputs: Buffer): boolean {
    const record = this.#manifest.get(name);
    return record !== null && record.inputs.equals(inputs) && this.#isIntact(name, record);
  }

  #isIntact(name: PageName, record: PageRecord): boolean {
    const stat = this.#files.stat(name);
    if (stat === null || stat.size !== record.stat.size) return false;
    const { inode, changedMs } = record.stat;
    if (stat.inode === inode && stat.changedMs === changedMs) return true;
    const bytes = this.#bytes(name);
    if (bytes === null || !shortDigest(bytes).equals(record.content)) return false;
    this.#manifest.set(name, { ...record, stat });
    return true;
  }

  #bytes(name: PageName): Buffer | null {
    return readable(() => this.#files.bytes(name));
  }

  #inputsOf({ template, context }: Prepared): Buffer {
    return shortDigest(this.#fingerprint, template, JSON.stringify(context));
  }

  #markOf({ sequence, digest }: LogPosition): string {
    return `${sequence} ${digest} ${shortDigest(this.#fingerprint).toString('hex')}`;
  }
}

/** A file that cannot be read, such as one of another user, counts as missing and is replaced. */
function readable(read: () => Buffer | null): Buffer | null {
  try {
    return read();
  } catch {
    return null;
  }
}

/** The wanted names among the next {@link CHUNK_SIZE} of a list. */
function chunkOf(names: Iterator<PageName> | null, isWanted: (name: PageName) => boolean): Chunk {
  // The thread that had the list has died.
  if (names === null) throw new Error('the rest of a list of pages is lost');
  const wanted: PageName[] = [];
  for (let seen = 0; seen < CHUNK_SIZE; seen += 1) {
    const step = names.next();
    if (step.done === true) return { names: wanted, isLast: true };
    if (isWanted(step.value)) wanted.push(step.value);
  }
  return { names: wanted, isLast: false };
}
