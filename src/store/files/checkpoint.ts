/**
 * A new base in the background.
 *
 * Order of steps: write the base under a temporary name, in slices that yield to requests; sync,
 * rename, sync the directory; only then remove the change sets that it contains. A crash between
 * any two leaves either the old base with every change set, or the new base with some change sets
 * too many, which the next start removes.
 */
import { dirname, join } from 'node:path';
import type { Disk } from '../../disk/disk.ts';
import { DurableFile } from '../../disk/durable-file.ts';
import { baseSlices } from './base.ts';
import type { Snapshot } from '../state.ts';
import { BASE } from './files.ts';

/** Bytes handed to the device at once, so that one long sync does not hold up the commits' own. */
const FLUSH_BYTES = 4 * 1024 * 1024;

/**
 * @param covered names of the change sets that the snapshot contains.
 * @returns the size of the new base in bytes; rejects where the old one stays.
 */
export async function checkpoint(
  disk: Disk,
  directory: string,
  directoryFd: number,
  snapshot: Snapshot,
  covered: readonly string[],
): Promise<number> {
  const bytes = await writeBase(disk, join(directory, BASE), directoryFd, snapshot);
  for (const name of covered) await disk.unlink(join(directory, name));
  return bytes;
}

/**
 * Writes a base document, whole or not at all, yielding to the event loop between slices.
 *
 * @param verify judges the synced file under its temporary name, and throws to have it removed.
 * @returns its size in bytes.
 */
export async function writeBase(
  disk: Disk,
  path: string,
  directoryFd: number,
  snapshot: Snapshot,
  verify?: (temporary: string) => void,
): Promise<number> {
  const file = await DurableFile.create(disk, dirname(path));
  try {
    let size = 0;
    let unflushed = 0;
    for (const slice of baseSlices(snapshot)) {
      file.write(slice);
      size += slice.length;
      unflushed += slice.length;
      if (unflushed >= FLUSH_BYTES) {
        unflushed = 0;
        await file.flush();
      } else {
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    await file.finish();
    verify?.(file.temporary);
    await file.publish(path, directoryFd);
    return size;
  } catch (error) {
    await file.abandon();
    throw error;
  }
}
