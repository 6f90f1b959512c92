/** A server that cannot go on says so in one line and exits with 1 (spec 8.8), whoever reads it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { collect } from '../../support/server.ts';
import { ROOT } from '../../support/paths.ts';

/** More than a pipe holds, so that whoever waits for its reader waits for ever. */
const NOISE = `for (let line = 0; line < 1000; line += 1) operation.log.warn('x'.repeat(500));`;

/** Fills a socket, as the journal of systemd gives one, until it takes no byte more; says so then. */
const FULL_SOCKET = `
  const { libc } = await import(${JSON.stringify(join(ROOT, 'src', 'disk', 'system', 'libc.ts'))});
  const { send } = libc({ send: { args: ['i32', 'buffer', 'u64', 'i32'], returns: 'i64' } });
  const dontWait = 0x40;
  while (send(2, Buffer.from('x\\n'), 2, dontWait) > 0);
  (await import('node:fs')).writeSync(1, 'full');`;

/** Fills the pipe of standard error, until it takes no byte more. */
const FULL_PIPE = `
  const fs = await import('node:fs');
  const pipe = fs.openSync('/proc/self/fd/2', fs.constants.O_WRONLY | fs.constants.O_NONBLOCK);
  try { for (;;) fs.writeSync(pipe, 'x\\n'); } catch (error) { if (error.code !== 'EAGAIN') throw error; }`;

const ENDS = {
  'the store fails': `operation.fatal(new Error('it broke'));`,
  'nobody catches an error': `setTimeout(() => { throw new Error('it broke'); });`,
  'nobody catches a rejection': `void Promise.reject(new Error('it broke'));`,
} as const;

/** A process that has the failures of a server, and would live on for a minute. */
function start(end: string, level: string, before = NOISE) {
  return spawn(process.execPath, ['-e', programOf(end, level, before)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function programOf(end: string, level: string, before: string): string {
  return `
    import { Operation } from ${JSON.stringify(join(ROOT, 'src', 'app', 'operation.ts'))};
    const operation = new Operation({ logLevel: '${level}', logFormat: 'json' }, 'test');
    process.on('uncaughtException', operation.onFault);
    process.on('unhandledRejection', operation.onFault);
    setTimeout(() => {}, 60_000);
    ${before}
    ${end}`;
}

for (const [name, end] of Object.entries(ENDS)) {
  for (const level of ['warn', 'silent']) {
    test(`if ${name}, a line says why, at the level ${level}`, async () => {
      const { status, stderr } = await collect(start(end, level));
      assert.is(status, 1);
      assert.match(stderr, /\{"level":"error",[^\n]*: it broke; restart the server"\}\n/);
    });
  }

  test(`if ${name}, a reader that is late gets the line`, async () => {
    // It begins to read before the process gives up waiting.
    const shell = `"$0" -e "$1" 2>&1 >&3 | { sleep 1; cat; }`;
    const args = ['-c', `{ ${shell}; } 3>&1`, process.execPath, programOf(end, 'warn', FULL_PIPE)];
    const { stdout } = await collect(spawn('sh', args, { stdio: ['ignore', 'pipe', 'pipe'] }));
    assert.match(stdout, /: it broke; restart the server"\}\n/);
  });

  test(`if ${name}, a reader of a socket that is late gets the line`, async () => {
    const child = start(end, 'warn', FULL_SOCKET);
    const closed = once(child, 'close');
    await once(child.stdout, 'data');
    // It begins to read before the process gives up waiting.
    await sleep(500);
    let said = '';
    child.stderr.on('data', (chunk) => (said += chunk));
    const [status] = await closed;
    assert.is(status, 1);
    assert.match(said, /: it broke; restart the server"\}\n/);
  });

  test(`if ${name} and the reader of a socket has gone, the process ends all the same`, async () => {
    const child = start(end, 'warn', FULL_SOCKET);
    await once(child.stdout, 'data');
    child.stderr.destroy();
    const [status] = await once(child, 'exit');
    assert.is(status, 1);
  });

  test(`if ${name} and nobody reads standard error, the process ends all the same`, async () => {
    const child = start(end, 'warn');
    const status = await new Promise((resolve) => child.on('exit', resolve));
    assert.is(status, 1);
    child.stderr.destroy();
  });
}

test.run();
