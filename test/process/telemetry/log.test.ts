/** The log that a server writes to standard error. */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { send, tokenFor } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { measured, valuesOf } from '../../support/metrics.ts';
import { callProgram } from '../../support/program.ts';
import { exchangeRaw } from '../../support/raw.ts';
import {
  killServers,
  runCommand,
  SECRET,
  type ServerOptions,
  serving,
  startServer,
  type TestServer,
} from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { PROGRAM, ROOT } from '../../support/paths.ts';

test.after(killServers);

const BOOK = { name: 'Emma', pub_date: '1815-12-23' };
const INFO = ['--log-level', 'info'];

type Event = Readonly<Record<string, unknown>>;

/** Starts a server, runs `act` and stops the server. @returns what the server logged. */
async function logged(
  options: ServerOptions,
  act: (server: TestServer) => Promise<void>,
): Promise<{ readonly events: readonly Event[]; readonly text: string }> {
  const server = await startServer(options);
  await act(server);
  const { status, stderr } = await server.stop();
  assert.is(status, 0, stderr);
  const lines = stderr.split('\n').filter((line) => line !== '');
  const isJson = !options.args?.includes('text');
  return { text: stderr, events: isJson ? lines.map((line) => JSON.parse(line) as Event) : [] };
}

/** The requests, without those with which the test client fetches the description of the API. */
const requestsIn = (events: readonly Event[]) =>
  events.filter(({ msg, path }) => msg === 'request' && path !== '/openapi.json');

test('by default neither successful nor rejected requests are logged', async () => {
  const { text } = await logged({}, async (server) => {
    await send(server, 'GET', '/books/');
    await send(server, 'GET', '/nowhere/');
    await send(server, 'POST', '/books/', { body: '{' });
    await send(server, 'GET', '/admin/skus/', { token: null });
  });
  assert.is(text, '');
});

