/**
 * Accounts, revocations and keys that several hosts share. The files of each host are copies;
 * {@link SharedFiles.push} changes the original first.
 */
import type { Disk } from '../../disk/disk.ts';
import { CatalogError, endsWriting, systemErrorCode } from '../../errors.ts';
import { type PrivateFile, writePrivate } from '../private-file.ts';

export interface SharedFiles {
  /**
   * Updates the files from the original. The caller holds the lock of the directory.
   *
   * @throws CatalogError `log_unavailable`, and as {@link writePrivate}.
   */
  pull(): Promise<void>;
  /**
   * Changes the original of one file, unless another host has changed a file since the last
   * {@link SharedFiles.pull}.
   *
   * @throws CatalogError `busy` if another host was first, `log_unavailable` if nothing was changed,
   *   `write_unknown` if it is unknown whether it was changed.
   */
  push(file: PrivateFile, content: object): Promise<void>;
  /** @throws CatalogError `log_unavailable` if the files were not confirmed for some seconds. */
  requireConfirmed(): void;
}

/**
 * Changes a file; if the file is a copy, changes the original first.
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

/** The original has changed, so the error must not deny it. The copy will follow the original. */
function behind(error: unknown): CatalogError {
  const code = systemErrorCode((error as Error).cause) ?? 'see its log';
  return new CatalogError(
    'write_unknown',
    `the change was made on the other hosts, but the disk of this host refused it (${code}); this host makes it when its disk accepts writes again`,
    { cause: error },
  );
}
