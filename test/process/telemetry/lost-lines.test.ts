/** Which lines of the log count as lost. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ROOT } from '../../support/paths.ts';

/** A device of Linux that takes nothing, as a full disk. */
const FULL = '/dev/full';

/** Writes lines, each at once, and others together. Some of these do not fit into the buffer. */
const WRITE_LINES = `
  for await (const _ of process.stdin);
  const { Log } = await import(process.argv[1]);
  const log = new Log({ level: 'info', format: 'json', terminal: false, stacks: false });
  const [alone, together, length] = JSON.parse(process.argv[2]);
  for (let line = 0; line < alone; line += 1) {
    log.warn('a warning');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  for (let line = 0; line < together; line += 1) log.info('x'.repeat(length));
  await log.close();
  console.log(log.lost);
`;

/** @returns the number of lines that count as lost. */
async function lostTo(
  stderr: number | 'gone',
  alone: number,
  together: number,
  length = 1,
): Promise<number> {
  const settings = JSON.stringify([alone, together, length]);
  const args = ['-e', WRITE_LINES, join(ROOT, 'src', 'telemetry', 'log.ts'), settings];
  const child = spawn(process.execPath, args, {
    stdio: ['pipe', 'pipe', stderr === 'gone' ? 'pipe' : stderr],
  });
  const { stdin, stdout } = child;
  assert.ok(stdin !== null && stdout !== null);
  if (child.stderr !== null) await once(child.stderr.destroy(), 'close');
  stdin.end();
  return Number(await text(stdout));
}

test('if the reader of the log has ended, every line counts as lost once', async () => {
  assert.is(await lostTo('gone', 5, 20), 25);
  assert.is(await lostTo('gone', 5, 20, 100_000), 25, 'the last ones do not fit into the buffer');
});

(existsSync(FULL) ? test : test.skip)(
  'while the disk of the log is full, only lines that do not fit into the buffer are lost',
  async () => {
    const full = openSync(FULL, 'w');
    assert.is(await lostTo(full, 5, 20), 0);
    const lost = await lostTo(full, 5, 20, 100_000);
    assert.ok(lost > 5 && lost < 20, `${lost} lines`);
  },
);

test.run();
