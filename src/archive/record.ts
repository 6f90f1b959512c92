/**
 * Records in `archive.json` of a data directory which archive it is written to. This proves that
 * both have one history even if the archive fell behind further than the store keeps its history.
 */
import { join } from 'node:path';
import * as v from 'valibot';
import { DATA_FILES } from '../data-files.ts';
import type { Disk } from '../disk/disk.ts';
import { replaceFile } from '../disk/durable-file.ts';
import { readFile } from '../disk/read-file.ts';
import { CatalogError, messageOf } from '../errors.ts';
import { parseChecked, withChecksum } from '../json/checksum.ts';
import { FIRST_FAULT } from '../json/first-fault.ts';

const shape = v.object({ archive: v.string() });

export interface ArchiveRecord {
  /**
   * @returns the id of the archive; null if the directory was never archived.
   * @throws CatalogError `archive_failed` if the file cannot be read, `archive_refused` if it is
   *   damaged.
   */
  read(): string | null;
  /** @throws CatalogError `write_refused`, `durability_unknown`. */
  write(id: string): Promise<void>;
}

/** @param directory the data directory. */
export function archiveRecord(disk: Disk, directory: string): ArchiveRecord {
  const path = join(directory, DATA_FILES.archive);
  return {
    read() {
      const bytes = readFile(disk, path, 'archive_failed');
      if (bytes === null) return null;
      try {
        return v.parse(shape, parseChecked(bytes), FIRST_FAULT).archive;
      } catch {
        throw new CatalogError(
          'archive_refused',
          `${path} is damaged; remove it to have the archive compared with the store again`,
        );
      }
    },
    async write(archive) {
      const { bytes } = withChecksum({ archive });
      try {
        await replaceFile(disk, path, bytes);
      } catch (cause) {
        if (cause instanceof CatalogError) throw cause;
        throw new CatalogError('write_refused', `${path} cannot be written: ${messageOf(cause)}`, {
          cause,
        });
      }
    },
  };
}
