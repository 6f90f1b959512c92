/** src/app/imports/import-files.ts: the folder of imports, and how the file of one is read back. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  importFolder,
  openImportFiles,
  readInTurns,
} from '../../../../src/app/imports/import-files.ts';
import { type Disk, machineDisk } from '../../../../src/disk/disk.ts';
import { wholeOf } from '../../../../src/streams.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { quickDisk } from '../../../support/disk.ts';
import { failureOf } from '../../../support/failure.ts';
import { RefusingDisk } from '../../../support/refusing-disk.ts';
import { countingTurns } from '../../../support/turns.ts';

test('a file is read whole, or from any offset, however the disk cuts it', async () => {
  const pieces = ['one', '', 'twenty', '3'].map((text) => Buffer.from(text));
  const disk = { ...quickDisk, pieces: () => pieces };
  const whole = Buffer.concat(pieces).toString();
  assert.is((await wholeOf(readInTurns(disk, 'file'))).toString(), whole);
  for (let from = 0; from <= whole.length + 1; from += 1) {
    const rest = await wholeOf(readInTurns(disk, 'file', from));
    assert.is(rest.toString(), whole.slice(from), `from ${from}`);
  }
});

test('a piece that takes several turns of the event loop is read whole', async () => {
  const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, at) => at % 251));
  const disk = { ...quickDisk, pieces: () => [bytes] };
  await countingTurns(async (turns) => {
    assert.ok(bytes.equals(await wholeOf(readInTurns(disk, 'file'))));
    assert.ok(turns() >= 6, `${turns()} turns`);
  });
  assert.ok(bytes.subarray(5).equals(await wholeOf(readInTurns(disk, 'file', 5))));
});

test('a file that is gone is not read as an empty one', async () => {
  const data = temporaryDirectory();
  const files = await openImportFiles(machineDisk, data);
  const content = async function* () {
    yield Buffer.from('{"name":"Quill"}\n');
  };
  assert.is(await files.receive(1, content()), 17, 'the bytes of the file');
  rmSync(join(importFolder(data), '1.file'));
  await wholeOf(files.read(1)).then(
    () => assert.unreachable(),
    (error: unknown) => assert.match(String(error), 'another program has removed the file'),
  );
});

/** The id of the next import of a host. */
async function idAfter(last: number, amongHosts: boolean): Promise<number> {
  const files = await openImportFiles(quickDisk, temporaryDirectory(), amongHosts);
  return files.idAfter(last);
}

// The imports of an earlier version, or of a host that was alone, have ids from 1 on.
for (const last of [0, 7]) {
  test(`hosts that answer for each other go on with different ids after ${last}`, async () => {
    const hosts = await Promise.all([1, 2, 3].map(() => idAfter(last, true)));
    // Two of three are equal in one of 300,000 runs, all three in one of 10^12.
    assert.ok(new Set(hosts).size > 1, hosts.join());
    assert.ok(hosts.every((id) => id >= 1000 && id % 1000 === 0));
  });
}

test('later ids are in sequence, as are all ids of a single host', async () => {
  assert.is(await idAfter(7000, true), 7001);
  assert.is(await idAfter(0, false), 1);
  assert.is(await idAfter(7, false), 8);
});

test('a start removes half-written files, and takes no other file of the folder for an import', async () => {
  const data = temporaryDirectory();
  const folder = importFolder(data);
  mkdirSync(folder);
  const others = ['7.json.bak', 'old-8.json', '9.file.bak', 'old-10.file', 'namespace'];
  for (const name of ['.0123456789abcdef.tmp', '3.json', '5.file', ...others]) {
    writeFileSync(join(folder, name), '');
  }
  const files = await openImportFiles(quickDisk, data);
  assert.equal(files.ids(), { states: [3], files: [5] });
  assert.equal(readdirSync(folder).sort(), ['3.json', '5.file', ...others].sort());
});

test('a file that is received is closed, and one that is not received whole is removed as well', async () => {
  const data = temporaryDirectory();
  const open = new Set<number>();
  const disk: Disk = {
    ...quickDisk,
    async create(path) {
      const fd = await quickDisk.create(path);
      open.add(fd);
      return fd;
    },
    close(fd) {
      quickDisk.close(fd);
      open.delete(fd);
    },
  };
  const files = await openImportFiles(disk, data);
  const whole = (async function* () {
    yield Buffer.from('name\nQuill\n');
  })();
  await files.receive(1, whole);
  assert.is(open.size, 0);
  await files.discard(1);
  const cutOff = (async function* () {
    yield Buffer.from('name\nthe first');
    throw new Error('cut off');
  })();
  await files.receive(1, cutOff).then(
    () => assert.unreachable(),
    (error: unknown) => assert.match(String(error), 'cut off'),
  );
  assert.is(open.size, 0);
  assert.equal(readdirSync(importFolder(data)), []);
});

test('if the disk refuses a file, the error names it, and nothing of it is left', async () => {
  const data = temporaryDirectory();
  const disk = new RefusingDisk();
  const files = await openImportFiles(disk, data);
  disk.refusal = (step) => (step === 'write' ? 'ENOSPC' : null);
  const content = (async function* () {
    yield Buffer.from('name\nQuill\n');
  })();
  const error = await failureOf(files.receive(1, content));
  assert.is(error.code, 'write_refused');
  const path = join(importFolder(data), '1.file');
  assert.ok(error.message.startsWith(`${path} cannot be written: ENOSPC`), error.message);
  assert.equal(readdirSync(importFolder(data)), []);
});

test('the namespace of imports is made once, also for requests at the same time', async () => {
  const data = temporaryDirectory();
  const files = await openImportFiles(machineDisk, data);
  const [first, second] = await Promise.all([files.namespace(), files.namespace()]);
  assert.match(first, /^[0-9a-f-]{36}$/);
  assert.is(second, first);
  assert.is(readFileSync(join(importFolder(data), 'namespace'), 'utf8'), first);
  const again = await openImportFiles(machineDisk, data);
  assert.is(await again.namespace(), first);
});

test('a namespace of imports that the disk refuses is made at the next request', async () => {
  const disk = new RefusingDisk();
  const files = await openImportFiles(disk, temporaryDirectory());
  disk.refusal = (step) => (step === 'rename' ? 'ENOSPC' : null);
  await files.namespace().then(
    () => assert.unreachable(),
    (error: unknown) => assert.match(String(error), 'ENOSPC'),
  );
  disk.refusal = null;
  assert.match(await files.namespace(), /^[0-9a-f-]{36}$/);
});

test('the state of an import survives power loss with the folder that is made for it', async () => {
  const disk = new RefusingDisk();
  const synced = disk.noteSyncs();
  const data = temporaryDirectory();
  const files = await openImportFiles(disk, data);
  await files.save(1, '{}');
  assert.equal(synced, [data, importFolder(data)]);
});

test.run();
