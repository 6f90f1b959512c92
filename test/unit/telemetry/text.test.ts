/** The log as text: one line for each event, whatever a client sends. */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { asText } from '../../../src/telemetry/text.ts';

const EVENT = { level: 'info', time: '2026-11-21T17:40:56.856Z', msg: 'request' };

const shown = (more: object, colours = false) =>
  asText(JSON.stringify({ ...EVENT, ...more }), colours);

test('time, level and message come first, the rest as name=value', () => {
  assert.is(
    shown({ method: 'GET', path: '/books/', status: 200 }),
    '17:40:56.856 INFO  request method=GET path=/books/ status=200\n',
  );
});

test('a value with a space, a quote or an equals sign is quoted', () => {
  assert.match(shown({ subject: 'ann of accounts' }), ' subject="ann of accounts"\n');
  assert.match(shown({ subject: 'a"b' }), ' subject="a\\"b"\n');
  assert.match(shown({ subject: 'status=200' }), ' subject="status=200"\n');
});

test('a stack is printed on the following lines', () => {
  assert.is(
    shown({ level: 'error', msg: 'it broke', stack: 'Error: x\n    at y' }),
    '17:40:56.856 ERROR it broke\n    Error: x\n        at y\n',
  );
});

test('colours are used only if they are turned on', () => {
  assert.match(shown({ level: 'warn' }, true), '\u001b[33mWARN \u001b[0m');
  assert.not.match(shown({ level: 'warn' }, false), '\u001b');
});

test('any message, names and values give one line without control characters', () => {
  const text = fc.string({ unit: 'binary' });
  fc.assert(
    fc.property(text, text, fc.dictionary(text, text), (msg, path, others) => {
      const { level: _, time: __, stack: ___, ...rest } = others;
      const line = shown({ ...rest, path, msg });
      assert.is(line.indexOf('\n'), line.length - 1);
      assert.not.match(line.slice(0, -1), /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u);
    }),
    { numRuns: 500 },
  );
});

test.run();
