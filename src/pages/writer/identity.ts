/** What the machine and the program are called, so that a manifest can tell them from others. */
import { join } from 'node:path';
import type { Disk } from '../../disk/disk.ts';

/** Linux gives every boot of the machine another id (random(4)). */
const BOOT_ID = '/proc/sys/kernel/random/boot_id';

/** Folders whose files decide what a page looks like, from this one. */
const SOURCES = ['../shop', '../writer', '../../../templates'];

/** Names the boot of the machine; null on systems that do not say. */
export function bootOf(disk: Disk): string | null {
  return disk.read(BOOT_ID)?.toString().trim() ?? null;
}

/**
 * Names this build of the program: another build may make other pages from the same rows. It
 * changes too often rather than too rarely; then all pages are rendered and compared once.
 */
export function programOf(disk: Disk): string {
  const files = Bun.isStandaloneExecutable
    ? [process.execPath]
    : SOURCES.flatMap((folder) => filesIn(disk, folder));
  return JSON.stringify([Bun.version, files.map((path) => disk.stat(path))]);
}

function filesIn(disk: Disk, folder: string): string[] {
  const directory = join(import.meta.dir, folder);
  return disk
    .list(directory)
    .toSorted()
    .map((name) => join(directory, name));
}
