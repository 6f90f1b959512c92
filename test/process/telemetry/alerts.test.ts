/** The alert rules of docs/monitoring, checked by promtool. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ROOT } from '../../support/paths.ts';

const MONITORING = join(ROOT, 'docs', 'monitoring');

for (const args of [
  ['check', 'rules', '--lint=all', '--lint-fatal', 'alerts.yml'],
  ['test', 'rules', 'alerts.test.yml'],
]) {
  const name = `promtool ${args.join(' ')}`;
  const judge = () => {
    const { status, stdout, stderr } = spawnSync('promtool', args, {
      cwd: MONITORING,
      encoding: 'utf8',
    });
    assert.is(status, 0, stdout + stderr);
    assert.match(stdout, 'SUCCESS');
  };
  if (Bun.which('promtool') === null)
    test.skip(`${name} (skipped: promtool is not installed)`, judge);
  else test(name, judge);
}

test.run();
