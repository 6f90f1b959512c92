/** The checksums of accounts, keys and the record of an archive: no flipped bit goes unnoticed. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { archiveRecord } from '../../../src/archive/record.ts';
import { changeAccess, readAccess } from '../../../src/auth/access.ts';
import { addAccount, endToken, endTokens } from '../../../src/auth/accounts.ts';
import { backUpCredentials } from '../../../src/auth/backup/credentials.ts';
import { PrivateFiles, privateFilesIn } from '../../../src/auth/backup/private-files.ts';
import { makeKeys, readKeys } from '../../../src/auth/keys.ts';
import { writeContents } from '../../../src/auth/sharing/private-contents.ts';
import { readWebhookKey, WebhookKey } from '../../../src/auth/webhook-key.ts';
import { accountOf } from '../../support/credentials.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { quickDisk } from '../../support/disk.ts';
import { failureMessage } from '../../support/failure.ts';

const NOW = 1_800_000_000;

async function writeAccess(directory: string): Promise<void> {
  await changeAccess(quickDisk, directory, (draft) => {
    addAccount(draft, accountOf('ann'));
    addAccount(draft, accountOf('Анна', { role: 'viewer', disabled: true }));
    endTokens(draft, 'bob', NOW);
    endToken(draft, 'one', null);
  });
}

interface Kind {
  readonly code: string;
  readonly write: (directory: string) => Promise<unknown>;
  readonly read: (directory: string, path: string) => unknown;
}

const KINDS: Readonly<Record<string, Kind>> = {
  'access.json': {
    code: 'access_file',
    write: writeAccess,
    read: (_, path) => readAccess(path),
  },
  'keys.json': {
    code: 'key_file',
    write: (directory) => makeKeys(join(directory, 'keys.json')),
    read: (_, path) => readKeys(path),
  },
  'webhook-key.json': {
    code: 'key_file',
    write: (directory) => new WebhookKey(directory).id(),
    read: (_, path) => readWebhookKey(path),
  },
  'archive.json': {
    code: 'archive_refused',
    write: (directory) => archiveRecord(quickDisk, directory).write('0123456789abcdef'),
    read: (directory) => archiveRecord(quickDisk, directory).read(),
  },
};

/** A directory with one file. */
async function written(
  name: string,
  { write }: Kind,
): Promise<{ directory: string; path: string }> {
  const directory = temporaryDirectory();
  await write(directory);
  return { directory, path: join(directory, name) };
}

for (const [name, kind] of Object.entries(KINDS)) {
  const { code, read } = kind;

  test(`a flipped bit in ${name} is reported, or is in the checksum and changes nothing`, async () => {
    const { directory, path } = await written(name, kind);
    const bytes = readFileSync(path);
    const before = read(directory, path);
    const checksum = bytes.length - '","sha256":""}\n'.length - 64;
    for (let at = 0; at < bytes.length; at += 1) {
      for (let bit = 1; bit < 256; bit *= 2) {
        const damaged = Buffer.from(bytes);
        damaged[at] = bytes.readUInt8(at) ^ bit;
        writeFileSync(path, damaged);
        const what = `byte ${at}, bit ${bit}`;
        let after: unknown;
        try {
          after = read(directory, path);
        } catch (error) {
          assert.is((error as { code?: unknown }).code, code, what);
          continue;
        }
        assert.ok(at > checksum && isDeepStrictEqual(after, before), what);
      }
    }
  });

  test(`${name} is read without its checksum, as earlier versions wrote it`, async () => {
    const { directory, path } = await written(name, kind);
    const before = read(directory, path);
    const { sha256, ...content } = JSON.parse(readFileSync(path, 'utf8'));
    assert.match(sha256, /^[0-9a-f]{64}$/);
    for (const text of [JSON.stringify(content), `${JSON.stringify(content, null, 1)}\n`]) {
      writeFileSync(path, text);
      assert.equal(read(directory, path), before);
    }
  });

  test(`${name} that another program has formatted again is read`, async () => {
    const { directory, path } = await written(name, kind);
    const before = read(directory, path);
    const content: unknown = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, JSON.stringify(content, null, 2));
    assert.equal(read(directory, path), before);
  });
}

test('a revocation whose name has changed is refused with advice, and the file is kept', async () => {
  const { directory, path } = await written('access.json', { ...KINDS['access.json']! });
  const text = readFileSync(path, 'utf8').replace('"bob"', '"bab"');
  writeFileSync(path, text);
  const message = await failureMessage(() => writeAccess(directory), 'access_file');
  assert.is(
    message,
    `${path} is damaged: its checksum does not match its content; restore it from a backup, or, if you have edited it, remove its member sha256`,
  );
  assert.is(readFileSync(path, 'utf8'), text);
  await failureMessage(() => new PrivateFiles(directory).read(), 'access_file');
});

test('a copy of the files is written with the same bytes, and a backup has no checksum', async () => {
  const directory = temporaryDirectory();
  await writeAccess(directory);
  await makeKeys(join(directory, 'keys.json'));
  const other = temporaryDirectory();
  await writeContents(quickDisk, other, privateFilesIn(new PrivateFiles(directory).read()));
  for (const name of ['access.json', 'keys.json']) {
    assert.is(readFileSync(join(other, name), 'utf8'), readFileSync(join(directory, name), 'utf8'));
  }
  const { credentials } = await backUpCredentials(directory, null);
  assert.equal(Object.keys(credentials.access ?? {}), [
    'users',
    'revoked_subjects',
    'revoked_tokens',
  ]);
});

test('an archived copy is refused if a bit has changed', async () => {
  const directory = temporaryDirectory();
  await writeAccess(directory);
  const copy = Buffer.from(new PrivateFiles(directory).read()).toString();
  const message = await failureMessage(
    () => privateFilesIn(Buffer.from(copy.replace('bob', 'bab'))),
    'access_file',
  );
  assert.match(message, 'its checksum does not match its content');
});

test.run();
