/** The machine's disk with something of its own in the steps of the durable write. */
import fs from 'node:fs';
import { type Disk, machineDisk } from '../../src/disk/disk.ts';
import { type Failure, type Job, publish, type Steps } from '../../src/disk/publish.ts';
import { turn } from './turns.ts';

/** Carries out the durable write in this thread, with these steps instead of the real ones. */
export function publishWith(steps: Partial<Steps>): Disk['publish'] {
  return async (job) => {
    const failure = publish({ ...fs, ...steps }, job);
    // As a real write does, it lets everything else have its turn.
    await turn();
    return failure;
  };
}

/** Carries out the durable write with these steps, and lets everything have its turn around it. */
export async function publishIn(steps: Steps, job: Job): Promise<Failure | null> {
  // As on the writer's thread, nothing is done yet when the call returns.
  await turn();
  const failure = publish(steps, job);
  await turn();
  return failure;
}

/** A disk that waits for no device. */
export const quickDisk: Disk = {
  ...machineDisk,
  publish: publishWith({ fdatasyncSync() {}, fsyncSync() {} }),
  fdatasync: turn,
  fsync: turn,
};

/** A disk that waits for no device, and has no room for what is written while `active` holds. */
export function refusableDisk(refusal: { readonly active: boolean }): Disk {
  const fdatasyncSync = () => {
    if (refusal.active) throw new Error('no space left on device');
  };
  return { ...quickDisk, publish: publishWith({ fdatasyncSync, fsyncSync() {} }) };
}
