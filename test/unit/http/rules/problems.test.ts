/** What a failure tells the client, and what is reported to the operator (spec 3.1, 3.9). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError } from '../../../../src/errors.ts';
import { problem } from '../../../../src/http/rules/problems.ts';
import { requestWith } from '../../../support/request.ts';

const SECRET = '/var/lib/catalog/base.json';

/** The response to a failure, and what was reported, by the id of the request. */
function responseTo(error: unknown, emptyNotFound = false) {
  const request = requestWith({});
  const reported: unknown[] = [];
  const response = problem(error, request, emptyNotFound, (id, each) => {
    assert.is(id, request.trace.id);
    reported.push(each);
  });
  const { status, headers } = response;
  const body = response.body as string;
  assert.is(headers['Content-Type'], 'application/json');
  return { status, headers, json: JSON.parse(body), reported, id: request.trace.id };
}

test('an internal error is 500 and reported to the operator; the client gets only the request id', () => {
  for (const error of [
    new Error(SECRET),
    SECRET,
    null,
    new CatalogError('store_damaged', SECRET),
  ]) {
    const { status, headers, json, reported, id } = responseTo(error);
    assert.is(status, 500, String(error));
    assert.equal(json, { error: 'internal server error', request_id: id });
    assert.is(headers['Retry-After'], undefined);
    assert.equal(reported, [error]);
  }
});

test('a server that is shutting down answers 503 without internal details', () => {
  const error = new CatalogError('store_closed', SECRET);
  const { status, json, reported } = responseTo(error);
  assert.is(status, 503);
  assert.match(json.error, /shutting down/);
  assert.not.match(json.error, SECRET);
  assert.equal(reported, [error]);
});

test('a temporary failure is answered with Retry-After and is not reported to the operator', () => {
  const codes = ['busy', 'primary_unreachable', 'write_unknown', 'log_unavailable'] as const;
  for (const code of [...codes, 'not_primary', 'cut_off'] as const) {
    const { status, headers, json, reported, id } = responseTo(new CatalogError(code, 'try again'));
    assert.is(status, 503);
    assert.equal(json, { error: 'try again', request_id: id });
    assert.is(headers['Retry-After'], '1');
    assert.equal(reported, []);
  }
  const later = { headers: { 'Retry-After': '7' } };
  const named = responseTo(new CatalogError('log_unavailable', 'no answer', later));
  assert.is(named.headers['Retry-After'], '7');
});

test('an error of the client is not reported to the operator, unless it has an internal cause', () => {
  const fields = { name: ['must be a string'] };
  const invalid = responseTo(new CatalogError('invalid', 'no', { fields }));
  assert.equal([invalid.status, invalid.json], [422, { error: 'no', fields }]);
  assert.equal(invalid.reported, []);
  const cause = new CatalogError('write_refused', 'no space left');
  const refused = responseTo(new CatalogError('integrity', 'refused', { cause }));
  assert.equal(refused.json, { error: 'database error: refused' });
  assert.equal(refused.reported, [cause]);
  const ofClient = new CatalogError('invalid', 'no');
  assert.equal(responseTo(new CatalogError('integrity', 'no', { cause: ofClient })).reported, []);
});

test('a 404 has an empty object as its body if the interface requires it, and other failures do not', () => {
  const error = new CatalogError('not_found', 'there is no book 7');
  assert.equal(responseTo(error, true).json, {});
  assert.equal(responseTo(error).json, { error: 'there is no book 7' });
  assert.is(responseTo(error, true).status, 404);
  const unreadable = new CatalogError('malformed_query', 'page: must be 1 or more');
  assert.equal(responseTo(unreadable, true).json, { error: 'page: must be 1 or more' });
});

test.run();
