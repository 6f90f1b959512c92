/** `cluster.json` of a data directory. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { keepClusterSettings } from '../../../../src/app/cluster/settings-file.ts';
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
  await keepClusterSettings(new RefusingDisk(), directory, {
    ...NODES,
    logCa: 'ca.pem',
    logCert: '/etc/cert.pem',
  });
  const settings = JSON.parse(readFileSync(join(directory, 'cluster.json'), 'utf8'));
  assert.equal(
    [settings.logCa, settings.logCert],
    [join(process.cwd(), 'ca.pem'), '/etc/cert.pem'],
  );
});

test('a directory in the place of the file is named', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'cluster.json');
  mkdirSync(path);
  const kept = keepClusterSettings(new RefusingDisk(), directory, NODES);
  assert.match(await failureMessage(kept, 'store_unreadable'), `${path} cannot be read (EISDIR`);
});

test.run();
