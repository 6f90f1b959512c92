/** spec 14.7: the ids of messages, by which receivers recognise repetitions. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { messagesOf } from '../../../../src/resources/webhooks/message.ts';
import type { Webhook } from '../../../../src/resources/webhooks/ports.ts';
import type { ChangeSet } from '../../../../src/store/change-set.ts';
import { WEBHOOK } from '../../../support/webhooks.ts';

const CHANGE_SET: ChangeSet = {
  sequence: 7,
  previous: '',
  digest: '',
  time: '2026-01-01T00:00:00.000Z',
  last_ids: {},
  put: { brands: [{ id: 1, name: 'A', logo: '', first_letter: '' }] },
  delete: {},
};

async function idOf(webhook: Partial<Webhook>, changeSet: Partial<ChangeSet>): Promise<string> {
  const messages = messagesOf({ ...WEBHOOK, ...webhook }, { ...CHANGE_SET, ...changeSet }, null);
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
