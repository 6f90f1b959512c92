/** The progress of deliveries to webhooks, in `<data>/webhooks/` (spec 14.7). */
import { join } from 'node:path';
import { DATA_FILES } from '../../data-files.ts';
import type { Disk } from '../../disk/disk.ts';
import { makeDirectory, removeTemporaries, replaceFile } from '../../disk/durable-file.ts';
import { readFile } from '../../disk/read-file.ts';
import type { DeliveryStorage } from '../../resources/webhooks/ports.ts';

const STATE = /^(\d+)\.json$/;

/** Removes what an earlier process left half-written. The folder is made when it is needed. */
export async function openDeliveryFiles(disk: Disk, data: string): Promise<DeliveryStorage> {
  const folder = join(data, DATA_FILES.webhooks);
  await removeTemporaries(disk, folder);
  const pathOf = (id: number) => join(folder, `${id}.json`);
  return {
    load: (id) => readFile(disk, pathOf(id))?.toString() ?? null,
    // No other host delivers.
    latest: () => Promise.resolve(null),
    async save(id, { text }) {
      await makeDirectory(disk, folder);
      await replaceFile(disk, pathOf(id), Buffer.from(text));
    },
    forget: (id) => disk.unlink(pathOf(id)),
    nameOf: pathOf,
    ids: () =>
      disk.list(folder).flatMap((name) => {
        const [, id] = STATE.exec(name) ?? [];
        return id === undefined ? [] : [Number(id)];
      }),
  };
}
