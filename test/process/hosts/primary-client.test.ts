/** Other servers in the place of a primary, and primaries that answer slowly or never (spec 15.10). */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { messageOf } from '../../../src/errors.ts';
import { CATALOG_SEQUENCE } from '../../../src/http/rules/catalog-sequence.ts';
import { linesOf } from '../../../src/hosts/following/lines.ts';
import {
  HistoryGone,
  HttpPrimary,
  type Refusals,
  StreamEnded,
} from '../../../src/hosts/following/primary-client.ts';
import { until } from '../../support/until.ts';

const MIB = 1024 * 1024;

const ends: (() => void)[] = [];

test.after(() => {
  for (const end of ends) end();
});

/** A server, and the client of a follower for it. */
async function peer(
  handle: (response: ServerResponse) => void,
  options: { signal?: AbortSignal; maxResponseMs?: number; refusals?: Refusals } = {},
) {
  let [asked, open] = [0, 0];
  const server = createServer((request, response) => {
    asked += 1;
    response.on('error', () => {});
    request.resume().on('end', () => handle(response));
  });
  server.on('connection', (socket) => {
    open += 1;
    socket.once('close', () => void (open -= 1));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const address = { origin, basePath: '' };
  const primary = new HttpPrimary({ address, token: () => 'token', version: '1', ...options });
  return { primary, origin, asked: () => asked, open: () => open };
}

/** Writes pieces for as long as the client takes them. */
function endless(response: ServerResponse, piece: Uint8Array): void {
  const pump = () => {
    while (!response.destroyed) {
      if (!response.write(piece)) return void response.once('drain', pump);
    }
  };
  pump();
}

test('what is not an answer of a catalog-server says so, with the address', async () => {
  for (const body of ['<html>Sign in</html>', '', 'null', '{"role":"primary"}']) {
    const { primary, origin } = await peer((response) => response.writeHead(200).end(body));
    for (const call of [() => primary.state(null), () => primary.credentials()]) {
      const failure = await call().then(String, messageOf);
      assert.is(failure, `the answer of ${origin} is not that of a catalog-server`, body);
    }
  }
});

test('when the host ends its requests, one that is not answered ends at once', async () => {
  const calls: readonly ((primary: HttpPrimary) => Promise<unknown>)[] = [
    (primary) => primary.state(null),
    (primary) => primary.credentials(),
    (primary) => Array.fromAsync(primary.base(new AbortController().signal)),
    (primary) => Array.fromAsync(primary.changes(0, new AbortController().signal)),
  ];
  for (const call of calls) {
    const ending = new AbortController();
    const { primary, asked, open } = await peer(() => {}, { signal: ending.signal });
    const failure = call(primary).then(String, (error: unknown) => error);
    await until('it is asked', () => asked() === 1);
    ending.abort();
    const thrown = await failure;
    assert.instance(thrown, StreamEnded, String(thrown));
    await until('its connection is closed', () => open() === 0);
    assert.instance(await call(primary).catch((error: unknown) => error), StreamEnded, 'later');
    assert.is(asked(), 1);
  }
});

test('an answer that drips is given up after a time', async () => {
  const { primary, origin, open } = await peer(
    (response) => {
      const timer = setInterval(() => response.write(' '), 5);
      response.on('close', () => clearInterval(timer));
    },
    { maxResponseMs: 200 },
  );
  for (const call of [() => primary.state(null), () => primary.credentials()]) {
    const failure = await call().then(String, messageOf);
    assert.match(failure, `the answer of ${origin} takes longer than 200 ms`);
  }
  await until('its connections are closed', () => open() === 0);
});

test('an answer that does not end, or is compressed, is read up to a limit', async () => {
  const packed = gzipSync(Buffer.alloc(65 * MIB, ' '));
  const handlers: readonly ((response: ServerResponse) => void)[] = [
    (response) => endless(response, Buffer.alloc(MIB, ' ')),
    (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed),
  ];
  for (const handle of handlers) {
    const { primary, origin } = await peer(handle);
    const failure = await primary.state(null).then(String, messageOf);
    assert.match(failure, `the answer of ${origin} is too long`);
  }
});

test('an answer with an error says what the operator can do, and the rest of it is not read', async () => {
  const refusals: Refusals = { unauthorized: 'knows no such token', forbidden: 'gives no base' };
  for (const [status, own, expected] of [
    [401, undefined, 'does not accept the token of --token-file'],
    [401, refusals, 'knows no such token'],
    [403, undefined, 'does not let this host follow it: it has to run with --followers'],
    [403, refusals, 'gives no base'],
    [503, undefined, 'answered 503'],
  ] as const) {
    const { primary, origin, open } = await peer(
      (response) => {
        response.writeHead(status, { [CATALOG_SEQUENCE]: '1' });
        endless(response, Buffer.alloc(MIB, ' '));
      },
      own === undefined ? {} : { refusals: own },
    );
    const failure = await primary.state(null).then(String, messageOf);
    assert.ok(failure.startsWith(`${origin} ${expected}`), failure);
    await until('its connection is closed', () => open() === 0);
  }
  const { primary } = await peer((response) => response.writeHead(410).end());
  const { signal } = new AbortController();
  const gone = Array.fromAsync(primary.changes(0, signal)).catch((error: unknown) => error);
  assert.instance(await gone, HistoryGone);
});

test('requests that are over leave nothing at the signals that would have ended them', async () => {
  const { signal } = new AbortController();
  let listeners = 0;
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
    listeners += 1;
    addEventListener.apply(signal, args);
  };
  signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
    listeners -= 1;
    removeEventListener.apply(signal, args);
  };
  const { primary, asked } = await peer((response) => response.end('\n'), { signal });
  await primary.state(null).catch(() => {});
  await Array.fromAsync(primary.changes(0, signal));
  assert.is(asked(), 2);
  assert.is(listeners, 0);
});

test('empty lines that do not end leave turns of the event loop to others', async () => {
  const { primary } = await peer((response) => endless(response, Buffer.alloc(64 * 1024, '\n')));
  const ending = new AbortController();
  let lines = 0;
  setTimeout(() => ending.abort(), 1);
  const read = async () => {
    for await (const line of linesOf(primary.changes(0, ending.signal), MIB)) lines += line.length;
  };
  assert.instance(await read().catch((error: unknown) => error), StreamEnded);
  assert.ok(lines < 1_000_000, `${lines}`);
});

test.run();
