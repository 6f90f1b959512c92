/** Limits of JSON text: elements, the members of an object, the characters of a string. */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Excess,
  findExcess,
  findExcessInSlices,
  type JsonLimits,
} from '../../../src/json/json-limits.ts';

/** The excess that is found at once, which must be the one that is found in slices. */
async function excessOf(limits: Partial<JsonLimits>, text: string): Promise<Excess | null> {
  const all = { depth: 100, elements: 1e9, ...limits };
  const found = findExcess(all, text);
  assert.is(await findExcessInSlices(all, text), found, text.slice(0, 100));
  return found;
}

function mostMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Math.max(0, ...Object.values(value).map(mostMembers));
  return Array.isArray(value) ? inner : Math.max(Object.keys(value).length, inner);
}

test('the members of an object are counted correctly, whatever its strings contain', async () => {
  const text = fc.string({ unit: fc.constantFrom('{', '}', '[', ',', '"', '\\', ':', 'a') });
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      text,
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(text, tie('tree'), { maxKeys: 4 }),
    ),
  }));
  let most = 0;
  await fc.assert(
    fc.asyncProperty(tree, async (value) => {
      const members = mostMembers(value);
      most = Math.max(most, members);
      const written = JSON.stringify(value);
      assert.is(await excessOf({ members: Math.max(1, members) }, written), null);
      if (members < 2) return;
      assert.is(await excessOf({ members: members - 1 }, written), 'members', written);
    }),
    { numRuns: 500 },
  );
  assert.ok(most > 2, `${most}`);
});

test('elements of arrays and members of objects are counted separately', async () => {
  assert.is(await excessOf({ elements: 2, members: 5 }, '{"a":1,"b":2,"c":[1,2]}'), null);
  assert.is(await excessOf({ elements: 2, members: 5 }, '{"a":[1,2,3]}'), 'elements');
  assert.is(await excessOf({ elements: 2 }, '{"a":1,"b":2,"c":3}'), null, 'no limit of members');
  assert.is(await excessOf({ elements: 5, members: 2 }, '[1,2,3,{"a":1,"b":2}]'), null);
  assert.is(await excessOf({ elements: 5, members: 2 }, '[{"a":1,"b":2,"c":3}]'), 'members');
});

test('arrays and objects are counted down to the limit of the depth, and each on its own', async () => {
  assert.is(await excessOf({ depth: 2, elements: 2 }, '[[1,2],[3,4],[5]]'), 'elements');
  assert.is(await excessOf({ depth: 2, elements: 3 }, '[[1,2],[3,4],[5]]'), null);
  assert.is(await excessOf({ depth: 2, elements: 2 }, '[[1,2,3]]'), 'elements');
  assert.is(await excessOf({ depth: 2, members: 1 }, '[{"a":1},{"b":2}]'), null);
  assert.is(await excessOf({ depth: 2, members: 1 }, '[{"a":1,"b":2}]'), 'members');
  assert.is(await excessOf({ depth: 2 }, '[[[1]],[2]]'), 'depth', 'the deepest one counts');
  // Too deep, however many elements there are.
  assert.is(await excessOf({ depth: 1, elements: 2 }, '[[1,2,3]]'), 'depth');
  assert.is(await excessOf({ depth: 1, elements: 2 }, '[[1,2,3'), 'cut off');
});

test('what a long text has too much of is found wherever it is', async () => {
  const long = `"${'x'.repeat(300 * 1024)}"`;
  for (const text of [`[[1,2,3],${long}]`, `[${long},[1,2,3]]`]) {
    assert.is(await excessOf({ elements: 3 }, text), null);
    assert.is(await excessOf({ elements: 2 }, text), 'elements');
  }
});

test('a text that is not JSON, because commas are outside of any array, is left to the parser', async () => {
  for (const text of [',,,,', '],,,,', '[],,,,']) {
    assert.is(await excessOf({ depth: 2, elements: 2, members: 2 }, text), null, text);
  }
});

test('the characters of strings and member names are counted as they are written, with escapes', async () => {
  for (const text of ['"\\u00e9"', '{"abcdef":1}', '["ab\\"\\\\"]']) {
    assert.is(await excessOf({ characters: 6 }, text), null, text);
    assert.is(await excessOf({ characters: 5 }, text), 'characters', text);
  }
  assert.is(await excessOf({ characters: 5 }, '"cut off'), 'characters');
  // A slice may end anywhere in the string.
  for (let padding = 0; padding < 4; padding += 1) {
    const text = `[${' '.repeat(256 * 1024 - 6 + padding)}"a\\"b"]`;
    assert.is(await excessOf({ characters: 4 }, text), null);
    assert.is(await excessOf({ characters: 3 }, text), 'characters');
  }
});

test.run();