test('at level info every response is a JSON line with its subject, request, duration and size', async () => {
  const { events } = await logged({ args: INFO }, async (server) => {
    await send(server, 'POST', '/books/', { body: BOOK, token: null });
    await send(server, 'GET', '/books/1/', { token: null });
    const token = await tokenFor('viewer', { sub: 'ann' });
    await send(server, 'GET', '/admin/skus/', { token });
    await send(server, 'POST', '/admin/brands/', { token, body: { name: 'x' } });
    await send(server, 'GET', '/nowhere/', { token: null });
  });
  const requests = requestsIn(events);
  assert.equal(
    requests.map(({ level, method, path, status, subject }) => [
      level,
      method,
      path,
      status,
      subject,
    ]),
    [
      ['info', 'POST', '/books/', 201, undefined],
      ['info', 'GET', '/books/1/', 200, undefined],
      ['info', 'GET', '/admin/skus/', 200, 'ann'],
      ['info', 'POST', '/admin/brands/', 403, undefined],
      ['info', 'GET', '/nowhere/', 404, undefined],
    ],
  );
  for (const { request_id, ms, bytes, address, time } of requests) {
    assert.match(String(request_id), /^[\da-f-]{36}$/);
    assert.ok(typeof ms === 'number' && ms > 0 && ms < 60_000, String(ms));
    assert.ok(typeof bytes === 'number' && bytes > 0, String(bytes));
    assert.is(address, '127.0.0.1');
    assert.match(String(time), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  }
  assert.is(new Set(requests.map(({ request_id }) => request_id)).size, requests.length);
});

test('requests for /healthz and /readyz are logged only at level debug', async () => {
  const ask = async (server: TestServer) => {
    await send(server, 'GET', '/healthz');
    await send(server, 'GET', '/readyz');
  };
  assert.equal(requestsIn((await logged({ args: INFO }, ask)).events), []);
  const { events } = await logged({ args: ['--log-level', 'debug'] }, ask);
  assert.equal(
    requestsIn(events).map(({ level, path }) => [level, path]),
    [
      ['debug', '/healthz'],
      ['debug', '/readyz'],
    ],
  );
});

test('tokens, secrets, queries, headers and bodies are never logged', async () => {
  const token = await tokenFor('admin');
  const secrets = [token, SECRET, 'in-the-query', 'in-the-body', 'in-a-header', 'in-the-key'];
  const { text } = await logged({ args: ['--log-level', 'debug', '--verbose'] }, async (server) => {
    const sent = { token, headers: { 'X-Api-Key': 'in-a-header' } };
    await send(server, 'GET', '/admin/skus/?keyword=in-the-query', sent);
    await send(server, 'GET', `/admin/skus/?page=${token}`, sent);
    await send(server, 'POST', '/books/', { ...sent, body: { name: 'in-the-body' } });
    await send(server, 'POST', '/books/', { ...sent, body: '{"name": in-the-body' });
    const headers = { authorization: `Basic in-a-header`, 'idempotency-key': 'in-the-key' };
    await send(server, 'GET', '/admin/skus/', { token: null, headers });
    await send(server, 'GET', '/admin/skus/', { token: `${token}x` });
    await send(server, 'POST', '/books/', { body: BOOK, headers });
  });
  assert.match(text, '"path":"/admin/skus/"');
  for (const secret of secrets) assert.not.ok(text.includes(secret), secret);
});

test('a path cannot forge a line of the log, in JSON or in text', async () => {
  const targets = ['/a\u001b[2J', '/a\u0085b', '/\u202egnp', `/${'%0a'.repeat(3)}`];
  for (const format of ['json', 'text']) {
    const args = [...INFO, '--log-format', format];
    const { text } = await logged({ args }, async (server) => {
      for (const target of targets) {
        const bytes = Buffer.from(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
        await exchangeRaw(server, [bytes]);
      }
    });
    assert.not.match(text.replaceAll('\n', ''), /[\p{Cc}\u2028\u2029]/u, format);
    const lines = text.split('\n').filter((line) => line !== '');
    const begins = format === 'json' ? /^\{"level":/ : /^\d\d:\d\d:\d\d\.\d{3} [A-Z]{4,5} +\w/;
    for (const line of lines) assert.match(line, begins);
    assert.ok(lines.length >= targets.length, `${lines.length} lines`);
  }
});

test('a path of more than 1024 characters is truncated in the log', async () => {
  const { events } = await logged({ args: INFO }, async (server) => {
    await send(server, 'GET', `/${'a'.repeat(5000)}/`);
  });
  assert.is(String(requestsIn(events)[0]?.['path']).length, 1025);
});

test('bytes that are not a valid request are logged with status 400 and the address', async () => {
  const { events } = await logged({ args: INFO }, async (server) => {
    await exchangeRaw(server, ['hello there\r\n\r\n']);
  });
  const [refused] = requestsIn(events);
  assert.is(refused?.['status'], 400);
  assert.is(refused?.['address'], '127.0.0.1');
});

test('the level silent logs nothing, and CATALOG_LOG_LEVEL and CATALOG_LOG_FORMAT are used', async () => {
  const get = async (server: TestServer) => void (await send(server, 'GET', '/books/'));
  assert.is((await logged({ args: ['--log-level', 'silent'] }, get)).text, '');
  const env = { CATALOG_LOG_LEVEL: 'info', CATALOG_LOG_FORMAT: 'text' };
  const server = await startServer({ env });
  await get(server);
  assert.match((await server.stop()).stderr, /^\d\d:\d\d:\d\d\.\d{3} INFO {2}request .*path=/m);
});

for (const [flag, variable, choices] of [
  ['--log-level', 'CATALOG_LOG_LEVEL', 'silent, error, warn, info, debug'],
  ['--log-format', 'CATALOG_LOG_FORMAT', 'auto, json, text'],
] as const) {
  test(`an unknown ${flag} exits 2 with one line that names the flag or the variable, and the choices`, async () => {
    const env = { CATALOG_JWT_SECRET: 'short' };
    for (const [args, more, source] of [
      [[flag, 'loud'], {}, flag],
      [[], { [variable]: 'loud' }, variable],
    ] as const) {
      const { status, stderr } = await runCommand(['serve', '--port', '0', ...args], {
        cwd: temporaryDirectory(),
        env: { ...env, ...more },
      });
      assert.is(status, 2, stderr);
      assert.match(stderr, /^catalog-server: [^\n]+\n$/);
      assert.ok(stderr.includes(source), stderr);
      assert.ok(stderr.includes(`Allowed choices are ${choices};`), stderr);
    }
  });
}

test('an error that prevents the start is one plain line, even with --log-format json', async () => {
  const args = ['serve', '--data', temporaryDirectory(), '--port', '0', '--log-format', 'json'];
  const { status, stderr } = await runCommand([...args, '--host', '203.0.113.1']);
  assert.is(status, 1);
  assert.match(stderr, /^catalog-server: 203\.0\.113\.1 [^\n]+\n$/);
});

/** A server whose standard error is a pipe without a reader. */
async function unread(): Promise<{ readonly server: Awaited<ReturnType<typeof serving>> }> {
  const fifo = join(temporaryDirectory(), 'unread');
  assert.is(spawnSync('mkfifo', [fifo]).status, 0);
  const serve = ['serve', '--data', temporaryDirectory(), '--port', '0', '--log-level', 'info'];
  // Opening a FIFO for reading and writing never blocks, and nothing reads what is written.
  const script = 'exec 2<>"$0" && exec "$@"';
  const child = spawn('sh', ['-c', script, fifo, PROGRAM, ...serve], {
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return { server: await serving(child) };
}

test('a warning is written also if it comes during the write of the one before', async () => {
  const script = `
    const { Log } = await import(process.argv[1]);
    const log = new Log({ level: 'warn', format: 'json', terminal: false, stacks: false });
    log.warn('the first');
    log.warn('the second');
    process.stdin.resume();
  `;
  const child = spawn(process.execPath, ['-e', script, join(ROOT, 'src', 'telemetry', 'log.ts')]);
  let said = '';
  child.stderr.on('data', (chunk) => (said += chunk));
  await until('both are written', () => said.includes('the second'));
  child.stdin.end();
});

test('if nothing reads the log, neither requests nor the shutdown are delayed', async () => {
  const { server } = await unread();
  const path = `/${'a'.repeat(900)}/`;
  // About 3 MB of lines: the pipe holds 64 KiB, and the log buffers up to 1 MiB.
  for (let round = 0; round < 30; round += 1) {
    const statuses = await Promise.all(
      Array.from({ length: 100 }, async () => (await fetch(`${server.url}${path}`)).status),
    );
    assert.ok(statuses.every((status) => status === 404));
  }
  assert.is((await server.stop()).status, 0);
});

test('if the reader of the log has ended, requests are served, and the lines count as lost', async () => {
  const { server, operator } = await measured();
  server.child.stderr?.destroy();
  const lost = async () => (await valuesOf(operator)).get('catalog_log_lines_lost_total') ?? 0;
  await until('lines are lost', async () => {
    assert.is((await send(server, 'GET', '/healthz')).status, 200);
    assert.is((await send(server, 'GET', '/books/')).status, 200);
    return (await lost()) > 0;
  });
  assert.is((await send(server, 'GET', '/books/')).status, 200);
  assert.is((await server.stop()).status, 0);
});

test('a data directory open to other users gets mode 700, and the change is logged', async () => {
  const data = temporaryDirectory();
  assert.is((await callProgram(['migrate', '--data', data])).status, 0);
  chmodSync(data, 0o755);
  const { events } = await logged({ data, args: INFO }, async () => {});
  assert.ok(events.some(({ msg }) => String(msg).includes(`${data} was open to other users`)));
  assert.is(spawnSync('stat', ['-c', '%a', data], { encoding: 'utf8' }).stdout, '700\n');
  const { text } = await logged({ data }, async () => {});
  assert.is(text, '');
});

const isRoot = process.geteuid?.() === 0;

(isRoot ? test : test.skip)(
  'a server that runs as root logs that it should run as its own user',
  async () => {
    const told = /runs as root; give it a user of its own/;
    const env = { JOURNAL_STREAM: '8:1' };
    assert.match((await logged({ env }, async () => {})).text, told);
    assert.match((await logged({ args: INFO }, async () => {})).text, told);
  },
);

test('a variable that is almost that of a flag is logged once, also with workers', async () => {
  const env = { CATALOG_CURENCY: 'EUR', CATALOG_SERVICE_HOST: '10.0.0.1' };
  const { events } = await logged({ env, args: ['--workers', '2'] }, async () => {});
  assert.equal(
    events.map(({ level, msg }) => [level, msg]),
    [
      [
        'warn',
        'the variable CATALOG_CURENCY has no effect; if you mean CATALOG_CURRENCY, correct its name and restart',
      ],
    ],
  );
});

test('serve.ts writes one plain line, that it created an empty store; the rest is logged', () => {
  const text = readFileSync(join(ROOT, 'src', 'app', 'serve.ts'), 'utf8');
  assert.match(text, 'new Observability(');
  assert.equal(text.match(/context\.warn|process\.stderr\.write/g), ['context.warn']);
  assert.match(text, 'created an empty store');
});

test.run();
