/** A migration of a store with losses, and one whose removal of the old change sets is interrupted. */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DATA_FILES } from '../../../src/data-files.ts';
import { machineDisk } from '../../../src/disk/disk.ts';
import { temporaryPath } from '../../../src/disk/durable-file.ts';
import { withChecksum } from '../../../src/json/checksum.ts';
import { changeSetName, listChanges } from '../../../src/store/files/files.ts';
import { DEFAULT_HISTORY_BYTES } from '../../../src/store/files/history.ts';
import {
  migrationBackupDirectory,
  writeMigrationBackup,
} from '../../../src/store/files/migration-backup.ts';
import { SCHEMA_VERSION } from '../../../src/store/files/schema.ts';
import { migrateStore } from '../../../src/store/migration.ts';
import { addBook } from '../../support/books.ts';
import { leftInDisorder, openStore, storeDirectory } from '../../support/checked.ts';
import { quickDisk } from '../../support/disk.ts';
import { codeOf, failureOf } from '../../support/failure.ts';
import { fixture } from '../../support/paths.ts';
import { RefusingDisk } from '../../support/refusing-disk.ts';

const VERSION = 4;

/** @returns a directory with a store whose 8 change sets are all after the base. */
function withChangeSets(): string {
  const directory = storeDirectory();
  cpSync(fixture(VERSION), directory, { recursive: true });
  return directory;
}

/** @returns the same store after a checkpoint: its base contains the 8 change sets. */
async function withHistory(): Promise<string> {
  const current = withChangeSets();
  await migrateStore(current, quickDisk);
  const base = JSON.parse(readFileSync(join(current, DATA_FILES.base), 'utf8'));
  base.schema = VERSION;
  for (const later of [base.tables, base.last_ids]) delete later.webhooks;
  delete base.sha256;
  const directory = withChangeSets();
  writeFileSync(join(directory, DATA_FILES.base), withChecksum(base).bytes);
  return directory;
}

const sequencesIn = (directory: string) => listChanges(machineDisk, directory).sequences;

for (const [what, make] of [
  ['change sets after the base', withChangeSets],
  ['history', withHistory],
] as const) {
  test(`change sets that an interrupted migration leaves are not history, and a start removes them: ${what}`, async () => {
    for (const nth of [1, 8]) {
      const directory = await make();
      const disk = new RefusingDisk();
      disk.refusal = (step, path) =>
        step === 'unlink' && path === join(directory, changeSetName(nth)) ? 'EIO' : null;
      assert.is(await codeOf(migrateStore(directory, disk)), 'write_refused');
      assert.ok(sequencesIn(directory).includes(8));

      const history = DEFAULT_HISTORY_BYTES;
      const store = await openStore(directory, { disk: quickDisk, history });
      assert.equal(sequencesIn(directory), []);
      assert.is(store.oldest, 8);
      await store.close();
    }
  });
}

test('a start keeps the history of a store that a later version could not migrate', async () => {
  const directory = storeDirectory();
  const history = DEFAULT_HISTORY_BYTES;
  const open = () => openStore(directory, { disk: quickDisk, history, smallestCheckpoint: 1 });
  const written = await open();
  for (let nth = 0; nth < 4; nth += 1) await written.transact(addBook());
  await written.close();
  const sequences = sequencesIn(directory);
  const names = sequences.map(changeSetName);
  await writeMigrationBackup(quickDisk, directory, SCHEMA_VERSION, names);

  const store = await open();
  assert.equal(sequencesIn(directory), sequences);
  assert.is(store.oldest, 0);
  await store.close();
});

test('a migration replaces a backup whose making a crash has interrupted, where files are copied', async () => {
  const directory = withChangeSets();
  const kept = migrationBackupDirectory(directory, VERSION);
  const names = [kept, join(kept, DATA_FILES.changes)].map(temporaryPath);
  mkdirSync(join(kept, DATA_FILES.changes), { recursive: true });
  for (const name of names) writeFileSync(name, 'half of a copy');
  await migrateStore(directory, quickDisk);
  assert.equal(names.filter(existsSync), []);
  assert.equal(sequencesIn(kept), [1, 2, 3, 4, 5, 6, 7, 8]);
});

/** docs/storage.md, "Damage": since version 2 a store has a head. */
for (const version of [2, 3, 4]) {
  for (const [what, name, found] of [
    ['its head', DATA_FILES.head, /catalog\.json is there/],
    ['its last change set', changeSetName(8), /head\.json says that/],
  ] as const) {
    test(`a store of version ${version} that has lost ${what} is not migrated`, async () => {
      const directory = leftInDisorder(storeDirectory());
      cpSync(fixture(version), directory, { recursive: true });
      rmSync(join(directory, name));
      const { code, message } = await failureOf(migrateStore(directory, quickDisk));
      assert.is(code, 'store_damaged');
      assert.match(message, found);
    });
  }
}

test.run();
