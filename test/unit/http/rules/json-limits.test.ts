/** spec 3.3: limits of the depth of JSON and the length of its arrays, checked on the text. */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError } from '../../../../src/errors.ts';
import { requireWithinLimits } from '../../../../src/http/rules/json-limits.ts';
import type { JsonLimits } from '../../../../src/json/json-limits.ts';
import { countingTurns } from '../../../support/turns.ts';

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

function longestArrayIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Math.max(0, ...Object.values(value).map(longestArrayIn));
  return Array.isArray(value) ? Math.max(value.length, inner) : inner;
}

/** The code of the failure; null if the text is within the limits. */
async function codeOf(limits: Partial<JsonLimits>, text: string): Promise<string | null> {
  try {
    await requireWithinLimits({ depth: 1000, elements: 1e9, ...limits }, text);
    return null;
  } catch (error) {
    assert.instance(error, CatalogError);
    return (error as CatalogError).code;
  }
}

const { tree } = fc.letrec((tie) => ({
  text: fc.string({
    unit: fc.constantFrom('[', ']', '{', '}', '"', '\\', ',', 'a', '\u00e9', '\n'),
  }),
  tree: fc.oneof(
    { depthSize: 'large' },
    tie('text'),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(tie('text') as fc.Arbitrary<string>, tie('tree'), { maxKeys: 3 }),
  ),
}));
const spaces = fc.integer({ min: 0, max: 4 });

test('the depth found in the text is that of the value, whatever its strings contain', async () => {
  let deepest = 0;
  await fc.assert(
    fc.asyncProperty(tree, spaces, async (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      const depth = depthOf(value);
      deepest = Math.max(deepest, depth);
      assert.is(await codeOf({ depth }, text), null);
      if (depth > 0) assert.is(await codeOf({ depth: depth - 1 }, text), 'invalid', text);
    }),
    { numRuns: 1000 },
  );
  assert.ok(deepest > 3, `${deepest}`);
});

test('the longest array found in the text is that of the value, whatever its strings contain', async () => {
  let longest = 0;
  await fc.assert(
    fc.asyncProperty(tree, spaces, async (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      const elements = longestArrayIn(value);
      longest = Math.max(longest, elements);
      if (elements === 0) return;
      assert.is(await codeOf({ elements }, text), null);
      if (elements > 1) {
        assert.is(await codeOf({ elements: elements - 1 }, text), 'body_too_large', text);
      }
    }),
    { numRuns: 1000 },
  );
  assert.ok(longest > 3, `${longest}`);
});

test('the limit of elements applies to arrays at any depth, and not to members of objects', async () => {
  const elements = 3;
  assert.is(await codeOf({ elements }, '[1,2,3]'), null);
  assert.is(await codeOf({ elements }, '[1,2,3,4]'), 'body_too_large');
  assert.is(await codeOf({ elements }, '{"a":[{"b":[1,2,3,4]}]}'), 'body_too_large');
  const members = '{"a":1,"b":2,"c":3,"d":4,"e":"f,g,h,i,j"}';
  assert.is(await codeOf({ elements }, members), null, 'members are no elements');
});

test('a text that is too deep and incomplete is malformed, not too deep', async () => {
  const depth = 64;
  for (const open of ['[', '{"a":', '[{"a":']) {
    assert.is(await codeOf({ depth }, open.repeat(100)), 'malformed_body', open);
    assert.is(await codeOf({ depth }, `${open.repeat(100)}1`), 'malformed_body', open);
  }
  assert.is(await codeOf({ depth }, '['.repeat(100) + ']'.repeat(100)), 'invalid');
  assert.is(await codeOf({ depth }, '['.repeat(100) + ']'.repeat(99)), 'malformed_body');
});

test('any text is accepted or refused with one of the three errors', async () => {
  const unit = fc.constantFrom('[', ']', '"', '\\', ',', '{', '}');
  await fc.assert(
    fc.asyncProperty(fc.string({ unit }), async (text) => {
      const code = await codeOf({ depth: 4, elements: 4 }, text);
      assert.ok([null, 'malformed_body', 'invalid', 'body_too_large'].includes(code));
    }),
  );
});

test('a scan in slices finds the same, wherever the slices end', async () => {
  // The first slice ends in a string, before an escaped quote, and between elements.
  for (let padding = 0; padding < 12; padding += 1) {
    const long = `"${' '.repeat(256 * 1024 - 10 + padding)}\\"],["`;
    const text = `[${long},[1,2,3]]`;
    assert.is(await codeOf({ elements: 3, depth: 2 }, text), null, `${padding}`);
    assert.is(await codeOf({ elements: 2 }, text), 'body_too_large', `${padding}`);
    assert.is(await codeOf({ depth: 1 }, text), 'invalid', `${padding}`);
  }
});

test('other work runs while a large text is scanned', async () => {
  await countingTurns(async (turns) => {
    for (const text of ['"\\"', '"\\\\', '[', '1,']) {
      await codeOf({ depth: 64 }, text.repeat(1_000_000));
    }
    assert.ok(turns() > 30, `${turns()} turns`);
  });
});

test.run();
