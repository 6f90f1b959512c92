/** spec 15.18 and 8.9: servers with workers that stop before they serve. */
import { spawn } from 'node:child_process';
import cluster from 'node:cluster';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { FromWorker } from '../../../src/app/workers/messages.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { PROGRAM, ROOT } from '../../support/paths.ts';
import { freePorts } from '../../support/ports.ts';
import { request as rawRequest } from '../../support/raw.ts';
import { collect, runCommand, SECRET } from '../../support/server.ts';
import { until } from '../../support/until.ts';

/** Whether a new process runs the program of a worker already; until then its parent waits for it. */
const isWorker = (pid: number) =>
  readFileSync(`/proc/${pid}/environ`, 'utf8').includes('CATALOG_WORKER_PORT=');

/** Milliseconds of a request, of the 10 seconds in which it has to be answered. */
const BUSY_MS = 3000;

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

test('a start that is stopped answers the requests that the first worker has taken', async () => {
  const data = temporaryDirectory();
  await runCommand(['migrate', '--data', data]);
  const env = { PATH: process.env['PATH'] ?? '', CATALOG_JWT_SECRET: SECRET };
  const [port = 0] = await freePorts(1);
  const args = ['serve', '--data', data, '--port', `${port}`, '--workers', '2'];
  const child = spawn(PROGRAM, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = collect(child);
  try {
    const workers = `/proc/${child.pid}/task/${child.pid}/children`;
    let second = 0;
    await until('there are two workers', () => {
      [, second = 0] = readFileSync(workers, 'utf8').trim().split(' ').map(Number);
      return second !== 0 && isWorker(second);
    });
    process.kill(second, 'SIGSTOP');
    const url = `http://127.0.0.1:${port}`;
    await until('the first one serves', () =>
      fetch(`${url}/healthz`).then(
        () => true,
        () => false,
      ),
    );
    const body = JSON.stringify({ name: 'Half sent', pub_date: '2001-02-03' });
    let text = '';
    const socket = connect(port, '127.0.0.1').on('data', (chunk) => (text += chunk));
    const closed = once(socket, 'close');
    const headers = [`Content-Length: ${body.length}`, 'Expect: 100-continue'];
    socket.write(rawRequest('POST /books/', headers));
    await until('it reads the body', () => text.includes('100 Continue'));
    child.kill('SIGTERM');
    await pause(BUSY_MS);
    socket.write(body);
    await closed;
    assert.match(text, /\r\nHTTP\/1\.1 201 /);
    const { status, stderr } = await ended;
    assert.equal([status, stderr], [0, '']);
  } finally {
    child.kill('SIGKILL');
  }
});

test.run();
