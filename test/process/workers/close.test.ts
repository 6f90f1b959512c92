/** spec 15.18: a worker serves only once writes wait for it, also if the server stops first. */
import cluster from 'node:cluster';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { FromWorker } from '../../../src/app/workers/messages.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { ROOT } from '../../support/paths.ts';
import { freePorts } from '../../support/ports.ts';
import { runCommand, SECRET } from '../../support/server.ts';

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

test.run();
