/** The files that the flags of the log name. */
import { test } from 'uvu';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { openCluster } from '../../../../src/app/cluster/open.ts';
import { parseLogAddress } from '../../../../src/hosts/cluster/address.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { failureMessage } from '../../../support/failure.ts';

const log = parseLogAddress('etcd://127.0.0.1:2379/shop');

test('a device without an end is not read to its end', async () => {
  const message = await failureMessage(() => openCluster({ log, logCa: '/dev/zero' }), 'usage');
  assert.match(message, '/dev/zero cannot be read: it is longer than 1024 KiB');
});

test('a missing file is named with its flag', async () => {
  const path = join(temporaryDirectory(), 'password');
  const open = () => openCluster({ log, logUser: 'ann', logPasswordFile: path });
  const message = await failureMessage(open, 'usage');
  assert.match(message, `--log-password-file: there is no file ${path}`);
});

test.run();
