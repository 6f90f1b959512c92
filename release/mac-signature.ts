/**
 * Signs an executable for macOS as `codesign --sign -` does: with the digests of its pages, and
 * without an identity. macOS kills a program whose pages do not match the digests in its signature.
 * Bun's compiler signs executables for arm64; in those for x64 it leaves the signature of Bun
 * itself.
 *
 * The structures are those of Apple's <mach-o/loader.h> and <kern/cs_blobs.h>. Load commands are
 * little endian, signatures big endian.
 */
import { createHash } from 'node:crypto';

const MAGIC_64_BITS = 0xfeedfacf;
const HEADER_BYTES = 32;
const LC_SEGMENT_64 = 0x19;
const LC_CODE_SIGNATURE = 0x1d;

const SUPER_BLOB = 0xfade0cc0;
const CODE_DIRECTORY = 0xfade0c02;
const SUPER_BLOB_BYTES = 20;
const CODE_DIRECTORY_BYTES = 88;
/** The first version with the limits of the executable segment. */
const CODE_DIRECTORY_VERSION = 0x20400;
const CS_ADHOC = 0x2;
const CS_EXECSEG_MAIN_BINARY = 1n;
const HASH_TYPE_SHA256 = 2;
const HASH_BYTES = 32;
const PAGE_BITS = 12;
const PAGE_BYTES = 2 ** PAGE_BITS;
/** Segments begin and end at multiples of the largest page of any Mac. */
const SEGMENT_ALIGNMENT = 0x4000;

const IDENTIFIER = Buffer.from('catalog-server\0');

interface LoadCommands {
  /** Offsets of the commands in the file. */
  readonly signature: number;
  readonly text: number;
  readonly linkEdit: number;
}

/**
 * @param file an executable for 64 bits with one architecture and a signature at its end.
 * @returns the executable with a new signature.
 * @throws Error if the file is not of that form.
 */
export function signedForMac(file: Uint8Array): Buffer {
  const source = Buffer.from(file);
  const { signature, text, linkEdit } = loadCommandsOf(source);
  const codeLimit = source.readUInt32LE(signature + 8);
  const pages = Math.ceil(codeLimit / PAGE_BYTES);
  const hashOffset = CODE_DIRECTORY_BYTES + IDENTIFIER.length;
  const bytes = SUPER_BLOB_BYTES + hashOffset + pages * HASH_BYTES;
  const signed = Buffer.alloc(codeLimit + roundUp(bytes, 16));
  source.copy(signed, 0, 0, codeLimit);

  // The load commands are in the first page, so they change before it is hashed.
  signed.writeUInt32LE(signed.length - codeLimit, signature + 12);
  const begin = Number(signed.readBigUInt64LE(linkEdit + 40));
  const linkEditBytes = signed.length - begin;
  signed.writeBigUInt64LE(BigInt(roundUp(linkEditBytes, SEGMENT_ALIGNMENT)), linkEdit + 32);
  signed.writeBigUInt64LE(BigInt(linkEditBytes), linkEdit + 48);

  for (const [index, value] of [SUPER_BLOB, bytes, 1, 0, SUPER_BLOB_BYTES].entries()) {
    signed.writeUInt32BE(value, codeLimit + index * 4);
  }
  const directory = signed.subarray(codeLimit + SUPER_BLOB_BYTES);
  writeDirectory(directory, hashOffset, pages, codeLimit, signed.readBigUInt64LE(text + 48));
  for (let page = 0; page < pages; page++) {
    const end = Math.min((page + 1) * PAGE_BYTES, codeLimit);
    const hash = createHash('sha256')
      .update(signed.subarray(page * PAGE_BYTES, end))
      .digest();
    hash.copy(directory, hashOffset + page * HASH_BYTES);
  }
  return signed;
}

function loadCommandsOf(file: Buffer): LoadCommands {
  if (file.length < HEADER_BYTES || file.readUInt32LE(0) !== MAGIC_64_BITS) {
    throw new Error('this is not an executable of macOS for one architecture of 64 bits');
  }
  const found = new Map<string, number>();
  let at = HEADER_BYTES;
  for (let left = file.readUInt32LE(16); left > 0; left--) {
    const command = file.readUInt32LE(at);
    if (command === LC_CODE_SIGNATURE) found.set('signature', at);
    if (command === LC_SEGMENT_64) {
      found.set(file.toString('latin1', at + 8, at + 24).replace(/\0+$/, ''), at);
    }
    at += file.readUInt32LE(at + 4);
  }
  const [signature, text, linkEdit] = ['signature', '__TEXT', '__LINKEDIT'].map((name) =>
    found.get(name),
  );
  if (signature === undefined || text === undefined || linkEdit === undefined) {
    throw new Error('the executable has no place for a signature');
  }
  const end = file.readUInt32LE(signature + 8) + file.readUInt32LE(signature + 12);
  if (end !== file.length) throw new Error('the signature is not at the end of the executable');
  return { signature, text, linkEdit };
}

/** @param textBytes the length of the segment with the code. */
function writeDirectory(
  directory: Buffer,
  hashOffset: number,
  pages: number,
  codeLimit: number,
  textBytes: bigint,
): void {
  const fields = [
    CODE_DIRECTORY,
    hashOffset + pages * HASH_BYTES,
    CODE_DIRECTORY_VERSION,
    CS_ADHOC,
    hashOffset,
    CODE_DIRECTORY_BYTES, // where the identifier begins
    0, // special slots
    pages,
    codeLimit,
  ];
  for (const [index, value] of fields.entries()) directory.writeUInt32BE(value, index * 4);
  directory.set([HASH_BYTES, HASH_TYPE_SHA256, 0, PAGE_BITS], 36);
  directory.writeBigUInt64BE(textBytes, 72);
  directory.writeBigUInt64BE(CS_EXECSEG_MAIN_BINARY, 80);
  IDENTIFIER.copy(directory, CODE_DIRECTORY_BYTES);
}

function roundUp(value: number, unit: number): number {
  return Math.ceil(value / unit) * unit;
}
