/**
 * What hostile clients cost the others: `bun bench/hostile.ts [REQUESTS] [IDLE] [SECONDS]`.
 *
 * Measures throughput and memory before; with idle connections open; after the hostile requests, of
 * every kind in turn, with the idle connections still open; and after all of them have closed.
 */
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { requestsPerSecond } from './load.ts';
import {
  build,
  fill,
  inDirectory,
  issueToken,
  median,
  memoryOf,
  need,
  pagesMade,
  quantile,
  serve,
} from './server.ts';

const REQUESTS = Number(process.argv[2] ?? 10_000);
const IDLE = Number(process.argv[3] ?? 1000);
const SECONDS = Number(process.argv[4] ?? 4);
const SKUS = 1000;
const AT_ONCE = 50;

/** Milliseconds after which a hostile client closes its connection, whatever the response. */
const PATIENCE = 300;

const head = (line: string, ...headers: string[]) =>
  [`${line} HTTP/1.1`, 'Host: catalog', ...headers, '', ''].join('\r\n');

const JSON_TYPE = 'Content-Type: application/json';
const sized = (line: string, body: string, ...headers: string[]) =>
  head(line, JSON_TYPE, `Content-Length: ${Buffer.byteLength(body)}`, ...headers) + body;

/** One of each kind. `reset` resets the connection, `deaf` does not read the response. */
const HOSTILE: readonly { readonly bytes: string; readonly how?: 'reset' | 'deaf' }[] = [
  { bytes: 'hello\r\n\r\n' },
  { bytes: '\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03' },
  { bytes: 'GET / HTTP/1.1\r\n' },
  { bytes: '\0'.repeat(100_000) },
  { bytes: head('GET /', `X: ${'x'.repeat(100_000)}`) },
  { bytes: head(`GET /${'x'.repeat(9000)}`) },
  { bytes: head(`GET /${'../'.repeat(500)}etc/passwd`) },
  { bytes: head('GET /books/', 'Content-Length: 5', 'Transfer-Encoding: chunked') },
  { bytes: head('GET /admin/skus/', `Authorization: Bearer ${'x.'.repeat(4000)}`) },
  { bytes: head('GET /admin/skus/', 'Authorization: Bearer a.b.c') },
  { bytes: head('POST /books/', 'Content-Length: 1000000000') },
  { bytes: head('POST /books/', 'Content-Length: 1000000', 'Expect: 100-continue') },
  { bytes: head('POST /books/', 'Transfer-Encoding: chunked') + 'ffffffff\r\n' },
  { bytes: sized('POST /books/', '['.repeat(200_000) + ']'.repeat(200_000)) },
  { bytes: sized('POST /books/', '{"a":'.repeat(50_000) + '1' + '}'.repeat(50_000)) },
  { bytes: sized('POST /books/', `[${'1,'.repeat(400_000)}1]`) },
  { bytes: sized('POST /books/', `{"name":"${'\\u0000'.repeat(100_000)}"}`) },
  { bytes: sized('POST /books/', 'x'.repeat(1_048_577)) },
  { bytes: sized('POST /books/', '"\ud800"') },
  { bytes: head('GET /healthz').repeat(300) },
  { bytes: head('GET /books/').repeat(2000), how: 'reset' },
  { bytes: head('GET /docs/swagger-ui-bundle.js').repeat(20), how: 'deaf' },
  { bytes: sized('POST /books/', '{"name":"x"').slice(0, -4), how: 'reset' },
  { bytes: head('POST /books/', 'Content-Length: 500') + '{"name"', how: 'reset' },
  { bytes: head('OPTIONS *') },
  { bytes: head('CONNECT example.com:443') },
  { bytes: head('GET http://elsewhere.example/admin/skus/?page=%00') },
];

async function attack(port: number, index: number): Promise<void> {
  const { bytes, how } = HOSTILE[index % HOSTILE.length] ?? { bytes: '' };
  await new Promise<void>((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const timer = setTimeout(() => socket.destroy(), PATIENCE);
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(timer);
      resolve();
    });
    if (how === 'deaf') socket.pause();
    else socket.resume();
    socket.on('connect', () => {
      socket.write(bytes, 'latin1', () => {
        if (how === 'reset') socket.resetAndDestroy();
      });
    });
  });
}

/** Idle in three ways: silent, in the middle of the headers, kept alive after a response. */
async function idle(port: number): Promise<Socket[]> {
  const sent = ['', 'GET /healthz HTTP/1.1\r\nHost:', head('GET /healthz')];
  const sockets: Socket[] = [];
  for (let index = 0; index < IDLE; index += 1) {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => {});
    socket.resume();
    await new Promise((resolve) => socket.on('connect', resolve));
    socket.write(sent[index % sent.length] ?? '');
  }
  return sockets;
}

/** @returns requests per second, the median of three. */
async function rate(url: string, token: string): Promise<number> {
  const rates: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const script = { name: 'sku', skus: SKUS };
    rates.push(await requestsPerSecond({ url, token, connections: 16, seconds: SECONDS, script }));
  }
  return median(rates);
}

async function main(): Promise<void> {
  need('wrk');
  build();
  await inDirectory(async (directory) => {
    const data = join(directory, 'data');
    fill(data, SKUS);
    const token = issueToken(data);
    const { url, child } = await serve(data);
    await pagesMade(data, SKUS);
    const port = Number(new URL(url).port);
    const tell = async (what: string) => {
      const requests = (await rate(url, token)).toFixed(0).padStart(9);
      const descriptors = String(readdirSync(`/proc/${child.pid}/fd`).length).padStart(7);
      const mebibytes = memoryOf(child, 'VmRSS').toFixed(0).padStart(6);
      process.stdout.write(`${what.padEnd(44)}${requests}${mebibytes}${descriptors}\n`);
    };
    process.stdout.write(
      `${''.padEnd(44)}${'req/s'.padStart(9)}${'MiB'.padStart(6)}${'files'.padStart(7)}\n`,
    );
    await tell('to warm up');
    await tell('before');
    const sockets = await idle(port);
    await tell(`with ${IDLE} idle connections`);
    const begun = performance.now();
    const delays: number[] = [];
    let next = 0;
    let most = 0;
    const worker = async () => {
      while (next < REQUESTS) {
        next += 1;
        await attack(port, next);
      }
    };
    const watch = setInterval(() => {
      most = Math.max(most, memoryOf(child, 'VmRSS'));
      const asked = performance.now();
      void fetch(`${url}/healthz`).then(() => delays.push(performance.now() - asked));
    }, 100);
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    clearInterval(watch);
    delays.sort((a, b) => a - b);
    const seconds = ((performance.now() - begun) / 1000).toFixed(0);
    process.stdout.write(
      `${REQUESTS} hostile requests in ${seconds} s; /healthz meanwhile: median ${quantile(delays, 0.5).toFixed(1)} ms, 99 % ${quantile(delays, 0.99).toFixed(1)} ms, ${delays.length} asked; most memory ${most.toFixed(0)} MiB\n`,
    );
    await tell('after them');
    for (const socket of sockets) socket.destroy();
    await Bun.sleep(5000);
    await tell('with all of them gone');
  });
}

void main();
