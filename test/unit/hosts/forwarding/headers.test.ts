import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  isLoop,
  requestHeaders,
  responseHeaders,
} from '../../../../src/hosts/forwarding/headers.ts';
import type { HttpRequest } from '../../../../src/http/message.ts';
import { Trace } from '../../../../src/http/wire/trace.ts';
import { requestWith } from '../../../support/request.ts';

const HERE = 'catalog-0123456789abcdef';

function request(headers: HttpRequest['headers']): HttpRequest {
  return requestWith({
    method: 'PUT',
    path: '/books/1/',
    headers,
    address: '203.0.113.7',
    trace: new Trace('request-1'),
  });
}

test('spec 15.11: the headers of the client are forwarded, except those of its connection', () => {
  const sent = requestHeaders(
    request({
      host: 'replica.example',
      connection: 'X-Private',
      'x-private': '1',
      'keep-alive': 'timeout=5',
      'proxy-authenticate': 'Basic',
      'proxy-authorization': 'Basic YW5uOnNlY3JldA==',
      'proxy-connection': 'keep-alive',
      te: 'trailers',
      trailer: 'X-Sum',
      upgrade: 'h2c',
      'transfer-encoding': 'chunked',
      'content-length': '12',
      expect: '100-continue',
      authorization: 'Bearer a.b.c',
      'if-match': '"1"',
      'idempotency-key': 'k',
      'content-type': 'application/json',
    }),
    HERE,
  );
  assert.equal(sent, {
    'accept-encoding': 'identity',
    'user-agent': 'catalog-server',
    authorization: 'Bearer a.b.c',
    'if-match': '"1"',
    'idempotency-key': 'k',
    'content-type': 'application/json',
    via: `1.1 ${HERE}`,
    'x-forwarded-for': '203.0.113.7',
    'x-request-id': 'request-1',
  });
});

test('spec 15.11: the forwarded address is that of the connection, not one that the client sent', () => {
  const sent = requestHeaders(
    request({ 'x-forwarded-for': '198.51.100.1, 192.0.2.1', forwarded: 'for=198.51.100.1' }),
    HERE,
  );
  assert.is(sent['x-forwarded-for'], '203.0.113.7');
  assert.not.ok('forwarded' in sent);
});

test('Accept-Encoding and User-Agent of the client are forwarded', () => {
  const sent = requestHeaders(request({ 'accept-encoding': 'br', 'user-agent': 'shop/1' }), HERE);
  assert.is(sent['accept-encoding'], 'br');
  assert.is(sent['user-agent'], 'shop/1');
});

test('spec 15.11: a request that has passed this host or three hosts is a loop', () => {
  const other = (digit: string) => `1.1 catalog-${digit.repeat(16)}`;
  assert.not.ok(isLoop({}, HERE));
  assert.not.ok(isLoop({ via: `1.1 proxy.example, ${other('1')}, ${other('2')}` }, HERE));
  assert.ok(isLoop({ via: `1.1 proxy.example, 1.1 ${HERE}` }, HERE));
  assert.ok(isLoop({ via: [other('1'), other('2'), other('3')].join(', ') }, HERE));
});

test('a header that came several times is forwarded as one list', () => {
  assert.is(requestHeaders(request({ 'x-list': ['a', 'b'] }), HERE)['x-list'], 'a, b');
});

test('this host is appended to Via', () => {
  const sent = requestHeaders(request({ via: '1.0 fred, 1.1 p.example' }), HERE);
  assert.is(sent['via'], `1.0 fred, 1.1 p.example, 1.1 ${HERE}`);
});

test('Connection headers, Date, Content-Length and X-Request-Id of a response are dropped', () => {
  const headers = responseHeaders([
    ['connection', 'close, X-Hop'],
    ['x-hop', '1'],
    ['date', 'Sun, 22 Nov 2026 08:00:00 GMT'],
    ['transfer-encoding', 'chunked'],
    ['content-length', '3'],
    ['x-request-id', 'request-1'],
    ['content-type', 'application/json'],
    ['etag', '"1"'],
    ['www-authenticate', 'Bearer realm="catalog-admin"'],
    ['catalog-sequence', '7'],
  ]);
  assert.equal(headers, {
    'Content-Type': 'application/json',
    ETag: '"1"',
    'WWW-Authenticate': 'Bearer realm="catalog-admin"',
    'Catalog-Sequence': '7',
  });
});

test.run();
