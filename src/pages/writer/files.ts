/** The folder of pages, `<data>/pages`: each file whole or absent. Other files are left alone. */
import { dirname, join } from 'node:path';
import { DATA_FILES } from '../../data-files.ts';
import type { Disk, FileStat } from '../../disk/disk.ts';
import { explainingDirectory, removeTemporaries, writeVolatile } from '../../disk/durable-file.ts';
import { openRegularLater } from '../../disk/system/regular-file.ts';
import { type PageName, parseName } from '../shop/names.ts';
import { systemErrorCode } from '../../errors.ts';

/** Folders of pages; those of lists have a folder for the parts of each list. */
const FOLDERS = ['', 'skus', 'goods', 'categories'];
const LISTS = ['goods', 'categories'];

/** The parts of a list after the first, by the name of one of them. */
const PART_FOLDER = /^((?:goods|categories)\/\d+|index)\/\d+\.html$/;

/** Where earlier versions put the parts of the sitemap. No start renews these files any more. */
const FORMER_SITEMAPS = 'sitemaps';
const FORMER_SITEMAP = /^(?:skus|goods|categories)-\d+\.xml$/;

export class PageFiles {
  readonly #disk: Disk;
  readonly #directory: string;

  constructor(disk: Disk, dataDirectory: string) {
    this.#disk = disk;
    this.#directory = join(dataDirectory, DATA_FILES.pages);
  }

  /** Makes the folders. */
  prepare(): void {
    for (const folder of FOLDERS) this.#disk.mkdir(this.#path(folder));
  }

  /** The bytes of a page; null if there is no file. */
  bytes(name: PageName): Buffer | null {
    return this.#disk.read(this.#path(name));
  }

  stat(name: PageName): FileStat | null {
    return this.#disk.stat(this.#path(name));
  }

  /** Replaces a page. It is not synced: after power loss the next start makes it again. */
  async write(name: PageName, bytes: Uint8Array): Promise<void> {
    const path = this.#path(name);
    if (PART_FOLDER.test(name)) this.#disk.mkdir(dirname(path));
    await writeVolatile(this.#disk, path, bytes);
  }

  /**
   * Removes a page that the shop does not have; its file may be missing already. A list has no
   * parts after a missing one, so the parts after this one are removed as well.
   */
  async remove(name: PageName): Promise<void> {
    const folder = PART_FOLDER.exec(name)?.[1];
    if (folder !== undefined && !this.#isFolder(folder)) return;
    const path = this.#path(name);
    await explainingDirectory(path, this.#disk.unlink(path));
    if (folder === undefined) return;
    const part = numberIn(name);
    for (const other of this.#disk.list(this.#path(folder))) {
      const isLater = parseName(`${folder}/${other}`) !== null && numberIn(other) > part;
      if (isLater) await this.#disk.unlink(this.#path(`${folder}/${other}`));
    }
  }

  /** Names of the pages on the disk. */
  *names(): Generator<PageName> {
    for (const folder of this.#folders()) {
      for (const name of this.#disk.list(this.#path(folder))) {
        const page = folder === '' ? name : `${folder}/${name}`;
        if (parseName(page) !== null) yield page;
      }
    }
  }

  /**
   * Removes half-written files of a killed run, and files of earlier versions. Only the holder of
   * the pages' lock may call it.
   */
  async sweep(): Promise<void> {
    for (const folder of this.#folders()) {
      await removeTemporaries(this.#disk, this.#path(folder));
    }
    const former = this.#disk.list(this.#path(FORMER_SITEMAPS));
    for (const name of former.filter((each) => FORMER_SITEMAP.test(each))) {
      await this.#disk.unlink(this.#path(`${FORMER_SITEMAPS}/${name}`));
    }
  }

  /**
   * A file as it is served; null if there is no such file.
   *
   * @returns `named`: when it got the name, in milliseconds since the epoch.
   */
  async read(name: PageName): Promise<{ body: Uint8Array; named: number } | null> {
    if (parseName(name) === null) return null;
    let file: Awaited<ReturnType<typeof openRegularLater>>;
    try {
      file = await openRegularLater(this.#path(name));
    } catch (error) {
      if (systemErrorCode(error) === 'ENOENT') return null;
      throw error;
    }
    try {
      // One open file: body and time belong together, even if the file is replaced meanwhile.
      return { named: (await file.stat()).ctimeMs, body: await file.readFile() };
    } finally {
      await file.close();
    }
  }

  *#folders(): Generator<string> {
    yield* FOLDERS;
    const lists = LISTS.flatMap((list) => {
      const numbers = this.#disk.list(this.#path(list)).filter((name) => /^\d+$/.test(name));
      return numbers.map((number) => `${list}/${number}`);
    });
    for (const folder of ['index', ...lists]) if (this.#isFolder(folder)) yield folder;
  }

  /** Whether parts of a list can be there: somebody else's file may have the name of the folder. */
  #isFolder(folder: string): boolean {
    try {
      this.#disk.list(this.#path(folder));
      return true;
    } catch (error) {
      if (systemErrorCode(error) === 'ENOTDIR') return false;
      throw error;
    }
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }
}

/** The number of a part, from its file's name. */
function numberIn(name: PageName): number {
  return Number(/\b(\d+)\.html$/.exec(name)?.[1]);
}
