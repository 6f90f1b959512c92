/** release/mac-signature.ts: every page of a signed executable has the digest of its signature. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { signedForMac } from '../../../release/mac-signature.ts';
import { verifyPages } from '../../support/mac-signature.ts';

const SEGMENT_BYTES = 72;

/** A header, the relevant commands, some pages of content, and an old signature. */
function executable(contentBytes: number, oldSignatureBytes: number): Buffer {
  const file = Buffer.alloc(contentBytes + oldSignatureBytes, 'x');
  file.fill(0, 0, 32 + 2 * SEGMENT_BYTES + 16);
  file.writeUInt32LE(0xfeedfacf, 0);
  file.writeUInt32LE(3, 16);
  for (const [index, name] of ['__TEXT', '__LINKEDIT'].entries()) {
    const at = 32 + index * SEGMENT_BYTES;
    file.writeUInt32LE(0x19, at);
    file.writeUInt32LE(SEGMENT_BYTES, at + 4);
    file.write(name, at + 8, 'latin1');
    file.writeBigUInt64LE(index === 0 ? 0n : 4096n, at + 40);
    file.writeBigUInt64LE(index === 0 ? 4096n : BigInt(file.length - 4096), at + 48);
  }
  const at = 32 + 2 * SEGMENT_BYTES;
  file.writeUInt32LE(0x1d, at);
  file.writeUInt32LE(16, at + 4);
  file.writeUInt32LE(contentBytes, at + 8);
  file.writeUInt32LE(oldSignatureBytes, at + 12);
  return file;
}

test('the signature has the digest of every page, whether the old one was shorter or longer', () => {
  for (const [content, old] of [
    [4096, 16],
    [3 * 4096 + 160, 16],
    [9 * 4096, 65_536],
  ] as const) {
    const signed = signedForMac(executable(content, old));
    assert.equal(verifyPages(signed), { pages: Math.ceil(content / 4096), wrong: null });
    const changed = Buffer.from(signed);
    changed[content - 1] = 0;
    assert.is(verifyPages(changed).wrong, Math.ceil(content / 4096) - 1);
  }
});

test('the segment of the signature ends with the file, and the command contains its length', () => {
  const signed = signedForMac(executable(20_480, 16));
  const linkEdit = 32 + SEGMENT_BYTES;
  assert.is(signed.readBigUInt64LE(linkEdit + 48), BigInt(signed.length - 4096));
  assert.is(signed.readBigUInt64LE(linkEdit + 32) % 0x4000n, 0n);
  assert.ok(signed.readBigUInt64LE(linkEdit + 32) >= BigInt(signed.length - 4096));
  const command = 32 + 2 * SEGMENT_BYTES;
  assert.is(signed.readUInt32LE(command + 12), signed.length - 20_480);
});

test('signing a signed file again does not change it', () => {
  const once = signedForMac(executable(12_288, 32));
  assert.ok(signedForMac(once).equals(once));
});

test('a file that is not a macOS executable, or has no place for a signature at its end, is an error', () => {
  assert.throws(() => signedForMac(Buffer.from('\x7fELF')), /not an executable of macOS/);
  const unsigned = executable(8192, 16);
  unsigned.writeUInt32LE(2, 16);
  assert.throws(() => signedForMac(unsigned), /no place for a signature/);
  const longer = Buffer.concat([executable(8192, 16), Buffer.alloc(1)]);
  assert.throws(() => signedForMac(longer), /not at the end/);
});

test.run();
