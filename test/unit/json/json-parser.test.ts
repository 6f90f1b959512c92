/** JSON is parsed in slices with the result of JSON.parse, and without blocking for long. */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { numberOf } from '../../../src/json/json-numbers.ts';
import { parseInSlices } from '../../../src/json/json-parser.ts';
import { countingTurns } from '../../support/turns.ts';

/** The value as text, so that -0, `__proto__` and the order of members count; null if malformed. */
async function sliced(text: string): Promise<string | null> {
  try {
    return Bun.inspect(await parseInSlices(text), { depth: 100 });
  } catch (error) {
    assert.instance(error, SyntaxError);
    return null;
  }
}

/** A reviver, which gets the text of a number as well. */
function exact(_: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' ? numberOf(context?.source ?? '') : value;
}

function native(text: string): string | null {
  try {
    return Bun.inspect(JSON.parse(text, exact), { depth: 100 });
  } catch {
    return null;
  }
}

async function assertSame(text: string): Promise<void> {
  assert.is(await sliced(text), native(text), text.slice(0, 200));
}

const TEXTS = [
  '',
  ' ',
  '{',
  '}',
  '[',
  ']',
  '[]',
  '{}',
  '[}',
  '{]',
  '[1,]',
  '[,1]',
  '[1,,2]',
  '{,}',
  '{"a"}',
  '{"a":}',
  '{"a":1,}',
  '{"a" : 1 , "b":[ ] }',
  '{a:1}',
  "{'a':1}",
  '{"a":1 "b":2}',
  '{"a" 1}',
  '{"a",1}',
  '{"a"}1}',
  '{"a"::1}',
  '{a":1}',
  '{ba":1}',
  '{"a":1,b":2}',
  '[a"]',
  '[1 2]',
  '1 2',
  '01',
  '-',
  '-0',
  '+1',
  '1.',
  '.5',
  '1e',
  '1e5',
  '1E+5',
  '1e-400',
  '1e400',
  '-1.5e3',
  '0x10',
  'NaN',
  'Infinity',
  'true',
  'truex',
  'tru',
  'nullnull',
  'null',
  'false',
  '"',
  '"a',
  '"a"b',
  '"\\"',
  '"\\\\"',
  '"\\u00e9"',
  '"\\ud800"',
  '"\\x"',
  '"\n"',
  '"\t"',
  '"\u2028"',
  '\u00a01',
  '\ufeff1',
  '1\u0000',
  '{"__proto__":1}',
  '{"__proto__":{"a":1}}',
  '{"a":1,"a":2}',
  '{"2":0,"1":0,"b":0}',
  '[[[[[]]]]]',
  '[[[[[]]]]',
  '{"":""}',
  '\t\r\n[\t1\r,\n2 ]',
  '[1]]',
  '{}}',
  '1}',
  '//a\n1',
  '[undefined]',
];

test('each text of a list is parsed or refused as by JSON.parse', async () => {
  for (const text of TEXTS) await assertSame(text);
});

test('a malformed text is refused with the position of the first character that does not fit', async () => {
  for (const [text, message] of [
    ['', 'unexpected end of the text'],
    ['[1', 'unexpected end of the text'],
    ['{"a"', 'unexpected end of the text'],
    ['[1 2]', 'unexpected character at position 4'],
    ['x', 'unexpected character at position 1'],
    ['{"a":1}}', 'unexpected character at position 8'],
    ['["a\\x"]', 'unexpected character at position 2'],
    ['["a]', 'unexpected character at position 2'],
  ] as const) {
    const error = await parseInSlices(text).catch((reason: unknown) => reason);
    assert.instance(error, SyntaxError);
    assert.is((error as SyntaxError).message, message, text);
  }
});

test('a member __proto__ is a property as JSON.parse makes it', async () => {
  const text = '{"__proto__":{"a":1},"__proto__":{"b":2}}';
  const descriptor = (value: unknown) => Object.getOwnPropertyDescriptor(value, '__proto__');
  assert.equal(descriptor(await parseInSlices(text)), descriptor(JSON.parse(text)));
});

