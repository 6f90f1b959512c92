/** Identifies the boot of the machine and the build of the program, for the manifest. */
import { join } from 'node:path';
import type { Disk } from '../../disk/disk.ts';

/** Linux gives every boot of the machine another id (random(4)). */
const BOOT_ID = '/proc/sys/kernel/random/boot_id';

/** Folders whose files determine what a page looks like, relative to this one. */
const SOURCES = ['../shop', '../render', '../writer', '../..', '../../model', '../../../templates'];

/** Changes with the versions of the packages. */
const PACKAGES = join(import.meta.dir, '../../../package-lock.json');

/** Names the boot of the machine; null on systems that do not provide this. */
export function bootOf(disk: Disk): string | null {
  return disk.read(BOOT_ID)?.toString().trim() ?? null;
}

/**
 * Names this build of the program, since another build may make other pages from the same rows. It
 * may change when pages do not; all pages are then rendered and compared once.
 */
export function programOf(disk: Disk): string {
  const files = Bun.isStandaloneExecutable
    ? [process.execPath]
    : [...SOURCES.flatMap((folder) => filesIn(disk, folder)), PACKAGES];
  return JSON.stringify([Bun.version, files.map((path) => disk.stat(path))]);
}

function filesIn(disk: Disk, folder: string): string[] {
  const directory = join(import.meta.dir, folder);
  return disk
    .list(directory)
    .toSorted()
    .map((name) => join(directory, name));
}
