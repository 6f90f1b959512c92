/**
 * The files of a data directory that are not in its store: accounts and revocations, the signing
 * keys, the key of the webhooks. A copy of them lets another directory accept the same tokens and
 * logins.
 */
import { join } from 'node:path';
import * as v from 'valibot';
import type { Disk } from '../../disk/disk.ts';
import { withOpen, writeDurably } from '../../disk/durable-file.ts';
import { WatchedFile } from '../../disk/watched-file.ts';
import { CatalogError, messageOf } from '../../errors.ts';

const NAMES = ['access.json', 'keys.json', 'webhook-key.json'] as const;

/** The text of each file that there is, by its name. */
const copyShape = v.partial(
  v.strictObject({
    'access.json': v.string(),
    'keys.json': v.string(),
    'webhook-key.json': v.string(),
  }),
);

/** Watches the files, and reads all of them into one copy. */
export class PrivateFiles {
  readonly #files: readonly (readonly [string, WatchedFile])[];

  /** @param directory the data directory. */
  constructor(directory: string) {
    this.#files = NAMES.map((name) => [name, new WatchedFile(join(directory, name))]);
  }

  /** Whether one of them is another than at the last {@link read}. */
  changed(): boolean {
    return this.#files.some(([, file]) => file.changed());
  }

  /** @returns JSON: the text of each file by its name. @throws what the file system throws. */
  read(): Uint8Array {
    const texts = this.#files.flatMap(([name, file]) => {
      const content = file.read();
      return content === null ? [] : [[name, content.bytes.toString()] as const];
    });
    return Buffer.from(JSON.stringify(Object.fromEntries(texts)));
  }

  close(): void {
    for (const [, file] of this.#files) file.close();
  }
}

/**
 * Writes the files of a copy into a data directory, mode 0600. No file is replaced.
 *
 * @param directory the data directory, which is there.
 * @param copy what {@link PrivateFiles.read} returned.
 * @returns the names of the files of the copy.
 * @throws CatalogError `access_file` if the copy is damaged, another file of the name is there, or
 *   the disk refuses.
 */
export async function writePrivateFiles(
  disk: Disk,
  directory: string,
  copy: Uint8Array,
): Promise<readonly string[]> {
  const texts = parseCopy(copy);
  const names = NAMES.filter((name) => texts[name] !== undefined);
  const isThere = (name: (typeof NAMES)[number]) => {
    const bytes = disk.read(join(directory, name));
    if (bytes === null) return false;
    if (bytes.toString() === texts[name]) return true;
    throw new CatalogError(
      'access_file',
      `${join(directory, name)} is another than that of the archive; move it away`,
    );
  };
  // All are compared before the first is written.
  const missing = names.filter((name) => !isThere(name));
  try {
    await withOpen(disk, directory, async (fd) => {
      for (const name of missing) {
        await writeDurably(disk, join(directory, name), Buffer.from(texts[name] ?? ''), fd);
      }
    });
  } catch (cause) {
    if (cause instanceof CatalogError) throw cause;
    throw new CatalogError(
      'access_file',
      `${directory} did not take the accounts and keys: ${messageOf(cause)}`,
      { cause },
    );
  }
  return names;
}

function parseCopy(copy: Uint8Array): v.InferOutput<typeof copyShape> {
  try {
    const json: unknown = JSON.parse(Buffer.from(copy).toString());
    // valibot would take a list for an object without members.
    if (Array.isArray(json)) throw new Error('it is a list');
    return v.parse(copyShape, json);
  } catch (cause) {
    throw new CatalogError(
      'access_file',
      `the accounts and keys are damaged: ${messageOf(cause)}`,
      {
        cause,
      },
    );
  }
}