test('any value with any white space is parsed as by JSON.parse', async () => {
  const value = fc.json({ noUnicodeString: false, maxDepth: 6 });
  const spaces = fc.integer({ min: 0, max: 3 });
  await fc.assert(
    fc.asyncProperty(value, spaces, (text, indent) =>
      assertSame(JSON.stringify(JSON.parse(text), null, indent)),
    ),
    { numRuns: 500 },
  );
});

test('a damaged text is parsed or refused as by JSON.parse', async () => {
  const piece = fc.constantFrom(
    ...Array.from('{}[]:,"\\01-.e \n\tatrue'),
    'null',
    '\u0001',
    '"a"',
    '{"b":',
  );
  const damage = fc.record({ at: fc.nat(), cut: fc.nat(2), put: piece });
  await fc.assert(
    fc.asyncProperty(
      fc.json({ maxDepth: 4 }),
      fc.array(damage, { maxLength: 3 }),
      (text, damages) => {
        let damaged = text;
        for (const { at, cut, put } of damages) {
          const from = at % (damaged.length + 1);
          damaged = damaged.slice(0, from) + put + damaged.slice(from + cut);
        }
        return assertSame(damaged);
      },
    ),
    { numRuns: 2000 },
  );
});

test('members that are neither known nor among the first others lose their names and stay', async () => {
  const text = '{"a":1,"x":{"b":2,"y":3},"b":[{"z":4,"a":5},"z"],"\\u0061":6,"__proto__":7}';
  const known = new Set(['a', 'b']);
  const parsed = async (others: number) =>
    JSON.stringify(await parseInSlices(text, { known, others }));
  const proto = '"":["__proto__",7]';
  assert.is(
    await parsed(0),
    '{"a":6,"":["x",{"b":2,"":["y",3]},"__proto__",7],"b":[{"":["z",4],"a":5},"z"]}',
  );
  assert.is(
    await parsed(1),
    `{"a":6,"x":{"b":2,"":["y",3]},"b":[{"":["z",4],"a":5},"z"],${proto}}`,
  );
  assert.is(await parsed(2), `{"a":6,"x":{"b":2,"y":3},"b":[{"":["z",4],"a":5},"z"],${proto}}`);
  assert.is(await parsed(9), JSON.stringify(JSON.parse(text)));
  const sent = await parseInSlices('{"":[1],"x":2,"a":3}', { known, others: 1 });
  assert.is(JSON.stringify(sent), '{"":["",[1]],"x":2,"a":3}', 'a name that is sent is no list');
  const damaged = parseInSlices('{"x":{"y":1}', { known, others: 0 });
  assert.instance(await damaged.catch((error: unknown) => error), SyntaxError);
});

test('strings of every length are the same, with escapes and without', async () => {
  for (let length = 0; length < 200; length += 1) {
    for (const unit of ['x', '\u00e9', '\ud83d\ude00', '"', '\\', '\n']) {
      const plain = JSON.stringify(unit.repeat(length));
      const escaped = unit
        .repeat(length)
        .split('')
        .map((half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, '0')}`);
      for (const text of [plain, `"${escaped.join('')}"`]) {
        assert.is(await parseInSlices(text), JSON.parse(text));
      }
    }
  }
});

test('parsing a large text does not block the event loop', async () => {
  const names = Array.from({ length: 100_000 }, (_, index) => `"name ${index}":[${index}]`);
  const text = `{${names.join(',')}}`;
  await countingTurns(async (turns) => {
    const value = await parseInSlices(text);
    assert.is(Object.keys(value as object).length, 100_000);
    // 500,000 tokens in slices of 4000, not one by one.
    assert.ok(turns() > 120 && turns() < 150, `${turns()} turns`);
  });
});

test('parsing few long strings does not block the event loop', async () => {
  const text = JSON.stringify(Array.from({ length: 100 }, () => 'a'.repeat(10_000)));
  await countingTurns(async (turns) => {
    assert.is(((await parseInSlices(text)) as unknown[]).length, 100);
    // A million characters in slices of 64 KiB and the rest of one string, not one by one.
    assert.ok(turns() > 8 && turns() < 20, `${turns()} turns`);
  });
});

test.run();
