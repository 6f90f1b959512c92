/** spec 6.4: the signing keys, from the environment or from a file with mode 0600. */
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { loadKeys, type SigningKeys } from '../../../src/auth/keys.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { failureOf } from '../../support/failure.ts';

/** The message of the refusal; fails the test if keys are loaded or another error is thrown. */
async function refusal(directory: string, fromEnvironment?: string): Promise<string> {
  const error = await failureOf(loadKeys(directory, fromEnvironment));
  assert.is(error.code, 'key_file');
  assert.is(error.exit, 1);
  assert.not.match(error.message, /\n/);
  return error.message;
}

const shown = (keys: SigningKeys) =>
  keys.map(({ kid, secret }) => [kid, Buffer.from(secret).toString('base64url')]);

const modeOf = (path: string) => statSync(path).mode & 0o777;

const encoded = (bytes: number, fill = 7) => Buffer.alloc(bytes, fill).toString('base64url');

function writeKeys(content: string, mode = 0o600): { directory: string; path: string } {
  const directory = temporaryDirectory();
  const path = join(directory, 'keys.json');
  writeFileSync(path, content);
  chmodSync(path, mode);
  return { directory, path };
}

test('a key of 256 bits is created at first need, in a file with mode 0600', async () => {
  const directory = temporaryDirectory();
  const keys = await loadKeys(directory, undefined);
  assert.is(keys.length, 1);
  assert.is(keys[0].secret.length, 32);
  assert.ok(keys[0].kid.length > 0);
  assert.is(modeOf(join(directory, 'keys.json')), 0o600);
  assert.equal(readdirSync(directory), ['keys.json']);
});

test('the mode of the file is 0600 with any umask', async () => {
  for (const mask of [0, 0o022, 0o077]) {
    const directory = temporaryDirectory();
    const before = process.umask(mask);
    try {
      await loadKeys(directory, undefined);
    } finally {
      process.umask(before);
    }
    assert.is(modeOf(join(directory, 'keys.json')), 0o600, mask.toString(8));
  }
});

test('existing keys are used again, and differ from those of another directory', async () => {
  const directory = temporaryDirectory();
  const made = await loadKeys(directory, undefined);
  const before = readFileSync(join(directory, 'keys.json'), 'utf8');
  assert.equal(shown(await loadKeys(directory, undefined)), shown(made));
  assert.is(readFileSync(join(directory, 'keys.json'), 'utf8'), before);
  const other = await loadKeys(temporaryDirectory(), undefined);
  assert.is.not(shown(other)[0]?.[1], shown(made)[0]?.[1]);
  assert.is.not(other[0].kid, made[0].kid);
});

test('a missing directory is created', async () => {
  const directory = join(temporaryDirectory(), 'new', 'data');
  await loadKeys(directory, undefined);
  assert.is(modeOf(join(directory, 'keys.json')), 0o600);
});

test('several keys are read in the order of the file', async () => {
  const keys = [
    { kid: 'new', secret: encoded(32, 1) },
    { kid: 'old', secret: encoded(64, 2) },
  ];
  const { directory } = writeKeys(JSON.stringify({ keys }));
  assert.equal(shown(await loadKeys(directory, undefined)), [
    ['new', keys[0]?.secret],
    ['old', keys[1]?.secret],
  ]);
});

test('a file that other users can access is refused, and the error names the chmod command', async () => {
  const content = JSON.stringify({ keys: [{ kid: 'a', secret: encoded(32) }] });
  for (const mode of [0o640, 0o604, 0o644, 0o620, 0o602, 0o610, 0o601, 0o666]) {
    const { directory, path } = writeKeys(content, mode);
    const message = await refusal(directory);
    assert.ok(message.includes(`chmod 600 ${path}`), message);
    assert.is(modeOf(path), mode);
    chmodSync(path, 0o600);
    assert.is((await loadKeys(directory, undefined)).length, 1);
  }
});

test('a damaged file is refused and not changed', async () => {
  const good = { kid: 'a', secret: encoded(32) };
  const damaged = [
    '',
    '\0\0\0\0',
    'not json',
    '{',
    'null',
    '[]',
    '{}',
    JSON.stringify({ keys: [] }),
    JSON.stringify({ keys: good }),
    JSON.stringify({ keys: [null] }),
    JSON.stringify({ keys: [{ kid: 'a' }] }),
    JSON.stringify({ keys: [{ secret: good.secret }] }),
    JSON.stringify({ keys: [{ ...good, kid: '' }] }),
    JSON.stringify({ keys: [{ ...good, kid: 1 }] }),
    JSON.stringify({ keys: [{ ...good, secret: '' }] }),
    JSON.stringify({ keys: [{ ...good, secret: encoded(31) }] }),
    JSON.stringify({ keys: [{ ...good, secret: 'not base64url!'.repeat(9) }] }),
    JSON.stringify({ keys: [{ ...good, secret: `+${good.secret}` }] }),
    JSON.stringify({ keys: [good, { kid: 'b', secret: 'short' }] }),
    JSON.stringify({ keys: [good] }).slice(0, -4),
  ];
  for (const content of damaged) {
    const { directory, path } = writeKeys(content);
    const message = await refusal(directory);
    assert.ok(message.includes(path), content);
    assert.not.ok(message.includes(good.secret), content);
    assert.is(readFileSync(path, 'utf8'), content);
  }
});

test('concurrent calls in one process get the same keys', async () => {
  const directory = temporaryDirectory();
  const all = await Promise.all(Array.from({ length: 8 }, () => loadKeys(directory, undefined)));
  const kept = shown(await loadKeys(directory, undefined));
  for (const keys of all) assert.equal(shown(keys), kept);
  assert.equal(readdirSync(directory), ['keys.json']);
});

test('a secret from the environment is used as the key, and no file is created or read', async () => {
  const { directory } = writeKeys('damaged', 0o644);
  const secret = 'a secret of just 32 bytes, ASCII';
  const keys = await loadKeys(directory, secret);
  assert.is(keys.length, 1);
  assert.is(Buffer.from(keys[0].secret).toString(), secret);

  const empty = temporaryDirectory();
  await loadKeys(empty, secret);
  assert.equal(readdirSync(empty), []);
});

test('a secret from the environment needs at least 32 bytes, not characters', async () => {
  const directory = temporaryDirectory();
  for (const short of ['', 'x', 'x'.repeat(31), 'é'.repeat(15), `${'é'.repeat(15)}x`]) {
    const message = await refusal(directory, short);
    assert.match(message, /CATALOG_JWT_SECRET/);
    assert.not.ok(message.includes(short) && short.length > 1);
  }
  for (const enough of ['x'.repeat(32), 'é'.repeat(16), ' '.repeat(32)]) {
    const [{ secret }] = await loadKeys(directory, enough);
    assert.is(Buffer.from(secret).toString(), enough);
  }
  assert.equal(readdirSync(directory), []);
});

test.run();
