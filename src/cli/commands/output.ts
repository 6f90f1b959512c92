/** What a command writes where the user has named: to a file or to standard output. */
import { lstatSync, realpathSync, statSync, type Stats } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { BASES, isArchiveName, MANIFEST } from '../../archive/names.ts';
import { DATA_FILES, isReserved } from '../../data-files.ts';
import { realPath } from '../../disk/system/real-path.ts';
import { CatalogError, type Code, messageOf } from '../../errors.ts';

/** Names of a file that is open already. Its content would be replaced, also after `>>`. */
const DESCRIPTOR = /^\/(?:dev\/(?:std(?:in|out|err)|fd\/\d+)|proc\/[^/]+\/fd\/\d+)$/;

/** Names that only a directory can have. Without their ends they would become those of files. */
const DIRECTORY = /(?:^|\/)\.{0,2}$/;

/**
 * @param data directory, which may not contain the file.
 * @param code of the failure.
 * @param makes whether the caller creates the directory of the file if it is missing.
 * @returns the path to write, without symbolic links.
 * @throws CatalogError unless the file can be an ordinary one outside of the data directory, and is
 *   not of another store or of an archive.
 */
export function outputPath(file: string, data: string, code: Code, makes = false): string {
  const refuse = (why: string, cause?: unknown) =>
    new CatalogError(code, `${file} ${why}`, { cause });
  if (DESCRIPTOR.test(resolve(file))) {
    throw refuse('names an open file; name another, or "-" for standard output');
  }
  if (DIRECTORY.test(file)) throw refuse('names a directory; name a file');
  let path: string;
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found !== undefined) path = pathOfExisting(file, found, refuse);
    else if (isLink(file)) throw refuse('is a symbolic link to nothing; remove it first');
    else path = pathOfNew(resolve(file), makes);
  } catch (cause) {
    if (cause instanceof CatalogError) throw cause;
    throw refuse(
      `cannot be created, because its directory cannot be used: ${messageOf(cause)}`,
      cause,
    );
  }
  const owned = realpathSync(data);
  if (path.startsWith(owned + sep)) {
    throw refuse(`is in the data directory; name a file outside of ${data}`);
  }
  const other = ownerOf(path);
  if (other !== null) throw refuse(`would be a file of the ${other}; name another`);
  return path;
}

/** @returns the store or the archive that has a file of its own at the path; null if none has. */
function ownerOf(path: string): string | null {
  let entry = path;
  for (let directory = dirname(entry); directory !== entry; directory = dirname(entry)) {
    const name = basename(entry);
    // Every store has a head; a directory of backups may have one named catalog.json.
    if (isReserved(name) && has(directory, DATA_FILES.head)) return `store in ${directory}`;
    // Either alone may be a backup named archive.json, or a directory of backups named bases.
    const isArchive = () => has(directory, MANIFEST) && has(directory, BASES);
    if (isArchiveName(name) && isArchive()) return `archive in ${directory}`;
    entry = directory;
  }
  return null;
}

function has(directory: string, name: string): boolean {
  return statSync(join(directory, name), { throwIfNoEntry: false }) !== undefined;
}

/**
 * @returns the path of a regular file, with its links resolved.
 * @throws what `refuse` returns, for another file and for one that no path leads to.
 */
function pathOfExisting(file: string, found: Stats, refuse: (why: string) => CatalogError): string {
  if (found.isFile()) {
    const path = realpathSync(file);
    const there = statSync(path, { throwIfNoEntry: false });
    // A link to /dev/stdout may lead to a file that has been removed.
    if (there?.ino === found.ino && there.dev === found.dev) return path;
  }
  // A link to /dev/stdout may resolve to a text like pipe:[812], which would become a new file.
  throw refuse('is not a regular file; name another, or "-" for standard output');
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/** @returns a path that does not exist, with the links in its directories resolved. */
function pathOfNew(path: string, makes: boolean): string {
  return makes ? realPath(path) : join(realpathSync(dirname(path)), basename(path));
}

/**
 * Runs `write`, and says what could not be written if the disk or a pipe refuses it.
 *
 * @param what is written, such as "the backup".
 * @param target a path, or "standard output".
 * @throws CatalogError with the code; another CatalogError as it is.
 */
export async function writeOutput(
  what: string,
  target: string,
  code: Code,
  write: () => Promise<void>,
): Promise<void> {
  try {
    await write();
  } catch (cause) {
    if (cause instanceof CatalogError) throw cause;
    throw new CatalogError(code, `${what} could not be written to ${target}: ${messageOf(cause)}`, {
      cause,
    });
  }
}
