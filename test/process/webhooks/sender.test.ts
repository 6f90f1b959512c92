/** spec 14.6: a delivery over HTTP, with all kinds of responses. */
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createSocketServer, type Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { httpSender } from '../../../src/app/webhooks/sender.ts';
import { until } from '../../support/until.ts';

const servers: Server[] = [];

test.after(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

/** @returns the address of a receiver, and the sockets that it has accepted. */
async function receiver(answer: RequestListener): Promise<{ url: string; sockets: Set<Socket> }> {
  const sockets = new Set<Socket>();
  const server = createServer(answer);
  server.on('connection', (socket) => sockets.add(socket));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, sockets };
}

const request = (url: string, signal = new AbortController().signal) => ({
  url,
  headers: { 'content-type': 'application/json', 'webhook-id': 'msg_1' },
  body: '{"data":["é"]}',
  signal,
});

const send = httpSender('1.2.3');

/** A timeout in milliseconds; the tests do not depend on its value. */
const SHORT = 50;

async function failure(sending: Promise<number>): Promise<string> {
  try {
    return `it answered with ${await sending}`;
  } catch (error) {
    return (error as Error).message;
  }
}

test('a delivery is one POST with its headers and its body', async () => {
  const seen: unknown[] = [];
  const { url } = await receiver((incoming, outgoing) => {
    let body = '';
    incoming.setEncoding('utf8').on('data', (chunk) => (body += chunk));
    incoming.on('end', () => {
      const { 'content-type': type, 'webhook-id': id, 'user-agent': agent } = incoming.headers;
      seen.push([incoming.method, incoming.url, type, id, agent, body]);
      outgoing.writeHead(204).end();
    });
  });
  assert.is(await send(request(url)), 204);
  assert.equal(seen, [
    ['POST', '/hook', 'application/json', 'msg_1', 'catalog-server/1.2.3', '{"data":["é"]}'],
  ]);
});

test('a redirect is not followed', async () => {
  let requests = 0;
  const { url } = await receiver((_, outgoing) => {
    requests += 1;
    outgoing.writeHead(307, { location: '/elsewhere' }).end();
  });
  assert.is(await send(request(url)), 307);
  assert.is(requests, 1);
});

test('a delivery fails if the receiver sends no response, or only a part of the headers', async () => {
  const silent = await receiver(() => {});
  const begins = await receiver(({ socket }) => socket.write('HTTP/1.1 200 OK\r\nx: '));
  for (const { url, sockets } of [silent, begins]) {
    assert.match(await failure(httpSender('1', SHORT)(request(url))), /^no answer within 0\.05 s/);
    await until('its connection is closed', () => [...sockets].every(({ closed }) => closed));
  }
});

test('a response whose rest does not come is cut off, and its status counts', async () => {
  const { url, sockets } = await receiver((_, outgoing) => outgoing.writeHead(200).flushHeaders());
  assert.is(await send(request(url)), 200);
  await until('its connection is closed', () => [...sockets].every(({ closed }) => closed));
});

test('a response that never ends is cut off, and its status counts', async () => {
  const { url, sockets } = await receiver((_, outgoing) => {
    outgoing.writeHead(200);
    const piece = 'x'.repeat(16 * 1024);
    const write = (): void => {
      while (!outgoing.destroyed && outgoing.write(piece));
    };
    outgoing.on('drain', write);
    write();
  });
  assert.is(await send(request(url)), 200);
  await until('its connection is closed', () => [...sockets].every(({ closed }) => closed));
});

test('a compressed response counts by its status, and is not unpacked', async () => {
  // Unpacking it would fail, and a connection whose response fails is not used again.
  const { url, sockets } = await receiver((_, outgoing) => {
    outgoing.writeHead(200, { 'content-encoding': 'gzip' }).end('not gzip');
  });
  for (let nth = 0; nth < 3; nth += 1) assert.is(await send(request(url)), 200);
  assert.is(sockets.size, 1, 'every response was read to its end');
});

test('a delivery fails without a connection, for an unknown name and if the response is not HTTP', async () => {
  const { url } = await receiver(({ socket }) => socket.end('hello\r\n\r\n'));
  const closed = await receiver(({ socket }) => socket.destroy());
  for (const target of [url, closed.url, 'http://127.0.0.1:1/', 'http://receiver.invalid/']) {
    assert.match(await failure(send(request(target))), /^the request failed: ./, target);
  }
});

test('the error of a response that is not HTTP has no address, which may contain a secret', async () => {
  const responses = [
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
    'HTTP/1.1 99999 None\r\n\r\n',
  ];
  for (const text of responses) {
    const sockets: Socket[] = [];
    const server = createSocketServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => {});
      socket.on('data', () => socket.write(text));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const message = await failure(send(request(`http://127.0.0.1:${port}/hook/s3cret?key=s3cret`)));
    assert.match(message, /^the request failed: (?:\w+|the response is not HTTP)$/);
    for (const socket of sockets) socket.destroy();
    server.close();
  }
});

test('a delivery is aborted when the server shuts down', async () => {
  const ended = new AbortController();
  const { url } = await receiver(() => ended.abort());
  assert.is(await failure(send(request(url, ended.signal))), 'the server is shutting down');
  assert.is(await failure(send(request(url, AbortSignal.abort()))), 'the server is shutting down');
});

test.run();
