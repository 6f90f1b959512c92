/** src/app/imports/import-files.ts: how the file of an import is read back. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readFile } from '../../../../src/app/imports/import-files.ts';
import { wholeOf } from '../../../../src/streams.ts';
import { quickDisk } from '../../../support/disk.ts';

test('a file is read whole, or from any offset, however the disk cuts it', async () => {
  const pieces = ['one', '', 'twenty', '3'].map((text) => Buffer.from(text));
  const disk = { ...quickDisk, pieces: () => pieces };
  const whole = Buffer.concat(pieces).toString();
  assert.is((await wholeOf(readFile(disk, 'file'))).toString(), whole);
  for (let from = 0; from <= whole.length + 1; from += 1) {
    const rest = await wholeOf(readFile(disk, 'file', from));
    assert.is(rest.toString(), whole.slice(from), `from ${from}`);
  }
});

test('a piece that takes several turns of the event loop is read whole', async () => {
  const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, at) => at % 251));
  const disk = { ...quickDisk, pieces: () => [bytes] };
  assert.ok(bytes.equals(await wholeOf(readFile(disk, 'file'))));
  assert.ok(bytes.subarray(5).equals(await wholeOf(readFile(disk, 'file', 5))));
});

test.run();
