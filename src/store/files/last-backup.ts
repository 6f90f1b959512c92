/** `backup.json` of the data directory: when the last backup was made, for monitoring. */
import { join } from 'node:path';
import * as v from 'valibot';
import { DATA_FILES } from '../../data-files.ts';
import type { Disk } from '../../disk/disk.ts';
import { replaceFile } from '../../disk/durable-file.ts';
import { readFile } from '../../disk/read-file.ts';
import { CatalogError } from '../../errors.ts';
import { FIRST_FAULT } from '../../json/first-fault.ts';

const lastBackup = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    time: v.pipe(v.string(), v.isoTimestamp()),
    sequence: v.pipe(v.number(), v.safeInteger()),
  }),
);

/**
 * Records durably that a backup is complete. The newest one counts, wherever it was stored.
 *
 * @param sequence the last change set in the backup.
 * @throws what the disk throws.
 */
export async function recordBackup(
  disk: Disk,
  directory: string,
  time: Date,
  sequence: number,
): Promise<void> {
  const text = JSON.stringify({ time: time.toISOString(), sequence });
  const path = join(directory, DATA_FILES.backup);
  await replaceFile(disk, path, Buffer.from(`${text}\n`));
}

/**
 * @returns when the last backup was made, in milliseconds since the epoch; null if none was.
 * @throws CatalogError `store_unreadable` if the file is not as it was written or cannot be read.
 */
export function lastBackupTime(disk: Disk, directory: string): number | null {
  const path = join(directory, DATA_FILES.backup);
  const bytes = readFile(disk, path);
  if (bytes === null) return null;
  const parsed = v.safeParse(lastBackup, bytes.toString(), FIRST_FAULT);
  if (parsed.success) return Date.parse(parsed.output.time);
  throw new CatalogError(
    'store_unreadable',
    `${path} does not say when the last backup was made; remove it, or make a backup`,
  );
}
