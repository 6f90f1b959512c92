/** The age of the last backup among the metrics. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Metrics } from '../../../src/telemetry/metrics.ts';

/** The lines with the age. */
async function ageLines(lastBackup: () => number | null): Promise<string[]> {
  const zero = () => 0;
  const metrics = new Metrics('test', {
    rows: () => [],
    size: () => ({ base: 0, changes: 0 }),
    waiting: zero,
    pages: zero,
    oldestPage: zero,
    hosts: { followers: () => 0, following: () => null },
    changes: () => ({ open: 0, delivered: 0, failed: 0, failing: 0, lag: 0 }),
    connections: zero,
    ready: () => true,
    memoryLimit: 0,
    memoryScarce: () => false,
    bodyMemory: zero,
    lastBackup,
    logLinesLost: zero,
  });
  const text = await metrics.text();
  return text.split('\n').filter((line) => line.startsWith('catalog_backup_age_seconds'));
}

test('the age of the last backup is in seconds', async () => {
  const [line = ''] = await ageLines(() => Date.now() - 90_000);
  const age = Number(line.split(' ')[1]);
  assert.ok(age >= 90 && age < 600, line);
});

test('without a backup, and if its time cannot be read, there is no value', async () => {
  assert.equal(await ageLines(() => null), []);
  assert.equal(
    await ageLines(() => {
      throw new Error('no JSON');
    }),
    [],
  );
});

test.run();
