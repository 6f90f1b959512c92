/** spec 14.7: the ids of messages, by which receivers recognise repetitions. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { messagesOf } from '../../../../src/resources/webhooks/message.ts';
import type { Webhook } from '../../../../src/resources/webhooks/ports.ts';
import type { ChangeRun } from '../../../../src/resources/webhooks/shared-changes.ts';
import { WEBHOOK } from '../../../support/webhooks.ts';

const RUN: ChangeRun = {
  sequence: 7,
  time: '2026-01-01T00:00:00.000Z',
  resource: 'brands',
  texts: ['{}'],
  length: 4,
};

async function* runsOf(changeSet: Partial<ChangeRun>) {
  yield { ...RUN, ...changeSet };
}

async function idOf(webhook: Partial<Webhook>, changeSet: Partial<ChangeRun>): Promise<string> {
  const messages = messagesOf({ ...WEBHOOK, ...webhook }, runsOf(changeSet), null);
  for await (const { id } of messages) return id;
  throw new Error('there is no message');
}

test('a message has the same id at every attempt, to whichever address', async () => {
  const id = await idOf({}, {});
  assert.match(id, /^msg_1_7_[0-9a-f]{12}_1$/);
  assert.is(await idOf({}, {}), id);
  assert.is(await idOf({ url: 'https://other.example/' }, {}), id);
});

test('after a restore, the same numbers of other webhooks and change sets make other ids', async () => {
  const later = '2026-01-01T00:00:00.001Z';
  const ids = [
    await idOf({}, {}),
    await idOf({ id: 2 }, {}),
    await idOf({ created: later }, {}),
    await idOf({ resources: '["brands"]' }, {}),
    await idOf({}, { sequence: 8 }),
    await idOf({}, { time: later }),
  ];
  assert.is(new Set(ids).size, ids.length, ids.join());
});

test.run();
