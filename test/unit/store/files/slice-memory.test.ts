/** A base is made slice by slice in one buffer (src/store/files/base/slice-memory.ts). */
import fc from 'fast-check';
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { perKind } from '../../../../src/model/per-kind.ts';
import { baseSlices, reusedBaseSlices } from '../../../../src/store/files/base.ts';
import { SliceMemory } from '../../../../src/store/files/base/slice-memory.ts';
import type { Snapshot } from '../../../../src/store/state.ts';
import { partsOf } from '../../../support/bases.ts';

/** A part of a base: a text that is added, or bytes that are copied or passed on. */
type Part = { readonly how: 'add' | 'copy' | 'pass'; readonly text: string };

const aText = fc
  .tuple(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.integer({ min: 0, max: 9000 }))
  .map(([text, times]) => text.repeat(times).slice(0, 200_000).toWellFormed());
const aPart: fc.Arbitrary<Part> = fc.record({
  how: fc.constantFrom('add', 'copy', 'pass'),
  text: aText,
});

const manyParts = fc.array(aPart, { maxLength: 5 });

const textOf = (parts: readonly Part[]): string => parts.map(({ text }) => text).join('');

/** The slices of parts; each is copied, because the next one overwrites it. */
function* slicesOf(memory: SliceMemory, parts: readonly Part[]): Generator<Buffer> {
  for (const { how, text } of parts) {
    if (how === 'add') memory.add(text);
    else if (how === 'copy') memory.copy(Buffer.from(text));
    else for (const slice of memory.pass(Buffer.from(text))) yield Buffer.from(slice);
    if (memory.isFull) yield Buffer.from(memory.take());
  }
  yield Buffer.from(memory.take());
}

test('the slices contain parts of any length in order; bytes, CRC-32 and digest are theirs', () => {
  fc.assert(
    fc.property(manyParts, manyParts, manyParts, (before, parts, after) => {
      const memory = new SliceMemory();
      const slices = [...slicesOf(memory, before)];
      memory.add('unfinished');
      memory.beginPart();
      slices.push(...slicesOf(memory, parts));
      memory.add('rest');
      const part = memory.endPart();
      slices.push(...slicesOf(memory, after));
      const inner = Buffer.from(`${textOf(parts)}rest`);
      assert.equal(part, { bytes: inner.length, crc32: crc32(inner) });
      const expected = Buffer.from(
        `${textOf(before)}unfinished${inner.toString()}${textOf(after)}`,
      );
      assert.ok(Buffer.concat(slices).equals(expected));
      assert.is(memory.digest(), createHash('sha256').update(expected).digest('hex'));
    }),
    { numRuns: 200 },
  );
});

test('small parts are gathered into slices of 64 to 66 KiB in one buffer', () => {
  const memory = new SliceMemory();
  const slices: Uint8Array[] = [];
  for (let row = 0; row < 4000; row += 1) {
    memory.add('x'.repeat(100));
    if (memory.isFull) slices.push(memory.take());
  }
  assert.is(slices.length, 6);
  assert.ok(slices.every(({ length }) => length >= 64 * 1024 && length < 66 * 1024));
  assert.is(new Set(slices.map(({ buffer }) => buffer)).size, 1);
});

test('the slices of baseSlices stay valid when the next ones are made; those of reusedBaseSlices do not', () => {
  const books = Array.from({ length: 3000 }, (_, index) => ({
    id: index + 1,
    name: `Book ${index} ${'x'.repeat(60)}`,
  }));
  const snapshot: Snapshot = {
    sequence: 1,
    digest: 'a'.repeat(64),
    time: null,
    lastIds: perKind(() => 3000),
    rows: perKind(({ name }) => partsOf(name === 'books' ? books : [])),
  };
  const written = Buffer.concat(
    Array.from(reusedBaseSlices(snapshot), (slice) => Buffer.from(slice)),
  );
  const kept = [...baseSlices(snapshot)];
  assert.ok(kept.length > 4, 'several slices are made in one memory');
  assert.ok(Buffer.concat(kept).equals(written));
  assert.not.ok(Buffer.concat([...reusedBaseSlices(snapshot)]).equals(written));
});

test.run();
