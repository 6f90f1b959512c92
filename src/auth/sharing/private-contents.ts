/**
 * The three secret files of a data directory besides its store: accounts and revocations, the
 * signing keys, the key of webhooks. Backups, archives and other hosts have copies of them. All
 * files of a copy are validated, as at a start, before the first one is written.
 */
import { DATA_FILES } from '../../data-files.ts';
import type { Disk } from '../../disk/disk.ts';
import { type FileContent, readWithMode } from '../../disk/watched-file.ts';
import { parseChecked } from '../../json/checksum.ts';
import { readAccess } from '../access.ts';
import { readKeys } from '../keys.ts';
import {
  PRIVATE_NAMES,
  privateFile,
  type PrivateName,
  readPrivate,
  writePrivate,
} from '../private-file.ts';
import { readWebhookKey } from '../webhook-key.ts';

/** The contents of the existing files, by their names. */
export type PrivateContents = Readonly<Partial<Record<PrivateName, object>>>;

/** Each reads and validates a file. @throws CatalogError `access_file`, `key_file`. */
const READERS: Readonly<
  Record<PrivateName, (path: string, read: () => FileContent | null) => unknown>
> = {
  [DATA_FILES.access]: readAccess,
  [DATA_FILES.keys]: readKeys,
  [DATA_FILES.webhookKey]: readWebhookKey,
};

/**
 * @param path of the file; for messages only if `read` is given.
 * @param read returns the bytes and the mode of the file.
 * @returns the content of the file, without its checksum; null if there is no file.
 * @throws CatalogError `access_file`, `key_file` if a start would refuse the file.
 */
export function judge(
  name: PrivateName,
  path: string,
  read: () => FileContent | null = () => readWithMode(path),
): object | null {
  let content: FileContent | null = null;
  READERS[name](path, () => (content = read()));
  return parsed(content);
}

function parsed(content: FileContent | null): object | null {
  return content === null ? null : (parseChecked(content.bytes) as object);
}

/**
 * @param from the origin of the contents, for messages: `in backup.json`.
 * @param contents null or undefined for files that do not exist.
 * @returns the contents of the files that exist.
 * @throws CatalogError `access_file`, `key_file` if a start would refuse one of them.
 */
export function judged(
  from: string,
  contents: Readonly<Partial<Record<PrivateName, unknown>>>,
): PrivateContents {
  const found: Partial<Record<PrivateName, object>> = {};
  for (const name of PRIVATE_NAMES) {
    const content = contents[name] ?? null;
    if (content === null) continue;
    const bytes = Buffer.from(JSON.stringify(content));
    const judgedContent = judge(name, `${name} ${from}`, () => ({ bytes, mode: 0o600 }));
    if (judgedContent !== null) found[name] = judgedContent;
  }
  return found;
}

/**
 * @returns the contents that the files of a directory do not have. A file that cannot be read, or
 *   that others can read, counts as one with another content.
 */
export function changedContents(directory: string, contents: PrivateContents): PrivateContents {
  const changed: Partial<Record<PrivateName, object>> = {};
  for (const name of PRIVATE_NAMES) {
    const content = contents[name];
    if (content !== undefined && !isStored(directory, name, content)) changed[name] = content;
  }
  return changed;
}

function isStored(directory: string, name: PrivateName, content: object): boolean {
  try {
    const stored = readPrivate(privateFile(directory, name));
    return JSON.stringify(stored?.json) === JSON.stringify(content);
  } catch {
    return false;
  }
}

/** Writes files, each durably, and replaces existing ones. @throws as {@link writePrivate}. */
export async function writeContents(
  disk: Disk,
  directory: string,
  contents: PrivateContents,
): Promise<void> {
  for (const name of PRIVATE_NAMES) {
    const content = contents[name];
    if (content !== undefined) await writePrivate(disk, privateFile(directory, name), content);
  }
}
