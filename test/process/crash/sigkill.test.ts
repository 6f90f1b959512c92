/** Answered writes survive SIGKILL at any moment; others are there completely or not at all. */
import { resolve } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { killServers } from '../../support/server.ts';
import { crashRounds } from './harness.ts';

/** An integer from the environment, so that a long run can use the same test. */
function setting(name: string, otherwise: number): number {
  const text = process.env[name];
  return text === undefined ? otherwise : Number.parseInt(text, 10);
}

test.after(killServers);

test('a server killed under concurrent writers has every answered write after a restart', async () => {
  const seed = setting('CRASH_SEED', Date.now() % 1_000_000);
  const rounds = setting('CRASH_ROUNDS', 6);
  const binary = process.env['CRASH_BINARY'];
  process.stdout.write(`CRASH_SEED=${seed} CRASH_ROUNDS=${rounds} CRASH_BINARY=${binary ?? ''}\n`);
  const started = performance.now();
  const { answered, cutOff, checkpoints, withinCheckpoint, violations } = await crashRounds({
    seed,
    rounds,
    writers: 12,
    readers: 2,
    writes: 600,
    binary: binary ? resolve(binary) : undefined,
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  process.stdout.write(
    `${rounds} kills in ${seconds} s, ${withinCheckpoint} within a checkpoint; ` +
      `${answered} writes answered, ${cutOff} cut off, ${checkpoints} checkpoints seen\n`,
  );
  assert.equal(violations, []);
  assert.ok(answered >= rounds);
  assert.ok(cutOff > 0, 'no write was under way at any kill');
  assert.ok(rounds < 3 || checkpoints > 0, 'there was no checkpoint');
});

test.run();
