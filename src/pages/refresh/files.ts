/** The folder of pages, `<data>/pages`: each file whole or absent. What is no page is left alone. */
import fsp from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Disk } from '../../disk/disk.ts';
import { removeTemporaries, writeVolatile } from '../../disk/durable-file.ts';
import { type PageName, parseName } from '../shop/names.ts';

/** Folders of pages; those of lists have a folder for the parts of each list. */
const FOLDERS = ['', 'skus', 'goods', 'categories', 'sitemaps'];
const LISTS = ['index', 'goods', 'categories'];

/** The parts of a list behind the first, by the name of one of them. */
const PART_FOLDER = /^((?:goods|categories)\/\d+|index)\/\d+\.html$/;

export class PageFiles {
  readonly #disk: Disk;
  readonly #directory: string;

  constructor(disk: Disk, dataDirectory: string) {
    this.#disk = disk;
    this.#directory = join(dataDirectory, 'pages');
  }

  prepare(): void {
    for (const folder of FOLDERS) this.#disk.mkdir(this.#path(folder));
  }

  /** Whether the file on the disk is this text, byte for byte. */
  holds(name: PageName, text: string): boolean {
    return this.#disk.read(this.#path(name))?.equals(Buffer.from(text)) ?? false;
  }

  /**
   * Replaces a page. It is not synced: a page that power loss takes or empties is made again when
   * the next start compares every page with the store.
   */
  async write(name: PageName, text: string): Promise<void> {
    const path = this.#path(name);
    if (PART_FOLDER.test(name)) this.#disk.mkdir(dirname(path));
    await writeVolatile(this.#disk, path, Buffer.from(text));
  }

  /**
   * Removes a page that there is nothing for; one that is not there stays so. Behind the end of a
   * list no part can be needed: those further behind go as well.
   */
  async remove(name: PageName): Promise<void> {
    await this.#disk.unlink(this.#path(name));
    const folder = PART_FOLDER.exec(name)?.[1];
    if (folder === undefined) return;
    const part = numberIn(name);
    for (const other of this.#disk.list(this.#path(folder))) {
      const behind = parseName(`${folder}/${other}`) !== null && numberIn(other) > part;
      if (behind) await this.#disk.unlink(this.#path(`${folder}/${other}`));
    }
  }

  /** Names of the pages on the disk. Many names take long: they are read beside the requests. */
  async names(): Promise<PageName[]> {
    const names: PageName[] = [];
    for (const folder of this.#folders()) {
      for (const name of await fsp.readdir(this.#path(folder)).catch(noneIfAbsent)) {
        const page = folder === '' ? name : `${folder}/${name}`;
        if (parseName(page) !== null) names.push(page);
      }
    }
    return names;
  }

  /** Removes what a killed run left half-written; whoever calls it holds the pages' lock. */
  async sweep(): Promise<void> {
    for (const folder of this.#folders()) {
      await removeTemporaries(this.#disk, this.#path(folder));
    }
  }

  /** A file as it is served; null where there is none of the name. */
  async read(name: PageName): Promise<{ body: Uint8Array; modified: Date } | null> {
    if (parseName(name) === null) return null;
    let file: fsp.FileHandle;
    try {
      file = await fsp.open(this.#path(name));
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

  *#folders(): Generator<string> {
    yield* FOLDERS;
    for (const list of LISTS) {
      if (list === 'index') yield list;
      else {
        const numbers = this.#disk.list(this.#path(list)).filter((name) => /^\d+$/.test(name));
        for (const number of numbers) yield `${list}/${number}`;
      }
    }
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }
}

function noneIfAbsent(error: NodeJS.ErrnoException): never[] {
  if (error.code === 'ENOENT') return [];
  throw error;
}

/** The number of a part, from its file's name. */
function numberIn(name: PageName): number {
  return Number(/\b(\d+)\.html$/.exec(name)?.[1]);
}
