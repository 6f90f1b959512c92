/**
 * The descriptors that a log keeps open as long as the store, so that a server without free
 * descriptors can still write, and so that it is known which directory was synced.
 */
import { join } from 'node:path';
import { DATA_FILES } from '../../data-files.ts';
import type { Disk } from '../../disk/disk.ts';
import type { HeadPointer } from '../../disk/publish.ts';
import { CatalogError, messageOf } from '../../errors.ts';

export class Descriptors {
  readonly #disk: Disk;
  readonly #changesPath: string;
  readonly directory: number;
  readonly changes: number;
  /** Open for writing. */
  readonly head: Pick<HeadPointer, 'path' | 'fd'>;

  /** @throws what the disk throws; then nothing stays open. */
  constructor(disk: Disk, directory: string) {
    this.#disk = disk;
    this.#changesPath = join(directory, DATA_FILES.changes);
    const opened: number[] = [];
    const opening = (fd: number) => {
      opened.push(fd);
      return fd;
    };
    try {
      this.directory = opening(disk.open(directory));
      this.changes = opening(disk.open(this.#changesPath));
      const path = join(directory, DATA_FILES.head);
      this.head = { path, fd: opening(disk.openRecord(path)) };
    } catch (error) {
      for (const fd of opened) disk.close(fd);
      throw error;
    }
  }

  /**
   * Change sets are written by path and synced by descriptor. If the directory was replaced
   * meanwhile, the one under the path lacks change sets that were answered, and the sync was of
   * another one.
   *
   * @throws CatalogError `durability_unknown`; what the disk throws.
   */
  requireDirectory(): void {
    if (this.#disk.leadsTo(this.#changesPath, this.changes)) return;
    throw new CatalogError(
      'durability_unknown',
      `${this.#changesPath} was replaced after the store was opened; put the original directory back`,
    );
  }

  /**
   * As {@link Descriptors.requireDirectory}, after a change set is written and can no longer be
   * refused.
   *
   * @throws CatalogError `durability_unknown`.
   */
  requireDirectoryStill(): void {
    try {
      this.requireDirectory();
    } catch (cause) {
      if (cause instanceof CatalogError) throw cause;
      throw new CatalogError(
        'durability_unknown',
        `${this.#changesPath} could not be looked at after a write (${messageOf(cause)}); it is unknown what is in it`,
        { cause },
      );
    }
  }

  /** @param onError receives the failures; everything is closed all the same. */
  async close(onError: (error: unknown) => void): Promise<void> {
    try {
      await this.#disk.fdatasync(this.head.fd);
    } catch (cause) {
      onError(new Error(`${DATA_FILES.head} could not be synced: ${messageOf(cause)}`, { cause }));
    }
    for (const fd of [this.head.fd, this.directory, this.changes]) {
      try {
        this.#disk.close(fd);
      } catch (error) {
        onError(error);
      }
    }
  }
}
