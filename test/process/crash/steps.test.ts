/**
 * A server killed by SIGKILL at each step of a commit, under concurrent writers: after a restart
 * every answered write is there, and an unanswered write is there completely or not at all.
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

/** The commit in which the server is killed. */
const NTH = 10;

const prepared = await prepare();
const { sequence } = checked(prepared.data);

test.after(killServers);

test('every commit performs the expected steps in order, and a server performs no others', async () => {
  const commits = await traceServing(prepared, ({ ledger }) => ledger.answered > 100);
  assert.ok(commits.length > NTH * COMMIT.length);
  for (let at = 0; at < commits.length; at += COMMIT.length) {
    assert.equal(commits.slice(at, at + COMMIT.length), COMMIT);
  }
});

for (const death of withoutTwins(deathsAt(COMMIT, NTH))) {
  test(`a server killed in a commit, ${describeDeath(death)}, keeps every answered write`, async () => {
    const left = await dieServing(prepared, death);
    const appeared = hasMade(COMMIT, 'link change set', { ...death, nth: 1 });
    assert.is(checked(left.data).sequence, sequence + (appeared ? NTH : NTH - 1));
    await recover(left);
  });
}

test.run();
