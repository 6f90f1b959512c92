/** spec 15.18 and 8.9: servers with workers that stop before they serve. */
import { spawn } from 'node:child_process';
import cluster from 'node:cluster';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { FromWorker } from '../../../src/app/workers/messages.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { PROGRAM, ROOT } from '../../support/paths.ts';
import { freePorts } from '../../support/ports.ts';
import { collect, runCommand, SECRET } from '../../support/server.ts';
import { until } from '../../support/until.ts';

test('a worker that closes before it is in step never listens', async () => {
  const data = temporaryDirectory();
  await runCommand(['migrate', '--data', data]);
  cluster.setupPrimary({
    exec: join(ROOT, 'bin', 'catalog-server.ts'),
    args: ['serve', '--data', data, '--workers', '2'],
  });
  const [port = 0] = await freePorts(1);
  const worker = cluster.fork({ CATALOG_WORKER_PORT: port, CATALOG_JWT_SECRET: SECRET });
  const kinds: string[] = [];
  worker.on('message', (message: FromWorker) => {
    kinds.push(message.kind);
    // This owner never says that writes wait for the worker.
    if (message.kind === 'applied') worker.send({ kind: 'close' });
  });
  const [status] = await once(worker, 'exit');
  assert.is(status, 0);
  assert.ok(kinds.includes('applied'));
  assert.not.ok(kinds.includes('listening'));
});

test('a signal to all processes of a server whose workers have just begun ends it in good order', async () => {
  const data = temporaryDirectory();
  await runCommand(['migrate', '--data', data]);
  const env = { PATH: process.env['PATH'] ?? '', CATALOG_JWT_SECRET: SECRET };
  const args = ['serve', '--data', data, '--port', '0', '--workers', '2'];
  const child = spawn(PROGRAM, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const ended = collect(child);
  const { pid = 0 } = child;
  const children = `/proc/${pid}/task/${pid}/children`;
  await until('there is a worker', () => readFileSync(children, 'utf8') !== '');
  // As from systemd, or a terminal.
  process.kill(-pid, 'SIGTERM');
  const { status, stderr } = await ended;
  assert.equal([status, stderr], [0, '']);
});

test.run();
