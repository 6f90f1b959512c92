/**
 * A server that dies by SIGKILL at each step of a commit, under concurrent writers: what was
 * answered is there when it is started again, and what was not is there whole or not at all.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { killServers } from '../../support/server.ts';
import { checked, dieServing, prepare, recover, traceServing } from './serving.ts';
import { deathsAt, describeDeath, hasMade, withoutTwins } from './steps.ts';

const COMMIT = [
  'create change set',
  'write change set',
  'sync change set',
  'close change set',
  'link change set',
  'unlink change set',
  'sync changes',
  'write head record',
];

/** The commit in which a victim dies. */
const NTH = 10;

const prepared = await prepare();
const { sequence } = checked(prepared.data);

test.after(killServers);

test('a commit makes its steps in this order, and a server makes no others', async () => {
  const commits = await traceServing(prepared, ({ ledger }) => ledger.answered > 100);
  assert.ok(commits.length > NTH * COMMIT.length);
  for (let at = 0; at < commits.length; at += COMMIT.length) {
    assert.equal(commits.slice(at, at + COMMIT.length), COMMIT);
  }
});

for (const death of withoutTwins(deathsAt(COMMIT, NTH))) {
  test(`a commit, killed ${describeDeath(death)}`, async () => {
    const left = await dieServing(prepared, death);
    const appeared = hasMade(COMMIT, 'link change set', { ...death, nth: 1 });
    assert.is(checked(left.data).sequence, sequence + (appeared ? NTH : NTH - 1));
    await recover(left);
  });
}

test.run();
