/** The files that the flags of the log name. */
import { test } from 'uvu';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { openCluster } from '../../../../src/app/cluster/open.ts';
import { parseLogAddress } from '../../../../src/hosts/cluster/address.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { failureMessage } from '../../../support/failure.ts';

const log = parseLogAddress('etcd://127.0.0.1:2379/shop');

test('a device without an end is refused', async () => {
  const message = await failureMessage(() => openCluster({ log, logCa: '/dev/zero' }), 'usage');
  assert.match(message, '--log-ca: /dev/zero is a pipe or a device');
});

test('a directory is refused with its flag', async () => {
  const path = temporaryDirectory();
  const message = await failureMessage(() => openCluster({ log, logCa: path }), 'usage');
  assert.match(message, `--log-ca: ${path} cannot be read: EISDIR`);
});

test('a missing file is named with its flag', async () => {
  const path = join(temporaryDirectory(), 'password');
  const open = () => openCluster({ log, logUser: 'ann', logPasswordFile: path });
  const message = await failureMessage(open, 'usage');
  assert.match(message, `--log-password-file: there is no file ${path}`);
});

test.run();
