/** Which files are read as a backup. */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DATA_FILES } from '../../../src/data-files.ts';
import { CHECKSUM_LENGTH, checksumMember } from '../../../src/json/checksum.ts';
import { receiveBackup, verifyBackup } from '../../../src/store/backup.ts';
import { failureMessage } from '../../support/failure.ts';
import { fixture } from '../../support/paths.ts';

test('a file or a stream that does not begin as text is refused, and no more of it is read', async () => {
  function* endless(first: string) {
    yield Buffer.from(first, 'latin1');
    assert.unreachable('more is read');
  }
  async function* stream(first: string) {
    yield* endless(first);
  }
  for (const first of ['\0', '{"\u001f', '\u001f\u008b\b', `${' '.repeat(1023)}\0`]) {
    for (const read of [
      () => verifyBackup('b.json', endless(first)),
      () => receiveBackup('b.json', stream(first)),
    ]) {
      const message = await failureMessage(read, 'store_damaged');
      assert.match(message, /^b\.json is damaged: it is cut off, or not a file of the store;/);
    }
  }
});

test('later bytes are judged by the checksum, and white space before a backup is allowed', async () => {
  const bytes = readFileSync(join(fixture(1), DATA_FILES.base));
  const body = Buffer.concat([Buffer.from('\r\n\t '), bytes.subarray(0, -CHECKSUM_LENGTH)]);
  const sealed = checksumMember(hash('sha256', body, 'hex'));
  const whole = Buffer.concat([body, Buffer.from(sealed)]);
  const pieces = [whole.subarray(0, 4), whole.subarray(4)];
  async function* stream() {
    yield* pieces;
  }
  assert.is(verifyBackup('b.json', whole).state.sequence, 3);
  assert.is(verifyBackup('b.json', pieces).state.sequence, 3);
  assert.is((await receiveBackup('b.json', stream())).state.sequence, 3);
  whole[1024] = 0;
  assert.match(
    await failureMessage(() => verifyBackup('b.json', whole), 'store_damaged'),
    'its checksum does not match its content',
  );
});

test.run();
