/** Reads that wait for a change set: which ones wait, and how many (spec 15.2). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  AwaitedSequences,
  MAX_DISTANCE,
  MAX_WAITING,
  MAX_WAITING_OF_SUBJECT,
} from '../../../../src/resources/changes/awaited-sequences.ts';
import { ChangeSource } from '../../../../src/resources/changes/change-source.ts';

const LAST = 7;

function open(mayBeBehind = false) {
  const source = new ChangeSource({ sequence: LAST, onCommit() {}, async *since() {} });
  return { source, awaited: new AwaitedSequences(source, mayBeBehind) };
}

const outcomeOf = (wait: Promise<void> | undefined) =>
  Promise.resolve(wait).then(() => 'reached', String);

test('a change set that is there is not waited for; one that is far beyond is refused at once', async () => {
  const { source, awaited } = open();
  assert.is(awaited.reach(LAST, null), undefined);
  assert.is(awaited.reachWrite(LAST), undefined);
  for (const sequence of [LAST + MAX_DISTANCE + 1, Number.MAX_SAFE_INTEGER]) {
    const waiting = awaited.reach(sequence, null);
    assert.is(source.arrivals.size, 0);
    const outcome = await outcomeOf(waiting);
    assert.match(outcome, 'the last one is 7');
    assert.not.match(outcome, String(Number.MAX_SAFE_INTEGER), 'which stands for larger ones');
  }
  const waiting = awaited.reach(LAST + MAX_DISTANCE, null);
  assert.is(source.arrivals.size, 1);
  source.arrivals.close();
  assert.match(await outcomeOf(waiting), 'has not arrived yet');
});

test('a change set is waited for up to a second', async () => {
  const { source, awaited } = open();
  const waits: unknown[] = [];
  source.arrivals.past = async (...wait) => {
    waits.push(wait);
    return false;
  };
  assert.match(await outcomeOf(awaited.reach(LAST + 2, null)), 'has not arrived yet');
  assert.equal(waits, [[LAST + 1, 1000]]);
});

test('a reader that is ahead waits where other processes may have shown more, and only there', async () => {
  const alone = open();
  const passing = alone.awaited.expect(LAST + 1, null);
  assert.is(alone.source.arrivals.size, 0);
  await passing;
  const { source, awaited } = open(true);
  await awaited.expect(LAST, null);
  await awaited.expect(LAST + MAX_DISTANCE + 1, null);
  for (const arrives of [true, false]) {
    const waiting = awaited.expect(LAST + 1, null);
    assert.is(source.arrivals.size, 1);
    if (arrives) await source.arrivals.announce(LAST + 1);
    else source.arrivals.close();
    assert.is(await outcomeOf(waiting), 'reached', 'it resolves in any case');
  }
});

test('one subject, and all requests without a token, get half of the places', async () => {
  const { source, awaited } = open();
  const waits: (Promise<void> | undefined)[] = [];
  const fill = async (subject: string | null) => {
    for (let nth = 0; nth < MAX_WAITING_OF_SUBJECT; nth += 1) {
      waits.push(awaited.reach(LAST + 1, subject));
    }
    assert.match(await outcomeOf(awaited.reach(LAST + 1, subject)), 'too many requests');
  };
  await fill(null);
  await fill('ann');
  assert.is(source.arrivals.size, MAX_WAITING);
  assert.match(await outcomeOf(awaited.reach(LAST + 1, 'bob')), 'too many requests');
  waits.push(awaited.reachWrite(LAST + 1));
  assert.is(source.arrivals.size, MAX_WAITING + 1, 'writes have places of their own');
  await source.arrivals.announce(LAST + 1);
  assert.equal(new Set(await Promise.all(waits.map(outcomeOf))), new Set(['reached']));
  const again = awaited.reach(LAST + 1, null);
  assert.is(source.arrivals.size, 1, 'the places were given back');
  source.arrivals.close();
  await outcomeOf(again);
});

test.run();
