/** Writing a base: whole or not at all, in slices between which requests are served. */
import { dirname } from 'node:path';
import type { Disk } from '../../../disk/disk.ts';
import { DurableFile } from '../../../disk/durable-file.ts';
import { Slice } from '../../../slices.ts';

/**
 * Writes a base document.
 *
 * @param slices its bytes in order, each the work of a fraction of a millisecond, and written
 *   before the next one is requested.
 * @param beforeNaming called with the temporary name of the synced file, and with what `slices`
 *   returned; if it throws, the file is removed.
 * @returns the size in bytes.
 * @throws what `beforeNaming` or the disk throws; then a file at `path` is as before. CatalogError
 *   `durability_unknown`.
 */
export async function writeBase<T>(
  disk: Disk,
  path: string,
  directoryFd: number,
  slices: Generator<Uint8Array, T>,
  beforeNaming: (temporary: string, result: T) => void | Promise<void>,
): Promise<number> {
  const file = await DurableFile.create(disk, dirname(path));
  try {
    let size = 0;
    const pace = new Slice();
    let step = slices.next();
    for (; step.done !== true; step = slices.next()) {
      const slice = step.value;
      file.write(slice);
      size += slice.length;
      if (file.isFlushDue) {
        await file.flush();
        pace.renew();
      } else if (pace.isOver) {
        await pace.next();
      }
    }
    await file.finish();
    await beforeNaming(file.temporary, step.value);
    await file.publish(path, directoryFd);
    return size;
  } catch (error) {
    await file.abandon();
    throw error;
  }
}
