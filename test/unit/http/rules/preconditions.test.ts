/** RFC 9110, section 13: the preconditions of requests. */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError } from '../../../../src/errors.ts';
import type { HttpRequest } from '../../../../src/http/message.ts';
import {
  conditionsOf,
  namesCurrent,
  parseTags,
  requireMatch,
  requireWritable,
} from '../../../../src/http/rules/preconditions.ts';
import { requestWith } from '../../../support/request.ts';

const CURRENT = '"current"';

function conditions(headers: HttpRequest['headers']) {
  const found = conditionsOf(requestWith({ method: 'PUT', path: '/books/1/', headers }));
  assert.ok(found);
  return found;
}

/** Whether the step succeeds; any error but 412 fails the test. */
function passes(step: () => void): boolean {
  try {
    step();
    return true;
  } catch (error) {
    assert.ok(error instanceof CatalogError, String(error));
    assert.is(error.code, 'precondition_failed');
    assert.is(error.status, 412);
    return false;
  }
}

const matches = (value: string) =>
  passes(() => requireMatch(conditions({ 'if-match': value }), CURRENT));

const noneMatch = (value: string) => namesCurrent(conditions({ 'if-none-match': value }), CURRENT);

test('a request without conditional headers has no conditions', () => {
  assert.is(conditionsOf(requestWith({ headers: { accept: '*/*', etag: CURRENT } })), null);
});

test('If-Match passes if it contains the current tag or is *', () => {
  for (const value of [
    CURRENT,
    ` ${CURRENT} `,
    '*',
    ' * ',
    `"a", ${CURRENT}`,
    `${CURRENT},"b"`,
    `"a","b" , ${CURRENT} ,"c"`,
    `"a"\t,\t${CURRENT}\t`,
    `"with, comma", ${CURRENT}`,
    `"caf\u00e9", ${CURRENT}`,
    `W/"a", ${CURRENT}`,
    `, ,${CURRENT},`,
  ]) {
    assert.is(matches(value), true, value);
  }
});

test('If-Match fails if it contains only other tags', () => {
  for (const value of ['"stale"', '""', '"a", "b"', '"CURRENT"', '"current "', '"*"', '"a,b"']) {
    assert.is(matches(value), false, value);
  }
});

test('a weak tag never passes If-Match', () => {
  for (const value of [`W/${CURRENT}`, `W/"a", W/${CURRENT}`, `"a",W/${CURRENT}`]) {
    assert.is(matches(value), false, value);
  }
});

test('a malformed If-Match is treated as one that does not match', () => {
  for (const value of [
    '',
    ' ',
    'current',
    "'current'",
    '"current',
    'current"',
    `w/${CURRENT}`,
    `W / ${CURRENT}`,
    `x${CURRENT}`,
    `${CURRENT}x`,
    `"a"${CURRENT}`,
    `current, x${CURRENT}`,
    ', current',
    `${CURRENT}, current`,
    `${CURRENT}, "\u007f"`,
    `${CURRENT}, "\u0100"`,
    `${CURRENT}, "a"x`,
  ]) {
    assert.is(matches(value), false, value);
  }
});

test('the message says what is wrong with an If-Match that reading the item again does not correct', () => {
  const message = (value: string, etag: string | null) => {
    try {
      requireMatch(conditions({ 'if-match': value }), etag);
    } catch (error) {
      return (error as CatalogError).message;
    }
    return null;
  };
  const changed = 'the item has changed since it was read; read it again and repeat the change';
  const unquoted = 'If-Match must contain the ETag of the item with its quotes';
  const weak =
    'If-Match must contain the ETag as the server sends it; a proxy that compresses responses adds W/';
  const none = 'this path has no ETag, so it accepts only If-Match: *';
  assert.is(message('"stale"', CURRENT), changed);
  assert.is(message('W/"stale"', CURRENT), changed);
  assert.is(message('current', CURRENT), unquoted);
  assert.is(message('', CURRENT), unquoted);
  assert.is(message(`W/${CURRENT}`, CURRENT), weak);
  assert.is(message(`"a", W/${CURRENT}`, CURRENT), weak);
  assert.is(message(CURRENT, null), none);
  assert.is(message('current', null), none);
  assert.is(message('*', null), null);
});

test('If-None-Match matches the current tag if it is strong, weak, in a list, or *', () => {
  for (const value of [CURRENT, `W/${CURRENT}`, '*', `"a", ${CURRENT}`, `W/"a",W/${CURRENT}`]) {
    assert.is(noneMatch(value), true, value);
  }
});

test('If-None-Match with other tags or a malformed value does not match', () => {
  for (const value of ['"stale"', 'W/"stale"', '', 'current', '"W/current"', '"*"', '"current']) {
    assert.is(noneMatch(value), false, value);
  }
});

test('without its header a condition is not checked', () => {
  assert.is(
    passes(() => requireMatch(conditions({ 'if-none-match': '"a"' }), CURRENT)),
    true,
  );
  assert.is(namesCurrent(conditions({ 'if-match': CURRENT }), CURRENT), false);
});

test('a write requires that If-Match matches and If-None-Match does not', () => {
  for (const [headers, wanted] of [
    [{ 'if-match': CURRENT }, true],
    [{ 'if-match': '"stale"' }, false],
    [{ 'if-none-match': '"stale"' }, true],
    [{ 'if-none-match': CURRENT }, false],
    [{ 'if-none-match': `W/${CURRENT}` }, false],
    [{ 'if-none-match': '*' }, false],
    [{ 'if-match': CURRENT, 'if-none-match': '"stale"' }, true],
    [{ 'if-match': CURRENT, 'if-none-match': CURRENT }, false],
    [{ 'if-match': '"stale"', 'if-none-match': '"stale"' }, false],
  ] as const) {
    const done = passes(() => requireWritable(conditions(headers), CURRENT));
    assert.is(done, wanted, JSON.stringify(headers));
  }
});

test('a header that is sent twice is read as one list', () => {
  const twice = { 'if-match': ['"a"', CURRENT] };
  assert.is(
    passes(() => requireMatch(conditions(twice), CURRENT)),
    true,
  );
});

test('a list of tags is parsed into its tags', () => {
  const tag = fc
    .tuple(
      fc.boolean(),
      fc.string({ unit: fc.constantFrom(...Array.from('abcXYZ019,;=!#*/W-')), maxLength: 8 }),
    )
    .map(([weak, text]) => `${weak ? 'W/' : ''}"${text}"`);
  fc.assert(
    fc.property(
      fc.array(tag, { minLength: 1 }),
      fc.constantFrom(',', ', ', ' ,\t'),
      (tags, comma) => {
        assert.equal(parseTags(tags.join(comma)), tags);
      },
    ),
  );
});

test.run();
