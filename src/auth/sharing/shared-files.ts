/**
 * Accounts, revocations and keys that several hosts share. Each host has them in its files, as
 * copies: {@link SharedFiles.push} changes the original first.
 */
import type { PrivateFile } from '../private-file.ts';

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
