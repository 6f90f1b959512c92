/** Requests that node:http accepts and RFC 9112 does not allow. */
import type { IncomingMessage } from 'node:http';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { syntaxError, targetOf } from '../../../../src/http/wire/request-syntax.ts';

/** A request as node:http has parsed it, with the values of repeated headers joined. */
function request(
  url: string,
  headers: Readonly<Record<string, string>>,
  httpVersion = '1.1',
): IncomingMessage {
  return { url, httpVersion, headers } as unknown as IncomingMessage;
}

test('each Host is judged by itself, whatever Host came before', () => {
  const invalid = 'the Host header is not a valid host and port';
  for (const [host, error] of [
    ['catalog:8000', null],
    ['catalog:8000', null],
    ['a b', invalid],
    ['a b', invalid],
    ['catalog:8000', null],
    ['catalog:8000x', invalid],
    ['CATALOG:8000', null],
    ['', null],
    ['[::1]:8000', null],
    ['[::1', invalid],
  ] as const) {
    assert.is(syntaxError(request('/', { host })), error, host);
  }
});

test('a Host or a length that comes twice is refused, even with the same value', () => {
  assert.is(
    syntaxError(request('/', { host: 'catalog, catalog' })),
    'the request has more than one Host header',
  );
  assert.is(
    syntaxError(request('/', { host: 'catalog', 'content-length': '39, 39' })),
    'the request has more than one Content-Length header',
  );
});

test('the only transfer coding is chunked, and HTTP/1.0 has none', () => {
  for (const [version, coding, error] of [
    ['1.1', 'chunked', null],
    ['1.1', 'Chunked', null],
    ['1.1', 'gzip, chunked', 'the only supported transfer coding is chunked'],
    ['1.1', 'identity', 'the only supported transfer coding is chunked'],
    ['1.0', 'chunked', 'an HTTP/1.0 request must not have Transfer-Encoding'],
  ] as const) {
    const headers = { host: 'catalog', 'transfer-encoding': coding };
    assert.is(syntaxError(request('/', headers, version)), error, `${version} ${coding}`);
  }
});

test('a target is a path, or an http URL whose authority is valid', () => {
  for (const [url, isValid] of [
    ['/', true],
    ['/books/?page=2', true],
    ['http://catalog/books/', true],
    ['http://user@catalog/books/', false],
    ['http://a, b/books/', false],
    ['http:///books/', false],
    ['*', false],
    ['', false],
  ] as const) {
    assert.is(syntaxError(request(url, { host: 'catalog' })) === null, isValid, url);
  }
  assert.is(targetOf(request('http://catalog:8000/books/?page=2', {})), '/books/?page=2');
  assert.is(targetOf(request('/books/', {})), '/books/');
});

test.run();
