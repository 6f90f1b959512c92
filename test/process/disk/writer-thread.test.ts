/** The writer thread: it can be started early, does its jobs, and does not keep a process alive. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { temporaryDirectory } from '../../support/directory.ts';
import { ROOT } from '../../support/paths.ts';

/** Runs a program with a writer thread until it exits. */
function run(body: string): void {
  const path = join(ROOT, 'src', 'disk', 'writer-thread.ts');
  const program = `
    import fs from 'node:fs';
    import { WriterThread } from ${JSON.stringify(path)};
    const thread = new WriterThread();
    ${body}`;
  // A program that does not exit fails the test instead of blocking it.
  const options = { encoding: 'utf8', timeout: 60_000 } as const;
  const { status, stderr } = spawnSync(process.execPath, ['-e', program], options);
  assert.is(status, 0, stderr);
}

test('a started writer thread does not keep the process alive, even if it is started twice', () => {
  run('thread.start(); thread.start();');
});

test('a job runs on the thread that was already started', () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'file');
  run(`
    let threads = 0;
    globalThis.Worker = class extends Worker {
      constructor(...given) {
        super(...given);
        threads += 1;
      }
    };
    thread.start();
    const directoryFd = fs.openSync(${JSON.stringify(directory)}, 'r');
    const names = { temporary: ${JSON.stringify(`${path}.tmp`)}, path: ${JSON.stringify(path)} };
    const failure = await thread.publish({ ...names, directoryFd, bytes: Buffer.from('written') });
    if (failure !== null || threads !== 1) throw new Error(JSON.stringify({ failure, threads }));
  `);
  assert.is(readFileSync(path, 'utf8'), 'written');
});

test.run();
