/** The machine's disk with something of its own in the steps of the durable write. */
import fs from 'node:fs';
import { type Disk, machineDisk } from '../../src/disk/disk.ts';
import { publish, type Steps } from '../../src/disk/publish.ts';

/** Carries the durable write out here and now, with these steps in the place of the real ones. */
export function publishWith(steps: Partial<Steps>): Disk['publish'] {
  return (job) => Promise.resolve(publish({ ...fs, ...steps }, job));
}

/** A disk that waits for no device. */
export const quickDisk: Disk = {
  ...machineDisk,
  async publish(job) {
    const failure = await publishWith({ fdatasyncSync() {}, fsyncSync() {} })(job);
    await turn();
    return failure;
  },
  fdatasync: turn,
  fsync: turn,
};

/** One turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
