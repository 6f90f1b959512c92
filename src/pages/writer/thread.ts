/**
 * The program of the pages' thread: it renders, compares and writes at the lowest priority.
 *
 * It carries out calls one after the other, in their order. It is a separate entry point: see
 * `compile` in release/executable.ts.
 */
// oxlint-disable-next-line import/no-unassigned-import -- it has to run before the others load
import './lowest-priority.ts';
import { blockingDisk } from '../../disk/disk.ts';
import { exchangingDisk } from '../../disk/rename-exchange.ts';
import { messageOf } from '../../errors.ts';
import { createWriter } from './create-writer.ts';
import type { PageMaker } from './page-writer.ts';
import type { Call, Reply, Setup } from './protocol.ts';

let setup: Setup | null = null;
let writer: PageMaker | null = null;
let last: Promise<void> = Promise.resolve();

/** Makes the writer at the first call: reading the disk may fail, and succeed at a later call. */
function ready(): PageMaker {
  if (setup === null) throw new Error('the thread was not set up');
  writer ??= createWriter(exchangingDisk(blockingDisk), setup.dataDirectory, setup.settings);
  return writer;
}

async function handle({ id, method, args }: Call): Promise<void> {
  let reply: Reply;
  try {
    const maker = ready();
    const run = maker[method] as (...values: readonly unknown[]) => Promise<unknown>;
    reply = { id, value: await run.apply(maker, args) };
  } catch (error) {
    reply = { id, error: messageOf(error) };
  }
  postMessage(reply);
}

addEventListener('message', ({ data }: MessageEvent<Setup | Call>) => {
  if ('settings' in data) setup = data;
  else last = last.then(() => handle(data));
});
