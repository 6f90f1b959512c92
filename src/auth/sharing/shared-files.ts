/**
 * Accounts, revocations and keys that several hosts share. Each host has them in its files, as
 * copies: {@link SharedFiles.push} changes the original first.
 */
import type { Disk } from '../../disk/disk.ts';
import { CatalogError, endsWriting } from '../../errors.ts';
import { type PrivateFile, writePrivate } from '../private-file.ts';

export interface SharedFiles {
  /**
   * Brings the files in step with the original. The caller holds the lock of the directory.
   *
   * @throws CatalogError `log_unavailable`, and as {@link writePrivate}.
   */
  pull(): Promise<void>;
  /**
   * Changes the original of one file, unless another host has changed one since the last
   * {@link SharedFiles.pull}.
   *
   * @throws CatalogError `busy` if another host was first, `log_unavailable` if nothing was changed,
   *   `write_unknown` if that is not known.
   */
  push(file: PrivateFile, content: object): Promise<void>;
  /** @throws CatalogError `log_unavailable` if the files may be older than the stated seconds. */
  requireConfirmed(): void;
}

/**
 * Changes a file, and before it the original if the file is a copy.
 *
 * @throws CatalogError as {@link SharedFiles.push} and {@link writePrivate}; `write_unknown` if the
 *   original was changed and the copy could not be.
 */
export async function changeFile(
  disk: Disk,
  file: PrivateFile,
  content: object,
  shared: SharedFiles | undefined,
): Promise<void> {
  await shared?.push(file, content);
  try {
    await writePrivate(disk, file, content);
  } catch (error) {
    if (shared === undefined || endsWriting(error)) throw error;
    throw behind(error);
  }
}

/** The change is made: to say that nothing was would be wrong. The copy follows the original. */
function behind(error: unknown): CatalogError {
  const reason = error instanceof CatalogError ? (error.cause as NodeJS.ErrnoException).code : null;
  return new CatalogError(
    'write_unknown',
    `the change is made on the other hosts, but the disk of this one refused it (${reason ?? 'see its log'}); it takes the change when its disk does`,
    { cause: error },
  );
}
