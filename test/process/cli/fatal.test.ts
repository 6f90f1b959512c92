/** A server that cannot continue logs one line and exits with 1 (spec 8.8), for any reader. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { temporaryDirectory } from '../../support/directory.ts';
import { collect, killServers, SECRET, serving } from '../../support/server.ts';
import { ROOT } from '../../support/paths.ts';
import { until } from '../../support/until.ts';

test.after.each(killServers);

/** More than a pipe holds, so that a process that waits for its reader waits for ever. */
const NOISE = `for (let line = 0; line < 1000; line += 1) observability.log.warn('x'.repeat(500));`;

/**
 * Stops the clock by which a process stops waiting for a reader: on a busy machine, one that is
 * started late begins much later.
 */
const WAITS = `performance.now = () => 0;`;

/** Fills a socket, such as that of the systemd journal, and then writes "full" to stdout. */
const FULL_SOCKET = `
  const { libc } = await import(${JSON.stringify(join(ROOT, 'src', 'disk', 'system', 'libc.ts'))});
  const { send } = libc({ send: { args: ['i32', 'buffer', 'u64', 'i32'], returns: 'i64' } });
  const dontWait = 0x40;
  while (send(2, Buffer.from('x\\n'), 2, dontWait) > 0);
  (await import('node:fs')).writeSync(1, 'full');`;

/** Fills the pipe of standard error, and then writes "full" to stdout. */
const FULL_PIPE = `
  const fs = await import('node:fs');
  const pipe = fs.openSync('/proc/self/fd/2', fs.constants.O_WRONLY | fs.constants.O_NONBLOCK);
  try { for (;;) fs.writeSync(pipe, 'x\\n'); } catch (error) { if (error.code !== 'EAGAIN') throw error; }
  fs.writeSync(1, 'full');`;

/** Milliseconds after which the reader is started. */
const LATE_MS = 200;

/** Milliseconds after which a reader counts as one that waits for a process that has ended. */
const HANGS_MS = 60_000;

const ENDS = {
  'the store fails': `observability.onFatal(new Error('it broke'));`,
  'an error is not caught': `setTimeout(() => { throw new Error('it broke'); });`,
  'a rejection is not caught': `void Promise.reject(new Error('it broke'));`,
} as const;

/** Starts a process that fails like a server, and would otherwise run for a minute. */
function start(end: string, level: string, before = NOISE) {
  return spawn(process.execPath, ['-e', programOf(end, level, before)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function programOf(end: string, level: string, before: string): string {
  return `
    import { Observability } from ${JSON.stringify(join(ROOT, 'src', 'app', 'observability.ts'))};
    const observability = new Observability({ logLevel: '${level}', logFormat: 'json', workers: 1 }, 'test');
    process.on('uncaughtException', observability.onFault);
    process.on('unhandledRejection', observability.onFault);
    setTimeout(() => {}, 60_000);
    ${before}
    ${end}`;
}

for (const [name, end] of Object.entries(ENDS)) {
  for (const level of ['warn', 'silent']) {
    test(`if ${name}, the reason is logged at log level ${level}, and the status is 1`, async () => {
      const { status, stderr } = await collect(start(end, level, WAITS + NOISE));
      assert.is(status, 1);
      assert.match(stderr, /\{"level":"error",[^\n]*: it broke; restart the server"\}\n/);
    });
  }

  test(`if ${name}, a late reader of a full pipe gets the line`, async () => {
    const pipe = join(temporaryDirectory(), 'pipe');
    assert.is(spawnSync('mkfifo', [pipe]).status, 0);
    // Opening a FIFO for reading and writing never blocks, and nothing reads what is written.
    const args = ['-c', 'exec 2<>"$0" && exec "$@"', pipe, process.execPath, '-e'];
    const child = spawn('sh', [...args, programOf(end, 'warn', WAITS + FULL_PIPE)], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(child.stdout, 'data');
    await sleep(LATE_MS);
    const reader = spawn('cat', [pipe], { stdio: ['ignore', 'pipe', 'ignore'], timeout: HANGS_MS });
    const { stdout } = await collect(reader);
    assert.match(stdout, /: it broke; restart the server"\}\n/);
  });

  test(`if ${name}, a late reader of a full socket gets the line`, async () => {
    const child = start(end, 'warn', WAITS + FULL_SOCKET);
    const closed = once(child, 'close');
    await once(child.stdout, 'data');
    await sleep(LATE_MS);
    let said = '';
    child.stderr.on('data', (chunk) => (said += chunk));
    const [status] = await closed;
    assert.is(status, 1);
    assert.match(said, /: it broke; restart the server"\}\n/);
  });

  test(`if ${name} and the socket of standard error is closed, the process exits with 1`, async () => {
    const child = start(end, 'warn', FULL_SOCKET);
    await once(child.stdout, 'data');
    child.stderr.destroy();
    const [status] = await once(child, 'exit');
    assert.is(status, 1);
  });

  test(`if ${name} and nothing reads standard error, the process exits with 1`, async () => {
    const child = start(end, 'warn');
    const status = await new Promise((resolve) => child.on('exit', resolve));
    assert.is(status, 1);
    child.stderr.destroy();
  });
}

test('a server and its workers end at a rejection that is not caught, and the log says why', async () => {
  const data = temporaryDirectory();
  const preload = join(data, 'preload.ts');
  const broken = `process.on('SIGUSR2', () => void Promise.reject(new Error('it broke')));`;
  writeFileSync(preload, broken);
  const program = join(ROOT, 'bin', 'catalog-server.ts');
  const store = join(data, 'store');
  const args = [program, 'serve', '--data', store, '--port', '0', '--workers', '2'];
  const env = {
    PATH: process.env['PATH'] ?? '',
    CATALOG_JWT_SECRET: SECRET,
    BUN_OPTIONS: `--preload ${preload}`,
  };
  const server = await serving(
    spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] }),
  );
  const { pid = 0 } = server.child;
  const [worker] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  process.kill(Number(worker), 'SIGUSR2');
  const fault = 'unexpected fault: it broke; restart the server';
  await until('the worker has ended', () => server.said().includes('a worker ended (status 1)'));
  assert.is(server.said().split(fault).length, 2, server.said());
  server.child.kill('SIGUSR2');
  const { status } = await server.finished;
  assert.is(status, 1);
  assert.is(server.said().split(fault).length, 3, server.said());
});

test.run();
