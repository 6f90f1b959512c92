/** The folder of detail pages: `<data>/pages/skus/<id>.html`, whole or absent. */
import fsp from 'node:fs/promises';
import { join } from 'node:path';
import type { Disk } from '../disk/disk.ts';
import { removeTemporaries, writeVolatile } from '../disk/durable-file.ts';

const PAGE = /^([1-9]\d{0,15})\.html$/;

export class PageFiles {
  readonly #disk: Disk;
  readonly #directory: string;

  constructor(disk: Disk, dataDirectory: string) {
    this.#disk = disk;
    this.#directory = join(dataDirectory, 'pages', 'skus');
  }

  prepare(): void {
    this.#disk.mkdir(this.#directory);
  }

  /** Whether the page on the disk is this one, byte for byte. */
  holds(id: number, html: string): boolean {
    return this.#disk.read(this.#path(id))?.equals(Buffer.from(html)) ?? false;
  }

  /**
   * Replaces a page. It is not synced: a page that power loss takes or empties is made again when
   * the next start compares every page with the store.
   */
  write(id: number, html: string): Promise<void> {
    return writeVolatile(this.#disk, this.#path(id), Buffer.from(html));
  }

  /** A page that is not there stays so. */
  remove(id: number): Promise<void> {
    return this.#disk.unlink(this.#path(id));
  }

  /** Ids of the pages on the disk. */
  ids(): number[] {
    return this.#disk.list(this.#directory).flatMap((name) => {
      const id = PAGE.exec(name)?.[1];
      return id === undefined ? [] : [Number(id)];
    });
  }

  /** Removes what a killed run left half-written; whoever calls it holds the pages' lock. */
  sweep(): Promise<void> {
    return removeTemporaries(this.#disk, this.#directory);
  }

  /** A page as it is served, by the name of its file; null where there is none. */
  async read(name: string): Promise<{ body: Uint8Array; modified: Date } | null> {
    if (!PAGE.test(name)) return null;
    let file: fsp.FileHandle;
    try {
      file = await fsp.open(join(this.#directory, name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
    try {
      // One open file: body and time belong to the same page though another may replace it.
      return { modified: (await file.stat()).mtime, body: await file.readFile() };
    } finally {
      await file.close();
    }
  }

  #path(id: number): string {
    return join(this.#directory, `${id}.html`);
  }
}
