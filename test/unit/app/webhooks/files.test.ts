/** src/app/webhooks/files.ts: the progress of deliveries in files of the data directory. */
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openDeliveryFiles } from '../../../../src/app/webhooks/files.ts';
import { DATA_FILES } from '../../../../src/data-files.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { RefusingDisk } from '../../../support/refusing-disk.ts';

test('the progress of a webhook survives power loss with the folder that is made for it', async () => {
  const disk = new RefusingDisk();
  const synced = disk.noteSyncs();
  const data = temporaryDirectory();
  const files = await openDeliveryFiles(disk, data);
  await files.save(1, { place: {}, text: '{}' });
  assert.equal(synced, [data, join(data, DATA_FILES.webhooks)]);
  assert.is(files.load(1), '{}');
});

test.run();
