/** spec 15.14: what a host does when it learns of a later epoch. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Disk } from '../../../../src/disk/disk.ts';
import { messageOf } from '../../../../src/errors.ts';
import { HostRole } from '../../../../src/hosts/primary/host-role.ts';
import {
  firstRecord,
  type HostRecord,
  readHostRecord,
  writeHostRecord,
} from '../../../../src/store/hosts/host-record.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { quickDisk, refusableDisk } from '../../../support/disk.ts';

const { history, ...FIRST } = firstRecord();

async function open(record: Partial<HostRecord>, follows = false, disk: Disk = quickDisk) {
  const directory = temporaryDirectory();
  await writeHostRecord(quickDisk, directory, { history, ...FIRST, ...record });
  const messages: string[] = [];
  let refusals = 0;
  const role = new HostRole({
    disk,
    directory,
    store: { refuseWrites: () => void (refusals += 1) },
    follows,
    onSucceeded: (message) => void messages.push(message),
  });
  const stored = () => readHostRecord(quickDisk, directory);
  return { role, stored, messages, refusals: () => refusals };
}

test('a primary that learns of a later epoch stores its number, and refuses writes', async () => {
  const { role, stored, messages, refusals } = await open({});
  await role.learn({ history, number: 1 });
  await role.learn({ history: '0'.repeat(32), number: 9 });
  assert.is(refusals(), 0);
  await Promise.all([role.learn({ history, number: 3 }), role.learn({ history, number: 3 })]);
  assert.is(stored()?.role, 'succeeded');
  assert.is(stored()?.latest, 3);
  assert.is(refusals(), 1);
  assert.is(messages.length, 1);
});

test('a primary whose disk refuses the later epoch refuses writes, and stores it when told again', async () => {
  const refusal = { active: true };
  const { role, stored, messages, refusals } = await open({}, false, refusableDisk(refusal));
  for (let each = 0; each < 2; each += 1) {
    assert.match(String(await role.learn({ history, number: 3 }).catch(messageOf)), 'no space');
    assert.equal([refusals(), messages.length], [1, 1]);
    assert.is(role.reason(), 'another host is the primary now');
  }
  refusal.active = false;
  await role.learn({ history, number: 3 });
  assert.is(stored()?.role, 'succeeded');
  assert.equal([refusals(), messages.length], [1, 1], 'reported once');
});

test('a succeeded host refuses writes from its next start on', async () => {
  const { role, refusals } = await open({ role: 'succeeded', latest: 2 });
  assert.is(role.isPrimary, false);
  assert.is(refusals(), 1);
});

test('a succeeded host and a follower store a later epoch as well, and keep their roles', async () => {
  for (const [kind, follows] of [
    ['succeeded', false],
    ['follower', true],
  ] as const) {
    const { role, stored, messages } = await open({ role: kind, latest: 2 }, follows);
    await role.learn({ history, number: 4 });
    assert.is(stored()?.role, kind);
    assert.is(stored()?.latest, 4);
    await role.learn({ history, number: 3 });
    assert.is(stored()?.latest, 4);
    assert.equal(messages, []);
  }
});

test('a change of the record is given the record as it is by then', async () => {
  const { role, stored } = await open({ predecessors: ['https://a'] });
  await Promise.all([
    role.learn({ history, number: 2 }),
    role.replace((record) => ({ ...(record ?? firstRecord()), predecessors: [] })),
  ]);
  assert.is(stored()?.role, 'succeeded');
  assert.equal(stored()?.predecessors, []);
});

test.run();
