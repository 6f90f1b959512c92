/** At which level a host logs its state towards the shared log. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { ReplicationState } from '../../../../src/hosts/cluster/log-follower.ts';
import { ReplicationStateLogger } from '../../../../src/app/cluster/replication-state-logger.ts';

test('the end of a problem is logged at the level of the problem', () => {
  const lines: string[] = [];
  const log = new ReplicationStateLogger({
    info: (message) => void lines.push(`info ${message}`),
    warn: (message) => void lines.push(`warn ${message}`),
  });
  log.changed('catching up');
  log.changed('in sync');
  log.changed('unreachable');
  log.changed('catching up');
  log.changed('in sync');
  log.changed('catching up');
  const levels = lines.map((line) => line.replace('the log that the hosts share: ', ''));
  assert.equal(levels, [
    'info behind',
    'info in step',
    'warn silent',
    'info behind',
    'warn in step again',
    'info behind',
  ]);
});

test('each state has the word that the guide lists', () => {
  const words = (state: ReplicationState) => {
    const lines: string[] = [];
    const add = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
    new ReplicationStateLogger({ info: add('info'), warn: add('warn') }).changed(state);
    return lines.map((line) => line.replace('the log that the hosts share: ', ''));
  };
  assert.equal(words('in sync'), ['info in step']);
  assert.equal(words('catching up'), ['info behind']);
  assert.equal(words('unreachable'), ['warn silent']);
  assert.equal(words('refusing'), ['warn refusing']);
  assert.equal(words('stopped'), ['warn stopped']);
});

test.run();
