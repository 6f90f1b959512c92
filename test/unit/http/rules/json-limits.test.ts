/** The depth of JSON, found from its text alone, and the length of its arrays. */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError } from '../../../../src/errors.ts';
import { requireShallow, requireShort } from '../../../../src/http/rules/json-limits.ts';

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** The code with which the step fails; null if it succeeds. */
function codeOf(step: () => void): string | null {
  try {
    step();
    return null;
  } catch (error) {
    assert.instance(error, CatalogError);
    return (error as CatalogError).code;
  }
}

const shallow = (text: string, depth: number) =>
  codeOf(() => requireShallow({ depth, elements: 10 }, text));

test('the depth of the text is that of the value, for any content of its strings', () => {
  const { tree } = fc.letrec((tie) => ({
    text: fc.string({ unit: fc.constantFrom('[', ']', '{', '}', '"', '\\', ',', 'a', 'é', '\n') }),
    tree: fc.oneof(
      { depthSize: 'large' },
      tie('text'),
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(tie('text') as fc.Arbitrary<string>, tie('tree'), { maxKeys: 3 }),
    ),
  }));
  let deepest = 0;
  fc.assert(
    fc.property(tree, fc.integer({ min: 0, max: 4 }), (value, spaces) => {
      const text = JSON.stringify(value, null, spaces);
      const depth = depthOf(value);
      deepest = Math.max(deepest, depth);
      assert.is(shallow(text, depth), null);
      if (depth > 0) assert.is(shallow(text, depth - 1), 'invalid', text);
    }),
    { numRuns: 1000 },
  );
  assert.ok(deepest > 3, `${deepest}`);
});

test('what is deep and cut off is no JSON', () => {
  for (const open of ['[', '{"a":', '[{"a":']) {
    assert.is(shallow(open.repeat(100), 64), 'malformed_body', open);
    assert.is(shallow(`${open.repeat(100)}1`, 64), 'malformed_body', open);
  }
  assert.is(shallow('['.repeat(100) + ']'.repeat(100), 64), 'invalid');
  assert.is(shallow('['.repeat(100) + ']'.repeat(99), 64), 'malformed_body');
});

test('a text that is no JSON is judged as well, and never for long', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('[', ']', '"', '\\') }), (text) => {
      const code = shallow(text, 4);
      assert.ok(code === null || code === 'malformed_body' || code === 'invalid');
    }),
  );
  const begun = performance.now();
  assert.is(shallow(`"${'\\'.repeat(1_000_000)}`, 64), null);
  assert.is(shallow(`"${'\\"'.repeat(500_000)}`, 64), null);
  assert.is(shallow('['.repeat(1_000_000), 64), 'malformed_body');
  assert.ok(performance.now() - begun < 1000, `${performance.now() - begun} ms`);
});

test('an array has as many elements as it may, wherever it is, or is refused', () => {
  const limits = { depth: 64, elements: 3 };
  const short = (value: unknown) => codeOf(() => requireShort(limits, value));
  assert.is(short([1, 2, 3]), null);
  assert.is(short([1, 2, 3, 4]), 'invalid');
  assert.is(short({ a: [{ b: [1, 2, 3, 4] }] }), 'invalid');
  assert.is(short({ a: 1, b: 2, c: 3, d: 4, e: 'fghij' }), null, 'members are no elements');
  for (const plain of [null, 1, 'text', true]) assert.is(short(plain), null);
});

test.run();
