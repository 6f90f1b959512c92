/** docs/performance.md, "Bounds": blocked threads leave others for the requests of clients. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { THREAD_POOL } from '../../../src/app/engine/thread-pool.ts';
import { temporaryDirectory } from '../../support/directory.ts';

/** As many as there are webhooks, and four for archive and hosts. */
const BLOCKED = 104;

/** Opening a pipe without a writer blocks its thread, like a lookup without an answer. */
const PROGRAM = `
  const { open, readFile } = require('node:fs/promises');
  for (let i = 0; i < ${BLOCKED}; i += 1) void open('pipe', 'r').catch(() => {});
  void readFile('file', 'utf8').then((text) => {
    console.log(text);
    process.exit(0);
  });
`;

test('a file can be read while as many threads are blocked as there are calls to other machines', async () => {
  const cwd = temporaryDirectory();
  assert.is(spawnSync('mkfifo', [join(cwd, 'pipe')]).status, 0);
  await Bun.write(join(cwd, 'file'), 'read');
  const { stdout, signal } = spawnSync(process.execPath, ['-e', PROGRAM], {
    cwd,
    env: { ...process.env, ...THREAD_POOL },
    // Only a program that waits for a blocked thread takes this long.
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
  assert.is(signal, null);
  assert.is(stdout.toString(), 'read\n');
});

test.run();
