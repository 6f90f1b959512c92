/** What was answered survives SIGKILL at any moment; what was not is there whole or not at all. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { crashRounds } from './harness.ts';

/** A whole number from the environment, so that a long run uses the same test. */
function setting(name: string, otherwise: number): number {
  const text = process.env[name];
  return text === undefined ? otherwise : Number.parseInt(text, 10);
}

test('a server killed under concurrent writers comes back with every answered write', async () => {
  const seed = setting('CRASH_SEED', Date.now() % 1_000_000);
  const rounds = setting('CRASH_ROUNDS', 5);
  process.stdout.write(`CRASH_SEED=${seed} CRASH_ROUNDS=${rounds}\n`);
  const report = await crashRounds({ seed, rounds, writers: 12, writes: 600 });
  process.stdout.write(`${report.answered} writes answered, ${report.cutOff} cut off\n`);
  assert.equal(report.violations, []);
  assert.ok(report.answered >= rounds);
  assert.ok(report.cutOff > 0, 'no write was under way at any kill');
});

test.run();
