/** How the owner of a data directory starts and ends a worker, and learns of its end. */
import cluster, { type Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { WorkerPort } from '../../../src/app/workers/member.ts';
import type { FromWorker } from '../../../src/app/workers/messages.ts';
import { startWorker } from '../../../src/app/workers/worker-process.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { until } from '../../support/until.ts';

const { argv } = process;
const { fork } = cluster;

test.after.each(() => {
  process.argv = argv;
  cluster.fork = fork;
  delete process.env['TOO_LONG'];
});

/** Starts a process with a script in the place of the program. */
function started(script: string): WorkerPort {
  const path = join(temporaryDirectory(), 'worker.mjs');
  writeFileSync(path, script);
  process.argv = ['bun', path];
  return startWorker(1);
}

const endOf = (port: WorkerPort) => new Promise<string>((resolve) => port.onExit(resolve));

/** Resolves with the first message. */
const messageOf = (port: WorkerPort) =>
  new Promise<FromWorker>((resolve) => port.onMessage(resolve));

/** It ends by itself if the test has failed. */
const RUNNING = 'setTimeout(() => {}, 60_000);';

test('a worker is ended even if it handles signals, and the signal is reported', async () => {
  const port = started(
    `process.on('SIGTERM', () => {}); process.send({ kind: 'alive' }); ${RUNNING}`,
  );
  assert.equal(await messageOf(port), { kind: 'alive' });
  port.kill();
  assert.is(await endOf(port), 'SIGKILL');
});

test('the status of a worker that ends by itself is reported', async () => {
  assert.is(await endOf(started('process.exit(3);')), 'status 3');
});

test('a message to a worker that has closed its channel is not an error', async () => {
  const port = started(`process.disconnect(); ${RUNNING}`);
  const worker = Object.values(cluster.workers ?? {}).at(-1);
  await until('the channel is closed', () => worker?.isConnected() === false);
  port.send({ kind: 'close' });
  await new Promise(setImmediate);
  port.kill();
  assert.is(await endOf(port), 'SIGKILL');
});

test('a worker that cannot be started counts as ended', async () => {
  // More than a variable may have.
  process.env['TOO_LONG'] = 'x'.repeat(256 * 1024);
  assert.match(await endOf(started(RUNNING)), /^it could not be started: E2BIG/);
  // Of some errors the runtime reports an event: if no file descriptor is free, for example.
  const worker = new EventEmitter() as Worker;
  cluster.fork = () => worker;
  const end = endOf(startWorker(1));
  worker.emit('error', new Error('EMFILE: too many open files, socketpair'));
  assert.is(await end, 'it could not be started: EMFILE: too many open files, socketpair');
});

test.run();
