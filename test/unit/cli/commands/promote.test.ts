/** `promote` (spec 15.15, 15.16), and the flags of a host that follows (spec 15.10). */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { migrate } from '../../../../src/cli/commands/migrate.ts';
import { ownDirectory } from '../../../../src/store/directory.ts';
import {
  currentEpoch,
  firstRecord,
  readHostRecord,
  writeHostRecord,
} from '../../../../src/store/hosts/host-record.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { publishWith, quickDisk, refusableDisk } from '../../../support/disk.ts';
import { callProgram, directoryWithStore } from '../../../support/program.ts';
import { contextOf } from '../../../support/service.ts';

/** The directory of a host that follows, with an account `ann`. */
async function following(demo = true): Promise<string> {
  const data = temporaryDirectory();
  await migrate({ data, demo, dryRun: false }, contextOf());
  await callProgram(['users', 'add', 'ann', '--data', data], { input: 'correct horse' });
  const record = { ...firstRecord(), role: 'follower', primary: 'https://primary' } as const;
  await writeHostRecord(quickDisk, data, record);
  return data;
}

test('spec 15.15: promote makes the directory the primary of a new epoch, which cannot follow again', async () => {
  const data = await following();
  const { status, stdout, stderr } = await callProgram(['promote', '--data', data]);
  assert.is(status, 0, stderr);
  assert.match(stdout, /epoch 2 begins after change set 1 of \d{4}-/);
  assert.match(
    stderr,
    /^catalog-server: WARNING: writes that https:\/\/primary confirmed after change set 1 are lost[^\n]+\n$/,
  );
  const record = readHostRecord(quickDisk, data);
  assert.is(record?.role, 'primary');
  assert.is(record !== null && currentEpoch(record).after, 1);
  const token = join(data, 'token');
  writeFileSync(token, 'a.b.c', { mode: 0o600 });
  const args = ['--data', data, '--port', '0', '--follow', 'https://primary'];
  const refused = await callProgram(['serve', ...args, '--token-file', token]);
  assert.is(refused.status, 2);
  assert.match(refused.stderr, /was promoted to take the place of https:\/\/primary/);
  const again = await callProgram(['promote', '--data', data]);
  assert.is(again.status, 2);
  assert.match(
    again.stderr,
    'follows no other host; it is promoted already: epoch 2 begins after change set 1; if no other host was promoted later, start it with: catalog-server serve --data',
  );
  const never = await directoryWithStore();
  const alone = await callProgram(['promote', '--data', never]);
  assert.is(alone.status, 2);
  assert.match(alone.stderr, 'only the directory of a follower can be promoted');
});

test('promote refuses the directory of a host that runs, and leaves its record as it is', async () => {
  const data = await following();
  const lock = ownDirectory(data, 'serve');
  const { status, stderr } = await callProgram(['promote', '--data', data]);
  lock.close();
  assert.is(status, 1);
  assert.match(stderr, /is in use by catalog-server serve, process \d+/);
  assert.is(readHostRecord(quickDisk, data)?.role, 'follower');
});

test('spec 15.15: promote of a succeeded host begins an epoch above the one that it has learned of', async () => {
  const data = await following();
  const succeeded = { ...firstRecord(), role: 'succeeded', latest: 4 } as const;
  await writeHostRecord(quickDisk, data, succeeded);
  const { status, stdout, stderr } = await callProgram(['promote', '--data', data]);
  assert.is(status, 0, stderr);
  assert.match(stdout, /epoch 5 begins after change set 1/);
  assert.match(stderr, /WARNING: .*does not know the address of the primary of epoch 4/);
  await writeHostRecord(quickDisk, data, succeeded);
  const notifying = await callProgram(['promote', '--data', data, '--notify', 'https://other']);
  assert.is(notifying.status, 0, notifying.stderr);
  assert.not.match(notifying.stderr, 'does not know the address');
});

test('spec 15.15: promote of a store without a write names no time', async () => {
  const data = await following(false);
  const { status, stdout, stderr } = await callProgram(['promote', '--data', data]);
  assert.is(status, 0, stderr);
  assert.match(stdout, 'epoch 2 begins after change set 0; start it with: catalog-server serve');
});

test('spec 15.15: if the disk refuses the new epoch, promote fails, and the host still follows', async () => {
  const data = await following();
  const disk = refusableDisk({ active: true });
  const { status, stdout, stderr } = await callProgram(['promote', '--data', data], { disk });
  assert.equal([status, stdout], [1, '']);
  assert.match(stderr, 'no space left');
  assert.is(readHostRecord(quickDisk, data)?.role, 'follower');
});

