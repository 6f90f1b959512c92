/** docs/storage.md, "Encryption": a stream is whole and unchanged, or it is refused. */
import { createCipheriv, hkdfSync, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { decrypted, encrypted } from '../../../src/encryption/encrypted-stream.ts';
import { failureOf } from '../../support/failure.ts';

const KEY = randomBytes(32);

const CHUNK = 64 * 1024;

/** Cuts bytes at the given places. */
function pieces(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length];
  places.sort((a, b) => a - b);
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
}

async function all(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(stream));
}

const seal = (content: Buffer, cuts: readonly number[] = []) =>
  all(encrypted(KEY, pieces(content, cuts)));

/** A stream as src/encryption/encrypted-stream.ts describes it, made without its code. */
function asDescribed(content: Buffer): Buffer {
  const magic = Buffer.from('catalog-encrypted 1\n');
  const salt = randomBytes(32);
  const key = Buffer.from(hkdfSync('sha256', KEY, salt, magic, 32));
  const chunks: Buffer[] = [];
  for (let nth = 0; nth === 0 || nth * CHUNK < content.length; nth += 1) {
    const isLast = (nth + 1) * CHUNK >= content.length;
    const nonce = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, nth, isLast ? 1 : 0]);
    const cipher = createCipheriv('aes-256-gcm', key, nonce);
    const chunk = content.subarray(nth * CHUNK, (nth + 1) * CHUNK);
    chunks.push(cipher.update(chunk), cipher.final(), cipher.getAuthTag());
  }
  return Buffer.concat([magic, salt, ...chunks]);
}

const refusalOf = (key: Uint8Array, stream: Buffer) =>
  failureOf(all(decrypted(key, 'the object', [stream])));

const lengths = fc.oneof(
  fc.nat(200),
  fc.constantFrom(CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK + 7),
);

test('a stream is decrypted to the bytes that were encrypted, however both are cut into pieces', async () => {
  const cuts = fc.array(fc.nat(), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(lengths, cuts, cuts, async (length, cutsIn, cutsOut) => {
      const content = randomBytes(length);
      const stream = await seal(content, cutsIn);
      const found = await all(decrypted(KEY, 'the object', pieces(stream, cutsOut)));
      assert.ok(found.equals(content));
    }),
    { numRuns: 40 },
  );
});

test('pieces may share memory, as those that are read from a file do', async () => {
  const content = randomBytes(2 * CHUNK + 7);
  function* sharing(bytes: Buffer): Generator<Buffer> {
    const memory = Buffer.alloc(1000);
    for (let at = 0; at < bytes.length; at += memory.length) {
      yield memory.subarray(0, bytes.copy(memory, 0, at));
    }
  }
  const stream = await all(encrypted(KEY, sharing(content)));
  assert.ok((await all(decrypted(KEY, 'the object', sharing(stream)))).equals(content));
});

test('a stream of the described format is decrypted, so archives of earlier versions are', async () => {
  for (const length of [0, 1, CHUNK, 2 * CHUNK + 7]) {
    const content = randomBytes(length);
    const found = await all(decrypted(KEY, 'the object', [asDescribed(content)]));
    assert.ok(found.equals(content), `${length} bytes`);
  }
});

test('a stream with one changed bit is refused', async () => {
  await fc.assert(
    fc.asyncProperty(lengths, fc.nat(), fc.nat(7), async (length, at, bit) => {
      const stream = await seal(randomBytes(length));
      const place = at % stream.length;
      stream[place] = (stream[place] ?? 0) ^ (1 << bit);
      assert.is((await refusalOf(KEY, stream)).code, 'encryption');
    }),
    { numRuns: 40 },
  );
});

test('a stream that is cut off is refused, also at the end of a chunk', async () => {
  const stream = await seal(randomBytes(3 * CHUNK));
  const header = 52;
  const sealed = CHUNK + 16;
  const ends = [0, 10, header - 1, header, header + sealed, header + 2 * sealed, stream.length - 1];
  for (const end of ends) {
    assert.is((await refusalOf(KEY, stream.subarray(0, end))).code, 'encryption', `${end}`);
  }
});

test('chunks in another order, and bytes after the last one, are refused', async () => {
  const stream = await seal(randomBytes(3 * CHUNK));
  const [header, sealed] = [52, CHUNK + 16];
  const chunk = (index: number) =>
    stream.subarray(header + index * sealed, header + (index + 1) * sealed);
  const swapped = Buffer.concat([stream.subarray(0, header), chunk(1), chunk(0), chunk(2)]);
  await refusalOf(KEY, swapped);
  await refusalOf(KEY, Buffer.concat([stream, Buffer.from('more')]));
});

test('decryption with another key is refused', async () => {
  const { message } = await refusalOf(randomBytes(32), await seal(Buffer.from('secret')));
  assert.match(message, 'another key');
});

test('encrypting the same content twice gives different bytes', async () => {
  const [a, b] = [await seal(Buffer.from('content')), await seal(Buffer.from('content'))];
  assert.not.ok(a.equals(b));
});

test.run();
