/**
 * The private files of a data directory, which are not in its store: accounts and revocations, the
 * signing keys, the key of the webhooks. With a copy of them another directory accepts the same
 * tokens and logins.
 */
import { join } from 'node:path';
import * as v from 'valibot';
import type { Disk } from '../../disk/disk.ts';
import { WatchedFile } from '../../disk/watched-file.ts';
import { CatalogError, messageOf } from '../../errors.ts';
import { judged, PRIVATE_NAMES, type PrivateName } from '../sharing/private-contents.ts';
import { restoreCredentials } from './credentials.ts';

/** The text of each existing file, by its name. */
const copyShape = v.record(v.picklist(PRIVATE_NAMES), v.string());

/** Watches the files, and reads all of them into one copy. */
export class PrivateFiles {
  readonly #files: readonly (readonly [string, WatchedFile])[];

  /** @param directory the data directory. */
  constructor(directory: string) {
    this.#files = PRIVATE_NAMES.map((name) => [name, new WatchedFile(join(directory, name))]);
  }

  /** Whether a file has changed since the last {@link PrivateFiles.read}. */
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
 * Writes the files of a copy into a data directory, mode 0600. Never replaces a file.
 *
 * @param directory the data directory, which must exist.
 * @param copy what {@link PrivateFiles.read} returned.
 * @returns the names of the files of the copy.
 * @throws CatalogError `access_file`, `key_file` if the copy is damaged; `store_not_empty` if a
 *   file exists with other content, in which case none is written; what the disk throws.
 */
export async function writePrivateFiles(
  disk: Disk,
  directory: string,
  copy: Uint8Array,
): Promise<readonly string[]> {
  const contents = judged('of the archive', parseCopy(copy));
  await restoreCredentials(disk, directory, contents);
  return Object.keys(contents);
}

function parseCopy(copy: Uint8Array): Partial<Record<PrivateName, unknown>> {
  try {
    const json: unknown = JSON.parse(Buffer.from(copy).toString());
    // valibot would accept a list as an object without members.
    if (Array.isArray(json)) throw new Error('it is a list');
    const texts = Object.entries(v.parse(copyShape, json));
    return Object.fromEntries(texts.map(([name, text]) => [name, JSON.parse(text) as unknown]));
  } catch (cause) {
    throw new CatalogError(
      'access_file',
      `the accounts and keys are damaged: ${messageOf(cause)}`,
      { cause },
    );
  }
}