test('spec 15.15: a repeated promote says that it is promoted only when that survives power loss', async () => {
  const data = await following();
  const failing = Object.assign(new Error('i/o error'), { code: 'EIO' });
  const fsyncSync = () => {
    throw failing;
  };
  const unsynced = { ...quickDisk, publish: publishWith({ fsyncSync }) };
  const first = await callProgram(['promote', '--data', data], { disk: unsynced });
  assert.is(first.status, 1, first.stderr);
  assert.is(readHostRecord(quickDisk, data)?.role, 'primary', 'the record has its name');
  const refusing = { ...quickDisk, fsync: () => Promise.reject(failing) };
  const refused = await callProgram(['promote', '--data', data], { disk: refusing });
  assert.is(refused.status, 1, refused.stderr);
  assert.not.match(refused.stderr, 'promoted already');
  const again = await callProgram(['promote', '--data', data]);
  assert.is(again.status, 2);
  assert.match(again.stderr, 'promoted already');
});

test('spec 15.15: promote --notify names further hosts that are to be informed', async () => {
  const data = await following();
  const notify = (address: string) =>
    callProgram(['promote', '--data', data, '--notify', address, '--notify', 'https://c/api/']);
  for (const wrong of ['b.example', 'http://b.example']) {
    assert.is((await notify(wrong)).status, 2, wrong);
  }
  const { status, stderr } = await notify('https://b');
  assert.is(status, 0, stderr);
  assert.equal(readHostRecord(quickDisk, data)?.predecessors, [
    'https://b',
    'https://c/api',
    'https://primary',
  ]);
});

test('spec 15.12: commands that write are refused in the directory of a host that follows', async () => {
  const data = await following(false);
  const file = join(temporaryDirectory(), 'brands.csv');
  writeFileSync(file, 'name\nNew\n');
  for (const command of [
    ['import', 'brands', file],
    ['undo', '1'],
    ['users', 'add', 'bob'],
    // Without a password on standard input: it is refused before one is asked for.
    ['users', 'passwd', 'ann'],
    ['users', 'disable', 'ann'],
    ['tokens', 'revoke', 'some-token'],
    ['keys', 'rotate'],
    ['migrate', '--demo'],
  ]) {
    const { status, stderr } = await callProgram([...command, '--data', data]);
    assert.is(status, 1, `${command.join(' ')}: ${stderr}`);
    assert.match(
      stderr,
      /follows https:\/\/primary: write there, or run: catalog-server promote/,
      command.join(' '),
    );
  }
});

test('spec 15.10: serve refuses wrong or unsafe flags of a follower with exit status 2, and creates nothing', async () => {
  const directory = temporaryDirectory();
  const token = join(directory, 'token');
  writeFileSync(token, 'a.b.c', { mode: 0o600 });
  const long = join(temporaryDirectory(), 'long');
  writeFileSync(long, `a.b.c${' '.repeat(16 * 1024)}`, { mode: 0o600 });
  const open = join(directory, 'open');
  writeFileSync(open, 'a.b.c', { mode: 0o644 });
  const data = join(directory, 'data');
  const refusal = async (...args: string[]) => {
    const { status, stderr } = await callProgram(['serve', '--data', data, '--port', '0', ...args]);
    assert.is(status, 2, stderr);
    assert.not.ok(existsSync(data), stderr);
    return stderr;
  };
  const from = (file: string) => ['--token-file', file];
  assert.match(await refusal('--follow', 'https://primary'), /needs --token-file/);
  for (const other of ['--archive', '--log']) {
    const address = other === '--log' ? 'etcd://127.0.0.1:2379/shop' : `file://${directory}`;
    const stderr = await refusal('--follow', 'https://primary', ...from(token), other, address);
    assert.match(stderr, new RegExp(`--follow.*${other}`));
  }
  assert.match(await refusal('--follow', 'primary', ...from(token)), /Give an address/);
  assert.match(
    await refusal('--follow', 'http://primary', ...from(token)),
    /is not encrypted.*--follow-insecure/,
  );
  assert.match(
    await refusal('--follow', 'https://primary/api', ...from(token)),
    /both hosts need the same --base-path/,
  );
  assert.match(await refusal('--follow', 'https://primary', ...from(open)), /chmod 600/);
  assert.match(
    await refusal('--follow', 'https://primary', ...from(long)),
    /it is longer than 16 KiB/,
  );
  assert.match(await refusal('--follow', 'https://primary', ...from(data)), /there is no file/);
  assert.match(
    await refusal('--follow', 'https://primary', ...from(token), '--max-unconfirmed', '1s'),
    /from 3s to 1h/,
  );
  assert.equal(readdirSync(directory).toSorted(), ['open', 'token']);
});

test.run();
