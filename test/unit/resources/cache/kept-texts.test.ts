/** Kept texts are those of a plain map, except for those that were evicted. */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { KINDS } from '../../../../src/model/kinds.ts';
import { KeptTexts } from '../../../../src/resources/cache/kept-texts.ts';
import { NOWHERE } from '../../../../src/resources/cache/row-places.ts';
import { entryBytes } from '../../../../src/resources/cache/segment.ts';
import { entityTag } from '../../../../src/resources/entity-tag.ts';

const NAMES = ['books', 'brands'] as const;

/** On both sides of a border of the blocks in which places are kept. */
const IDS = Array.from({ length: 8 }, (_, at) => 1020 + at);

/** Of few segments of 8 KiB, and of more than all texts of a run take. */
const SIZES = { small: 64 * 1024, large: 16 * 1024 * 1024 };

const row = { name: fc.constantFrom(...NAMES), id: fc.constantFrom(...IDS) };

const text = fc
  .tuple(
    fc.constantFrom('a', 'é', '€', '😀'),
    fc.oneof(fc.nat(40), fc.nat(1000), fc.nat(9000), fc.nat(70_000)),
  )
  .map(([character, length]) => character.repeat(Math.ceil(length / Buffer.byteLength(character))));

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ act: fc.constant('add' as const), ...row, text, tagged: fc.boolean() }),
  },
  { weight: 5, arbitrary: fc.record({ act: fc.constant('read' as const), ...row }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('delete' as const), ...row }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('outdate' as const), ...row }) },
);

test('a text is found as it was added, until it is deleted, outdated or evicted', () => {
  const run = fc.array(step, { minLength: 100, maxLength: 200 });
  fc.assert(
    fc.property(fc.constantFrom('small', 'large'), run, (size, steps) => {
      const versions = { books: 1, brands: 1 };
      const kept = new KeptTexts(
        (kind) => (kind === 'books' ? versions.books : versions.brands),
        SIZES[size],
      );
      const plain = new Map<string, { text: string; version: number }>();
      const given: { text: string; bytes: Uint8Array }[] = [];
      const check = (place: number, wanted: string) => {
        const { text: bytes, etag } = kept.at(place);
        assert.is(Buffer.from(bytes).toString(), wanted);
        assert.is(etag, entityTag(wanted));
        const target = Buffer.alloc(bytes.length + 3);
        assert.is(kept.copy(place, target, 3), bytes.length);
        assert.is(target.toString('utf8', 3), wanted);
        given.push({ text: wanted, bytes });
      };
      for (const one of steps) {
        const { name, id } = one;
        const key = `${name} ${id}`;
        if (one.act === 'delete') {
          kept.delete(name, id);
          plain.delete(key);
        } else if (one.act === 'outdate') versions[name] += 1;
        else if (one.act === 'add') {
          const version = versions[name];
          const etag = one.tagged ? entityTag(one.text) : null;
          const place = kept.add(KINDS[name], id, version, { text: one.text, etag });
          if (place !== NOWHERE) {
            check(place, one.text);
            plain.set(key, { text: one.text, version });
          } else assert.ok(Buffer.byteLength(one.text) > SIZES[size] / 10);
        } else {
          const place = kept.find(name, id);
          const known = plain.get(key);
          if (place !== NOWHERE) {
            assert.is(known?.version, versions[name]);
            check(place, known?.text ?? '');
          } else if (size === 'small') plain.delete(key);
          else assert.is.not(known?.version, versions[name]);
        }
        assert.ok(kept.bytes <= SIZES[size], `${kept.bytes}`);
      }
      // What was evicted or replaced is not overwritten.
      for (const { text: wanted, bytes } of given) assert.is(Buffer.from(bytes).toString(), wanted);
      for (const name of NAMES) for (const id of IDS) kept.delete(name, id);
      const segment = Math.min(SIZES[size] / 8, 256 * 1024);
      assert.ok(kept.bytes <= segment, `${kept.bytes} bytes are left`);
    }),
    { numRuns: 150 },
  );
});

/** Texts of books for one version. */
function keptBooks(most: number) {
  const kept = new KeptTexts(() => 1, most);
  const add = (id: number, length = 1000) =>
    kept.add(KINDS.books, id, 1, { text: 'x'.repeat(length), etag: null });
  const has = (id: number) => kept.find('books', id) !== NOWHERE;
  return { kept, add, has };
}

