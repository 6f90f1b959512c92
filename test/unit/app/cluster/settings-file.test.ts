/** `cluster.json` of a data directory. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  keepClusterSettings,
  readClusterSettings,
  sharedFilesOf,
} from '../../../../src/app/cluster/settings-file.ts';
import { parseLogAddress } from '../../../../src/hosts/cluster/address.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { failureMessage } from '../../../support/failure.ts';
import { RefusingDisk } from '../../../support/refusing-disk.ts';

const NODES = { log: parseLogAddress('etcd://127.0.0.1:2379/shop') };

test('settings that are unchanged need no room on the disk', async () => {
  const directory = temporaryDirectory();
  const disk = new RefusingDisk();
  await keepClusterSettings(disk, directory, NODES);
  disk.refusal = (step) => (step === 'create' ? 'ENOSPC' : null);
  await keepClusterSettings(disk, directory, NODES);
  const changed = { ...NODES, logUser: 'shop' };
  const refused = await keepClusterSettings(disk, directory, changed).then(() => '', String);
  assert.match(refused, 'ENOSPC');
  disk.refusal = null;
  await keepClusterSettings(disk, directory, changed);
  assert.is(JSON.parse(readFileSync(join(directory, 'cluster.json'), 'utf8')).logUser, 'shop');
});

test('the paths of files are absolute, because a command may run in another directory', async () => {
  const directory = temporaryDirectory();
  const disk = new RefusingDisk();
  const relative = { logCa: 'ca.pem', logKey: 'key.pem', logPasswordFile: 'password' };
  await keepClusterSettings(disk, directory, {
    ...NODES,
    ...relative,
    logCert: '/etc/cert.pem',
    logUser: 'shop',
  });
  assert.equal(readClusterSettings(directory, disk), {
    ...NODES,
    logCa: join(process.cwd(), 'ca.pem'),
    logCert: '/etc/cert.pem',
    logKey: join(process.cwd(), 'key.pem'),
    logUser: 'shop',
    logPasswordFile: join(process.cwd(), 'password'),
  });
});

test('a host that shares no log has no settings and shares no files', async () => {
  const directory = temporaryDirectory();
  const disk = new RefusingDisk();
  await keepClusterSettings(disk, directory, {});
  assert.not.ok(existsSync(join(directory, 'cluster.json')));
  assert.is(readClusterSettings(directory, disk), null);
  assert.is(sharedFilesOf(directory, disk), undefined);
});

test('settings that serve has not written are refused, with what to do', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'cluster.json');
  for (const text of ['', '{}', '{"log":"shop"}', '{"log":5}']) {
    writeFileSync(path, text);
    const read = () => readClusterSettings(directory, new RefusingDisk());
    const message = await failureMessage(read, 'usage');
    assert.match(message, `${path} does not hold the address of the shared log; start serve --log`);
  }
});

test('a command whose log does not answer names the nodes, and confirms no accounts', async () => {
  const directory = temporaryDirectory();
  const disk = new RefusingDisk();
  await keepClusterSettings(disk, directory, { log: parseLogAddress('etcd://127.0.0.1:1/shop') });
  const files = sharedFilesOf(directory, disk);
  const message = await failureMessage(files?.pull() ?? Promise.resolve(), 'log_unavailable');
  assert.match(message, 'the log at http://127.0.0.1:1 cannot be used');
  assert.throws(() => files?.requireConfirmed(), /have not been confirmed/);
});

test('a directory in the place of the file is named', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'cluster.json');
  mkdirSync(path);
  const kept = keepClusterSettings(new RefusingDisk(), directory, NODES);
  assert.match(await failureMessage(kept, 'store_unreadable'), `${path} cannot be read (EISDIR`);
});

test.run();
