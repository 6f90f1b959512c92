/** Which change set a response claims to contain: never one that it may not contain (spec 15.1). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  awaitSequence,
  parseSequence,
  sequenceShown,
  sequenceText,
} from '../../../../src/http/rules/catalog-sequence.ts';
import { requestWith } from '../../../support/request.ts';

/** The sequence of a response during whose request the state moved from change set 5 to 7. */
function shown(method: string, status: number, reached?: number): number {
  const request = requestWith({ method, path: '/books/1/' });
  if (reached !== undefined) request.trace.reached = reached;
  return sequenceShown(request, { status, headers: {}, body: null }, 5, 7);
}

for (const method of ['GET', 'HEAD', 'OPTIONS']) {
  test(`${method} reports the change set at the beginning of the request, not at its end`, () => {
    for (const status of [200, 304, 404]) assert.is(shown(method, status), 5, `${status}`);
  });
}

test('a read that waited for a change set reports that one, or a later one at its beginning', () => {
  assert.is(shown('GET', 200, 6), 6);
  assert.is(shown('GET', 200, 4), 5, 'the state was further already');
});

test('a read whose change set arrived while its token was verified reports that one', () => {
  const request = requestWith({ headers: { 'catalog-min-sequence': '6' } });
  assert.is(awaitSequence(request, { awaited: { reach: () => undefined } }), undefined);
  assert.is(sequenceShown(request, { status: 200, headers: {}, body: null }, 5, 7), 6);
});

for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
  test(`a successful ${method} reports the change set at its end`, () => {
    for (const status of [200, 201, 204]) assert.is(shown(method, status), 7, `${status}`);
  });

  test(`a failed ${method} reports the change set at its beginning`, () => {
    for (const status of [400, 412, 503]) assert.is(shown(method, status), 5, `${status}`);
  });
}

test('the sequence is sent in digits: 0 before the first commit, and as it is after a former one', () => {
  for (const sequence of [0, 7, 7, 12, 7, 0]) assert.is(sequenceText(sequence), `${sequence}`);
});

test('the number of a change set has digits only; one that is too large for any is a safe integer', () => {
  for (const [text, wanted] of [
    ['0', 0],
    ['0042', 42],
    ['9'.repeat(400), Number.MAX_SAFE_INTEGER],
    ['', null],
    [' 1', null],
    ['-1', null],
    ['1.0', null],
    ['1e3', null],
    ['0x1', null],
  ] as const) {
    assert.is(parseSequence(text), wanted, text);
  }
});

test.run();