/** Whether each of two texts is left after others were added; only the first of them was read. */
function leftAfter(others: number): string {
  const { add, has } = keptBooks(SIZES.small);
  for (let id = 1; id <= 2 + others; id += 1) {
    add(id);
    if (id === 1) has(id);
  }
  return [1, 2].map(has).join();
}

test('if room is needed, a text that was read stays longer than its neighbour, but not for ever', () => {
  const left = Array.from({ length: 200 }, (_, others) => leftAfter(others));
  assert.equal(
    left.filter((one, at) => one !== left[at - 1]),
    ['true,true', 'true,false', 'false,false'],
  );
});

/** Texts that fit into one of the segments that are evicted. */
const IN_SEGMENT = Math.floor(SIZES.small / 8 / entryBytes(1000));

/** Adds texts until those of the first segment have made room. @returns how many were added. */
function addUntilFull(kept: KeptTexts, add: (id: number) => void): number {
  let [id, grown] = [0, 0];
  // Fifty are enough; the bound ends a cache that is never full.
  while (id - grown < IN_SEGMENT + 1 && id < 500) {
    const before = kept.bytes;
    id += 1;
    add(id);
    if (kept.bytes > before) grown = id;
  }
  return id;
}

test('room is made by the oldest texts, and all others stay', () => {
  const { kept, add, has } = keptBooks(SIZES.small);
  const count = addUntilFull(kept, add);
  const ids = Array.from({ length: count }, (_, at) => at + 1);
  assert.equal(ids.filter(has), ids.slice(IN_SEGMENT));
});

test('at most half of the texts that make room are spared because they were read', () => {
  const { kept, add, has } = keptBooks(SIZES.small);
  addUntilFull(kept, (id) => {
    add(id);
    if (id <= IN_SEGMENT) has(id);
  });
  const spared = Array.from({ length: IN_SEGMENT }, (_, at) => at + 1).filter(has);
  assert.ok(spared.length > 0 && spared.length <= IN_SEGMENT / 2, spared.join());
});

test('a text that was read is not spared if the newest segment has no room for it', () => {
  const { add, has } = keptBooks(SIZES.small);
  const ids = Array.from({ length: 7 * IN_SEGMENT }, (_, at) => at + 1);
  for (const id of ids) {
    add(id);
    has(id);
  }
  // It has a segment of its own, for which that of the first texts makes room.
  add(ids.length + 1, 5000);
  assert.equal(ids.filter(has), ids.slice(IN_SEGMENT));
});

test('a text that was read for an earlier version is not spared', () => {
  let version = 1;
  const kept = new KeptTexts(() => version, SIZES.small);
  addUntilFull(kept, (id) => {
    kept.add(KINDS.books, id, version, { text: 'x'.repeat(1000), etag: null });
    kept.find('books', id);
    if (id === IN_SEGMENT) version = 2;
  });
  version = 1;
  assert.is(kept.find('books', 1), NOWHERE);
});

test('short texts share memory, which is released when the last of them is deleted', () => {
  const { kept, add } = keptBooks(SIZES.small);
  add(1);
  const one = kept.bytes;
  add(2);
  assert.is(kept.bytes, one);
  for (let id = 3; id < 100; id += 1) {
    for (const deleted of [1, 2, id - 1]) kept.delete('books', deleted);
    add(id);
    assert.ok(kept.bytes <= one, `${kept.bytes} after ${id}`);
  }
});

test('the places of texts count as memory, so that few texts of ids far apart are kept', () => {
  const { add, has } = keptBooks(SIZES.large);
  const ids = Array.from({ length: 6000 }, (_, at) => 1024 * at + 1);
  for (const id of ids) add(id, 100);
  const left = ids.filter(has);
  // Each has a place of four bytes for every one of 1024 ids.
  assert.ok(left.length * 4096 <= SIZES.large, `${left.length} are kept`);
  assert.ok(left.length > 1000, `${left.length} are kept`);
  assert.equal(left, ids.slice(-left.length));
});

test('a text is kept although more memory was used and released than places can be numbered', () => {
  // Each text has its own memory: the numbers of 2^32 places would last for 2^17 of them.
  const { kept, add, has } = keptBooks(512);
  for (let turn = 0; turn < 2 ** 17 + 2; turn += 1) add(1, 8);
  add(1, 7);
  assert.ok(has(1));
  assert.is(Buffer.from(kept.at(kept.find('books', 1)).text).toString(), 'x'.repeat(7));
});

test.run();
