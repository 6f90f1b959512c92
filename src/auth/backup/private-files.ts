/**
 * The private files of a data directory, which are not in its store: accounts and revocations, the
 * signing keys, the key of the webhooks. With a copy of them another directory accepts the same
 * tokens and logins.
 */
import { join } from 'node:path';
import * as v from 'valibot';
import { readable } from '../../disk/read-file.ts';
import { WatchedFile } from '../../disk/watched-file.ts';
import { CatalogError, messageOf } from '../../errors.ts';
import { parseChecked } from '../../json/checksum.ts';
import { FIRST_FAULT } from '../../json/first-fault.ts';
import { PRIVATE_NAMES, privateFile, type PrivateName } from '../private-file.ts';
import { judge, judged, type PrivateContents } from '../sharing/private-contents.ts';

/** The text of each existing file, by its name. */
const copyShape = v.record(v.picklist(PRIVATE_NAMES), v.string());

/**
 * Watches the files, and reads all of them into one copy.
 *
 * Invariant: a file that a copy has is in every later copy. This program removes none of them, so
 * one that is missing was lost, perhaps with the whole directory, and the copy may be the last one.
 */
export class PrivateFiles {
  readonly #directory: string;
  readonly #files: readonly (readonly [PrivateName, WatchedFile])[];
  /** The files that have been in a copy. */
  readonly #copied = new Set<PrivateName>();

  /** @param directory the data directory. */
  constructor(directory: string) {
    this.#directory = directory;
    this.#files = PRIVATE_NAMES.map((name) => [name, new WatchedFile(join(directory, name))]);
  }

  /** Whether a file has changed since the last {@link PrivateFiles.read}. */
  changed(): boolean {
    return this.#files.some(([, file]) => file.changed());
  }

  /**
   * @returns JSON: the text of each file by its name.
   * @throws CatalogError `access_file`, `key_file` if the content of one is damaged, or one that was
   *   in a copy is missing; what the file system throws.
   */
  read(): Uint8Array {
    // All are read before one is judged: a damaged one is not new until it changes again.
    const contents = this.#files.flatMap(([name, file]) => {
      const content = readable(
        file.path,
        () => file.read(),
        privateFile(this.#directory, name).code,
      );
      return content === null ? [] : [[name, content.bytes] as const];
    });
    for (const [name, bytes] of contents) {
      judge(name, join(this.#directory, name), () => ({ bytes, mode: 0o600 }));
    }
    const found = new Set(contents.map(([name]) => name));
    for (const name of this.#copied) if (!found.has(name)) throw gone(this.#directory, name);
    for (const name of found) this.#copied.add(name);
    const texts = contents.map(([name, bytes]) => [name, bytes.toString()] as const);
    return Buffer.from(JSON.stringify(Object.fromEntries(texts)));
  }

  close(): void {
    for (const [, file] of this.#files) file.close();
  }
}

function gone(directory: string, name: PrivateName): CatalogError {
  const { path, code } = privateFile(directory, name);
  return new CatalogError(
    code,
    `${path} was removed while the server was running; put it back, or restart the server to continue without it`,
  );
}

/**
 * @param copy what {@link PrivateFiles.read} returned.
 * @returns the contents of its files, to be written by `restoreCredentials`.
 * @throws CatalogError `access_file`, `key_file` if the copy is damaged.
 */
export function privateFilesIn(copy: Uint8Array): PrivateContents {
  return judged('of the archive', parseCopy(copy));
}

function parseCopy(copy: Uint8Array): Partial<Record<PrivateName, unknown>> {
  try {
    const json: unknown = JSON.parse(Buffer.from(copy).toString());
    // valibot would accept a list as an object without members.
    if (Array.isArray(json)) throw new Error('it is a list');
    const texts = Object.entries(v.parse(copyShape, json, FIRST_FAULT));
    return Object.fromEntries(texts.map(([name, text]) => [name, parseChecked(Buffer.from(text))]));
  } catch (cause) {
    throw new CatalogError(
      'access_file',
      `the accounts and keys are damaged: ${messageOf(cause)}`,
      { cause },
    );
  }
}
