/** When the last backup was made (docs/storage.md). */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { lastBackupTime, recordBackup } from '../../../../src/store/files/last-backup.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { quickDisk } from '../../../support/disk.ts';

test('the time of the last backup is kept', async () => {
  const directory = temporaryDirectory();
  assert.is(lastBackupTime(quickDisk, directory), null);
  const time = new Date('2026-11-21T14:27:37.505Z');
  await recordBackup(quickDisk, directory, time, 17);
  assert.is(lastBackupTime(quickDisk, directory), time.getTime());
});

test('a file without the time of a backup is refused', () => {
  const directory = temporaryDirectory();
  for (const content of ['', 'no JSON', '[]', '{"time":"soon","sequence":1}']) {
    writeFileSync(join(directory, 'backup.json'), content);
    assert.throws(
      () => lastBackupTime(quickDisk, directory),
      /backup\.json does not say when the last backup was made/,
      content,
    );
  }
});

test.run();
