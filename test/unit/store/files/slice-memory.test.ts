/** A base is made slice by slice in one memory (src/store/files/base/slice-memory.ts). */
import fc from 'fast-check';
import { createHash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SliceMemory } from '../../../../src/store/files/base/slice-memory.ts';

/** A part of a base: a text that is added, or bytes that are copied or passed on. */
type Part = { readonly how: 'add' | 'copy' | 'pass'; readonly text: string };

const aText = fc
  .tuple(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.integer({ min: 0, max: 9000 }))
  .map(([text, times]) => text.repeat(times).slice(0, 200_000).toWellFormed());
const aPart: fc.Arbitrary<Part> = fc.record({
  how: fc.constantFrom('add', 'copy', 'pass'),
  text: aText,
});

/** The slices of parts, each copied when it is there. */
function* slicesOf(memory: SliceMemory, parts: readonly Part[]): Generator<Buffer> {
  for (const { how, text } of parts) {
    if (how === 'add') memory.add(text);
    else if (how === 'copy') memory.copy(Buffer.from(text));
    else for (const slice of memory.pass(Buffer.from(text))) yield Buffer.from(slice);
    if (memory.isFull) yield Buffer.from(memory.take());
  }
  yield Buffer.from(memory.take());
}

test('the slices are all parts in their order, of whatever length, and so are size and digest', () => {
  fc.assert(
    fc.property(fc.array(aPart, { maxLength: 8 }), (parts) => {
      const memory = new SliceMemory();
      const bytes = Buffer.concat([...slicesOf(memory, parts)]);
      const expected = Buffer.from(parts.map(({ text }) => text).join(''));
      assert.ok(bytes.equals(expected));
      assert.is(memory.size, expected.length);
      assert.is(memory.digest(), createHash('sha256').update(expected).digest('hex'));
    }),
    { numRuns: 200 },
  );
});

test('small parts are gathered to slices of about 64 KiB, without memory for each', () => {
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

test.run();
