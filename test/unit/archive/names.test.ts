/** docs/storage.md, "An archive": the names of objects, and the addresses of archives. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  baseName,
  changesName,
  namesBefore,
  parseBaseName,
  parseChangesName,
  withoutNames,
} from '../../../src/archive/names.ts';
import { openObjectStore, parseArchiveAddress } from '../../../src/archive/storage/address.ts';

const sequences = fc.nat(999_999_999);
const times = fc
  .date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString());
const digests = fc.stringMatching(/^[0-9a-f]{64}$/);

test('failures to store a base and change sets count as the same one', () => {
  const [time, digest] = ['2026-11-30T22:21:46.622Z', 'f'.repeat(64)];
  const failureOf = (name: string) => withoutNames(`EPERM: not permitted, open '/archive/${name}'`);
  const base = failureOf(`bases/${baseName({ sequence: 85, schema: 5, time, digest })}`);
  const changes = failureOf(`changes/${changesName({ first: 47, last: 62, time, digest })}`);
  assert.is(base, changes);
});

test('a name parses to the values that it was made of, and is a valid file name', () => {
  fc.assert(
    fc.property(sequences, times, digests, fc.boolean(), (sequence, time, digest, isNew) => {
      const base = { sequence, schema: 5, time: isNew ? null : time, digest };
      const name = baseName(base);
      assert.equal(parseBaseName(name), { ...base, name });
      const changes = { first: sequence, last: sequence + 9, time, digest };
      const changed = changesName(changes);
      assert.equal(parseChangesName(changed), { ...changes, name: changed });
      assert.match(name + changed, /^[\w-]+$/);
      assert.ok(changed.length < 255);
    }),
  );
});

test('other names are not parsed as names of objects', () => {
  for (const name of ['', 'x', '000000000001-0005', 'archive.json']) {
    assert.is(parseBaseName(name), null);
    assert.is(parseChangesName(name), null);
  }
});

test('a listing from a sequence on leaves out the names before it', () => {
  const named = (first: number) =>
    changesName({ first, last: first, time: '2026-11-21T14:27:37.505Z', digest: 'a'.repeat(64) });
  assert.ok(named(4) < namesBefore(5));
  assert.ok(namesBefore(5) < named(5));
  assert.ok(namesBefore(-5) < named(1));
});

test('the address of an archive is a bucket with an optional prefix, or a directory', () => {
  const bucket = (prefix: string) => ({ kind: 's3', bucket: 'my-bucket', prefix });
  assert.equal(parseArchiveAddress('s3://my-bucket'), bucket(''));
  assert.equal(parseArchiveAddress('s3://my-bucket/'), bucket(''));
  assert.equal(parseArchiveAddress('s3://my-bucket/shop'), bucket('shop/'));
  assert.equal(parseArchiveAddress('s3://my-bucket/a/b/'), bucket('a/b/'));
  assert.equal(parseArchiveAddress('file:///mnt/a'), { kind: 'directory', path: '/mnt/a' });
  const wrong = [
    '',
    '/mnt/a',
    'file://host/a',
    'file:///a%2Fb',
    'file:///a%00b',
    'file:///a%ff',
    'file:///a#b',
    'https://bucket/a',
    's3://Bucket_1/a',
    's3:///a',
    's3://my-bucket/a//b',
    's3://my-bucket/a?b',
    's3://my-bucket/a%20b',
    's3://user:secret@my-bucket/a',
    's3://:secret@my-bucket/a',
  ];
  for (const text of wrong) assert.is(parseArchiveAddress(text), null, text);
});

test('a bucket without both credentials is refused, and the message names the variables', () => {
  const address = { kind: 's3', bucket: 'my-bucket', prefix: '' } as const;
  const named = /AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_REGION or AWS_ENDPOINT/;
  for (const env of [{}, { S3_ACCESS_KEY_ID: 'a' }, { AWS_SECRET_ACCESS_KEY: 'b' }]) {
    assert.throws(() => openObjectStore(address, env), named);
  }
  const env = { S3_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' };
  assert.is(openObjectStore(address, env).url, 's3://my-bucket/');
});

test('credentials with white space are refused, and the message names the variable', () => {
  const address = { kind: 's3', bucket: 'my-bucket', prefix: '' } as const;
  const env = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b', AWS_SESSION_TOKEN: 'c' };
  for (const name of Object.keys(env)) {
    for (const value of ['a\n', ' a', 'ä']) {
      const failure = new RegExp(`^${name} or S3_.* has a space, a line feed`);
      const open = () => openObjectStore(address, { ...env, [name]: value });
      assert.throws(open, (error: Error) => failure.test(error.message), `${name} ${value}`);
    }
  }
});

test.run();
