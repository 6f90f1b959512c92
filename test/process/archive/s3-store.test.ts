/** Stores and other servers that answer wrongly, endlessly or not at all (spec 15.3). */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openObjectStore } from '../../../src/archive/storage/address.ts';
import { type ObjectStore, requestedDelay } from '../../../src/archive/storage/object-store.ts';
import { s3Store } from '../../../src/archive/storage/s3-store.ts';
import { messageOf } from '../../../src/errors.ts';
import { wholeOf } from '../../../src/streams.ts';
import { withTimers } from '../../support/clock.ts';
import { until } from '../../support/until.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const MIB = 1024 * 1024;

/** Bytes of an object that is sent in parts. */
const LARGE = 9 * MIB;

const ends: (() => void)[] = [];

test.after(() => {
  for (const end of ends) end();
});

/** A server that answers a request once it has received it. */
async function peer(handle: Handler) {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.on('error', () => {});
    request.resume().on('end', () => handle(request, response));
  });
  return { url: await listen(server), requests };
}

/** @returns the address. */
async function listen(server: Server): Promise<string> {
  // If the machine stands still until idle connections expire, the engine calls its timer of one that
  // the client has closed meanwhile without its socket, and throws.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Milliseconds: more than a call of these tests takes on the busiest machine. */
const DEADLINE_MS = 60_000;

/** @param deadlineMs of a call; long if the test is about something else. */
function storeAt(endpoint: string, deadlineMs = DEADLINE_MS): ObjectStore {
  const keys = { accessKeyId: 'id', secretAccessKey: 'secret', sessionToken: 'session' };
  return s3Store({ bucket: 'b', prefix: 'p/' }, { ...keys, endpoint }, deadlineMs);
}

const read = async (store: ObjectStore) => {
  const pieces = await store.get('k');
  return pieces === null ? null : (await wholeOf(pieces)).toString();
};

const names = (store: ObjectStore) => Array.fromAsync(store.list('c', ''));

const CALLS: Readonly<Record<string, (store: ObjectStore) => Promise<unknown>>> = {
  write: (store) => store.put('k', Buffer.from('content')),
  'large write': (store) => store.put('k', Buffer.alloc(LARGE)),
  read,
  list: names,
  removal: (store) => store.remove('k'),
};

const outcome = (call: Promise<unknown>) => call.then(String, messageOf);

const contents = (key: string) => `<Contents><Key>${key}</Key></Contents>`;
const list = (content: string, isTruncated = false) =>
  `<ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${content}</ListBucketResult>`;

test('the error for a server that does not speak HTTP names its address', async () => {
  const server = createSocketServer((socket) => void socket.end('SSH-2.0-OpenSSH_9.6\r\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const [name, call] of Object.entries(CALLS)) {
    assert.match(await outcome(call(storeAt(url))), `${url}: the response is not HTTP`, name);
  }
});

test('a redirect is not followed, and the error names the region or the other address', async () => {
  const other = await peer((_request, response) => response.writeHead(200, { etag: '"a"' }).end());
  for (const status of [301, 302, 303, 307, 308]) {
    const location = `${other.url}/elsewhere`;
    const plain = await peer((_request, response) =>
      response.writeHead(status, { location }).end('<html>Moved</html>'),
    );
    const headers = { location, 'x-amz-bucket-region': 'us-west-2' };
    const regional = await peer((_request, response) => response.writeHead(status, headers).end());
    for (const [name, call] of Object.entries(CALLS)) {
      const moved = `failed: it was redirected to ${other.url}, and redirects are not followed; `;
      assert.match(await outcome(call(storeAt(plain.url))), moved, `${status} ${name}`);
      const region = 'failed: the bucket is in the region us-west-2: set AWS_REGION=us-west-2, ';
      assert.match(await outcome(call(storeAt(regional.url))), region, `${status} ${name}`);
    }
  }
  assert.equal(other.requests, [], 'it got no object and no session token');
});

test('the error for a request to the wrong region names the right one', async () => {
  const error =
    '<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-3</Region></Error>';
  const { url } = await peer((_request, response) => response.writeHead(400).end(error));
  assert.match(await outcome(names(storeAt(url))), 'set AWS_REGION=eu-west-3, ');
});

test('a store may name its region in every error, as Garage and MinIO do', async () => {
  const errors: readonly (readonly [number, string, string])[] = [
    [404, 'NoSuchKey', 'null'],
    [403, 'AccessDenied', 'a read of k failed: why (AccessDenied)'],
    // The request was signed for this region, so another part of the header is wrong.
    [400, 'AuthorizationHeaderMalformed', 'failed: why (AuthorizationHeaderMalformed)'],
  ];
  for (const [status, code, expected] of errors) {
    const error = `<Error><Code>${code}</Code><Message>why</Message><Region>auto</Region></Error>`;
    const { url } = await peer((_request, response) => response.writeHead(status).end(error));
    assert.match(await outcome(read(storeAt(url))), expected);
  }
});

test('of an endless response only a few megabytes are read', async () => {
  for (const status of [200, 500]) {
    let sent = 0;
    const { url } = await peer((_request, response) => {
      const piece = Buffer.alloc(MIB, 'a');
      response.writeHead(status, { etag: '"a"' });
      // A client that reads everything would wait for more after this, for as long as it may.
      const pump = () => {
        while (sent < 256 * MIB && !response.destroyed) {
          sent += piece.length;
          if (!response.write(piece)) return void response.once('drain', pump);
        }
      };
      pump();
    });
    const store = storeAt(url);
    for (const [name, call] of Object.entries(CALLS)) {
      if (name === 'read' && status === 200) continue;
      sent = 0;
      const expected =
        status === 200
          ? 'the response has more than 8388608 bytes'
          : 'without a reason (status 500)';
      assert.match(await outcome(call(store)), expected, name);
      assert.ok(sent < 64 * MIB, `${name}: ${sent} bytes`);
    }
  }
});

test('a compressed response is refused, and not unpacked', async () => {
  const packed = gzipSync(Buffer.alloc(64 * MIB));
  const { url } = await peer((_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip', etag: '"a"' }).end(packed),
  );
  for (const [name, call] of Object.entries(CALLS)) {
    const expected = 'failed: the response is compressed (gzip), which was not requested';
    assert.match(await outcome(call(storeAt(url))), expected, name);
  }
});

test('nothing counts as stored if the response is not that of an object store', async () => {
  const { url } = await peer((_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>'),
  );
  const store = storeAt(url);
  const { write, 'large write': writeLarge } = CALLS;
  assert.match(String(await write?.(store).catch(messageOf)), 'because it has no ETag');
  assert.match(String(await writeLarge?.(store).catch(messageOf)), 'does not begin an upload');
  assert.match(await outcome(names(store)), 'a list of c/ failed: the response is not a list');
});

/** The response to the begin of an upload in parts. */
const BEGUN =
  '<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>';

test('an upload in parts that fails is an error, and its parts are removed', async () => {
  const failure = '<Error><Code>InternalError</Code><Message>try again</Message></Error>';
  for (const failing of ['POST', 'PUT']) {
    const { url, requests } = await peer((request, response) => {
      const isBegin = request.url?.endsWith('?uploads=');
      if (isBegin) return void response.writeHead(200).end(BEGUN);
      // S3 reports a failure of the last step with the status 200.
      if (request.method !== failing) return void response.writeHead(200, { etag: '"a"' }).end();
      response.writeHead(failing === 'POST' ? 200 : 503).end(failure);
    });
    const store = storeAt(url);
    assert.is(
      await outcome(store.put('k', Buffer.alloc(LARGE))),
      'a write of k failed: try again (InternalError)',
    );
    await until('the parts are removed', () => requests.includes('DELETE /b/p/k?uploadId=u'));
  }
});

test('a store may take longer than other calls to make an object of its parts', () =>
  withTimers(DEADLINE_MS, async (pass) => {
    const { url, requests } = await peer((request, response) => {
      if (request.url?.endsWith('?uploads=')) return void response.end(BEGUN);
      if (request.method !== 'POST') return void response.writeHead(200, { etag: '"a"' }).end();
      // S3 sends the status at once, and white space until it is done.
      response.writeHead(200).write(' ');
      pass(DEADLINE_MS * 1.2);
      response.end('<CompleteMultipartUploadResult></CompleteMultipartUploadResult>');
    });
    const put = storeAt(url, DEADLINE_MS).put('k', Buffer.alloc(LARGE));
    assert.is(await outcome(put), 'undefined');
    assert.not.ok(requests.some((request) => request.startsWith('DELETE')));
  }));

test('an error has the time for which the store wants no request', async () => {
  const slow = '<Error><Code>SlowDown</Code></Error>';
  const cases: readonly (readonly [string, string, number])[] = [
    ['7', slow, 7000],
    ['7', '', 7000],
    ['Fri, 31 Dec 1999 23:59:59 GMT', slow, 0],
    ['soon', slow, 0],
  ];
  for (const [value, text, expected] of cases) {
    const { url } = await peer((_request, response) =>
      response.writeHead(503, { 'retry-after': value }).end(text),
    );
    for (const [name, call] of Object.entries(CALLS)) {
      const error = await call(storeAt(url)).catch((reason: unknown) => reason);
      assert.is(requestedDelay(error), expected, `${name} ${value}`);
    }
  }
  const date = new Date(Date.now() + 3_600_000).toUTCString();
  const { url } = await peer((_request, response) =>
    response.writeHead(429, { 'retry-after': date }).end(),
  );
  const error = await names(storeAt(url)).catch((reason: unknown) => reason);
  assert.ok(requestedDelay(error) > 3_000_000);
});

test('a list has keys with references and characters that were cut in the middle', async () => {
  const { url } = await peer((_request, response) => {
    const bytes = Buffer.from(list(contents('p/c/a&amp;b') + contents('p/c/ä€😀')));
    const pump = (at: number) => {
      if (at === bytes.length) return void response.end();
      response.write(bytes.subarray(at, at + 1), () => setImmediate(pump, at + 1));
    };
    pump(0);
  });
  assert.equal(await names(storeAt(url)), ['a&b', 'ä€😀']);
});

test('a list that is cut off, unordered or of another folder is an error', async () => {
  const cases: readonly (readonly [string, string])[] = [
    [list(contents('p/c/a')).slice(0, -5), 'the response is cut off'],
    [list(contents('p/c/b') + contents('p/c/a')), 'after p/c/b came p/c/a'],
    [list(contents('q/c/a')), 'it has q/c/a, which does not begin with p/c/'],
    [list('', true), 'the store says that keys follow, and sends none'],
  ];
  for (const [text, expected] of cases) {
    const { url } = await peer((_request, response) => response.writeHead(200).end(text));
    assert.match(await outcome(names(storeAt(url))), `a list of c/ failed: ${expected}`);
  }
});

test('a list continues after a page without keys, and ends if all pages have none', async () => {
  const empty = list('<NextContinuationToken>t/1</NextContinuationToken>', true);
  const { url, requests } = await peer((request, response) => {
    const isSecond = request.url?.includes('continuation-token=t%2F1') === true;
    response.writeHead(200).end(isSecond ? list(contents('p/c/a')) : empty);
  });
  assert.equal(await names(storeAt(url)), ['a']);
  assert.is(requests.length, 2);
  const endless = await peer((_request, response) => response.writeHead(200).end(empty));
  assert.match(await outcome(names(storeAt(endless.url))), 'keys follow, and sends none');
  assert.is(endless.requests.length, 100);
});

test('a body that ends early is an error, and an object of no bytes is none', async () => {
  const cut = await peer((_request, response) => {
    response.writeHead(200, { 'content-length': '100', etag: '"a"' });
    response.write('x'.repeat(50), () => response.destroy());
  });
  for (const [name, call] of Object.entries(CALLS)) {
    assert.match(await outcome(call(storeAt(cut.url))), ' failed: ', name);
  }
  const whole = await peer((_request, response) => response.writeHead(200).end());
  assert.is(await read(storeAt(whole.url)), '');
});

test('a read may take as long as it needs, if it goes on', async () => {
  const [piece, count] = [Buffer.alloc(64 * 1024, 'a'), 200];
  let [sent, received] = [0, 0];
  let send = () => {};
  const { url } = await peer((_request, response) => {
    response.writeHead(200, { 'content-length': piece.length * count });
    send = () => {
      sent += piece.length;
      // Later than a timer of which no time is left.
      setTimeout(() => response.write(piece), 5);
    };
    send();
  });
  const { now } = performance;
  let time = 0;
  // A third of a second passes for each piece, so a minute and more for all of them.
  performance.now = () => (time += 300);
  try {
    for await (const { length } of (await storeAt(url, 30_000).get('k')) ?? []) {
      received += length;
      if (received === sent && received < piece.length * count) send();
    }
  } finally {
    performance.now = now;
  }
  assert.is(received, piece.length * count);
});

test('only NoSuchKey means that there is no object', async () => {
  const answers: readonly (readonly [number, string, string])[] = [
    [404, '<Error><Code>NoSuchKey</Code></Error>', 'null'],
    [404, '<Error><Code>NoSuchBucket</Code></Error>', 'a read of k failed: NoSuchBucket'],
    [404, '<html>Not Found</html>', 'without a reason (status 404)'],
    [204, '', 'without a reason (status 204)'],
  ];
  for (const [status, text, expected] of answers) {
    const { url } = await peer((_request, response) => response.writeHead(status).end(text));
    assert.match(await outcome(read(storeAt(url))), expected);
  }
});

test('a call that is not answered in time is ended, so that its connection is closed', async () => {
  let [open, seen] = [0, 0];
  const { url } = await peer((request) => {
    [open, seen] = [open + 1, seen + 1];
    request.socket.once('close', () => void (open -= 1));
  });
  const store = storeAt(url, 50);
  for (const [name, call] of Object.entries(CALLS)) {
    assert.match(await outcome(call(store)), 'was not answered within 0.05 s', name);
  }
  await until('all connections are closed', () => seen > 0 && open === 0);
});

test('an address or a region that is none is refused at the start', () => {
  const keys = { accessKeyId: 'id', secretAccessKey: 'secret' };
  const place = { bucket: 'b', prefix: '' };
  for (const endpoint of [
    'http://',
    'https://id:secret@minio.example',
    'https://minio.example?a',
  ]) {
    assert.throws(() => s3Store(place, { ...keys, endpoint }), /set AWS_ENDPOINT to one such as/);
  }
  assert.throws(
    () => s3Store(place, { ...keys, region: 'a/b' }),
    /set AWS_REGION to a name such as/,
  );
});

test('requests are signed with the session token, and name no encoding that a proxy may change', async () => {
  const seen: IncomingMessage['headers'][] = [];
  const { url } = await peer((request, response) => {
    seen.push(request.headers);
    response.writeHead(200, { etag: '"a"' }).end();
  });
  await storeAt(url).put('k', Buffer.from('content'));
  const [headers] = seen;
  assert.is(headers?.['x-amz-security-token'], 'session');
  assert.match(
    headers?.authorization ?? '',
    /^AWS4-HMAC-SHA256 Credential=id\/\d{8}\/auto\/s3\/aws4_request, SignedHeaders=content-md5;host;x-amz-content-sha256;x-amz-date;x-amz-security-token, Signature=[0-9a-f]{64}$/,
  );
});

test('every body has its MD5, with which a store refuses one that was changed on the way', async () => {
  const bodies: (readonly [string, string | undefined, string])[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = Buffer.concat(await Array.fromAsync(request));
    const digest = createHash('md5').update(body).digest('base64');
    const sent = request.headersDistinct['content-md5']?.[0];
    bodies.push([`${request.method} ${body.length}`, sent, digest]);
    const isBegin = request.url?.endsWith('?uploads=');
    const xml = isBegin
      ? '<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>'
      : '<CompleteMultipartUploadResult></CompleteMultipartUploadResult>';
    response.writeHead(200, { etag: '"a"' }).end(xml);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  const store = storeAt(await listen(server));
  await store.put('k', Buffer.from('content'));
  await store.put('k', Buffer.alloc(0));
  await store.put('k', Buffer.alloc(LARGE, 'x'));
  const withBody = bodies.filter(([, sent]) => sent !== undefined);
  assert.equal(
    withBody.map(([name]) => name),
    ['PUT 7', 'PUT 0', `PUT ${8 * MIB}`, `PUT ${MIB}`, 'POST 161'],
  );
  for (const [name, sent, digest] of withBody) assert.is(sent, digest, name);
});

test('the region is that of the address, and the path of the address is kept', async () => {
  const scopes: (string | undefined)[] = [];
  const { url, requests } = await peer((request, response) => {
    scopes.push(/\d{8}\/([\w-]+)\/s3/.exec(request.headers.authorization ?? '')?.[1]);
    response.writeHead(200, { etag: '"a"' }).end();
  });
  const keys = { accessKeyId: 'id', secretAccessKey: 'secret' };
  const place = { bucket: 'b', prefix: '' };
  for (const more of [{}, { region: 'eu-1' }]) {
    await s3Store(place, { ...keys, endpoint: `${url}/base/`, ...more }).put('k', Buffer.alloc(0));
  }
  assert.equal(requests, ['PUT /base/b/k', 'PUT /base/b/k']);
  assert.equal(scopes, ['auto', 'eu-1']);
});

test('a session token is sent only with the access key whose variable has the same prefix', async () => {
  const tokens: unknown[] = [];
  const { url } = await peer((request, response) => {
    tokens.push(request.headers['x-amz-security-token']);
    response.writeHead(200, { etag: '"a"' }).end();
  });
  const aws = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b', AWS_SESSION_TOKEN: 'of-a' };
  const s3 = { S3_ACCESS_KEY_ID: 'c', S3_SECRET_ACCESS_KEY: 'd' };
  for (const env of [aws, { ...aws, ...s3 }, { ...aws, ...s3, S3_SESSION_TOKEN: 'of-c' }]) {
    const bucket = { kind: 's3', bucket: 'my-bucket', prefix: '' } as const;
    await openObjectStore(bucket, { ...env, S3_ENDPOINT: url }).put('k', Buffer.alloc(0));
  }
  assert.equal(tokens, ['of-a', undefined, 'of-c']);
});

test.run();
