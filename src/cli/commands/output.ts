/** What a command writes where the user has named: to a file or to standard output. */
import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { CatalogError, type Code, messageOf } from '../../errors.ts';

/**
 * @param data directory, which may not contain the file.
 * @param code of the failure.
 * @param makes whether the caller creates the directory of the file if it is missing.
 * @returns the path to write, without symbolic links.
 * @throws CatalogError unless the file can be an ordinary one outside of the data directory.
 */
export function outputPath(file: string, data: string, code: Code, makes = false): string {
  const refuse = (why: string, cause?: unknown) =>
    new CatalogError(code, `${file} ${why}`, { cause });
  let path: string;
  try {
    path = existsSync(file) ? realpathSync(file) : pathOfNew(resolve(file), makes);
  } catch (cause) {
    throw refuse(
      `cannot be created, because its directory cannot be used: ${messageOf(cause)}`,
      cause,
    );
  }
  if (existsSync(path) && !statSync(path).isFile()) {
    throw refuse('is not a regular file; name another, or "-" for standard output');
  }
  const owned = realpathSync(data);
  if (path.startsWith(owned + sep)) {
    throw refuse(`is in the data directory; name a file outside of ${data}`);
  }
  return path;
}

/** @returns a path that does not exist, with the links in its directories resolved. */
function pathOfNew(path: string, makes: boolean): string {
  const directory = dirname(path);
  const above =
    makes && !existsSync(directory) ? pathOfNew(directory, makes) : realpathSync(directory);
  return join(above, basename(path));
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
