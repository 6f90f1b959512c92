/** The configurations for nginx and Caddy in docs/examples/, tested in front of a server. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LIMITS } from '../../../src/http/wire/limits.ts';
import { pageWith } from '../../support/catalog.ts';
import { send, tokenFor } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { ROOT } from '../../support/paths.ts';
import { freePorts } from '../../support/ports.ts';
import { succeed } from '../../support/release.ts';
import { killServers, startServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

const EXAMPLES = join(ROOT, 'docs', 'examples');

const SITE = 'catalog.example.com';
const SHOP = 'shop.example.com';

interface Proxy {
  readonly name: string;
  /** @returns the process. @param port of HTTPS. @param base prefix of every path of the server. */
  readonly start: (server: TestServer, plain: number, port: number, base: string) => ChildProcess;
  readonly hasCache: boolean;
}

function startNginx(server: TestServer, plain: number, port: number, base: string): ChildProcess {
  const directory = temporaryDirectory();
  const [certificate, key] = ['pem', 'key'].map((name) => join(directory, `catalog.${name}`));
  succeed('openssl', [
    ...'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=test'.split(
      ' ',
    ),
    '-keyout',
    key ?? '',
    '-out',
    certificate ?? '',
  ]);
  const example = readFileSync(join(EXAMPLES, 'nginx.conf'), 'utf8')
    .replace(/^\s*listen \[::\].*\n/gm, '')
    .replaceAll('listen 80;', `listen 127.0.0.1:${plain};`)
    .replaceAll('listen 443 ', `listen 127.0.0.1:${port} `)
    .replace('server 127.0.0.1:8000;', `server ${new URL(server.url).host};`)
    .replaceAll('/etc/ssl/catalog.pem', certificate ?? '')
    .replaceAll('/etc/ssl/private/catalog.key', key ?? '')
    .replaceAll('location ~ ^', `location ~ ^${base}`)
    .replace('http://catalog/pages/', `http://catalog${base}/pages/`)
    .replace('/var/cache/nginx/catalog', join(directory, 'cache'));
  writeFileSync(join(directory, 'catalog.conf'), example);
  mkdirSync(join(directory, 'temporary'));
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${directory}/temporary/${name};`,
  );
  const main = [
    `daemon off; master_process off; error_log ${directory}/error.log;`,
    `pid ${directory}/nginx.pid; events {}`,
    `http { access_log off; types { text/html html; } ${paths.join(' ')}`,
    `include ${directory}/catalog.conf; }`,
  ];
  writeFileSync(join(directory, 'nginx.conf'), main.join('\n'));
  return spawn('nginx', ['-p', directory, '-c', join(directory, 'nginx.conf')], {
    stdio: 'ignore',
  });
}

function startCaddy(server: TestServer, plain: number, port: number, base: string): ChildProcess {
  const directory = temporaryDirectory();
  const own = [
    '{ admin off',
    'local_certs',
    'skip_install_trust',
    `http_port ${plain}`,
    `https_port ${port}`,
    `storage file_system ${directory}`,
    'log {',
    'level ERROR',
    '}',
    '}',
  ];
  const example = readFileSync(join(EXAMPLES, 'Caddyfile'), 'utf8').replace(
    / (\/(?:[\w./]+\/\*|pages\{uri\}))/g,
    ` ${base}$1`,
  );
  const file = join(directory, 'Caddyfile');
  writeFileSync(file, `${own.join('\n').replace('{ admin', '{\nadmin')}\n${example}`);
  return spawn('caddy', ['run', '--adapter', 'caddyfile', '--config', file], {
    stdio: 'ignore',
    env: { PATH: process.env['PATH'], HOME: directory, UPSTREAM: new URL(server.url).host },
  });
}

const PROXIES: readonly Proxy[] = [
  { name: 'nginx', start: startNginx, hasCache: true },
  { name: 'caddy', start: startCaddy, hasCache: false },
];

const proxies: ChildProcess[] = [];

test.after(async () => {
  for (const proxy of proxies) proxy.kill('SIGKILL');
  await killServers();
});

interface Asked {
  readonly status: number;
  readonly version: string;
  /** Lower case names. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/**
 * Sends a request with curl, which supports HTTP/2 and can use any address of this machine.
 *
 * @returns the error of curl if there is no response.
 */
function ask(host: string, port: number, path: string, ...args: readonly string[]): Asked | string {
  const scheme = args.includes('--plain') ? 'http' : 'https';
  const { status, stdout, stderr } = spawnSync(
    'curl',
    [
      ...'-sSk -i --compressed --max-time 20 --resolve'.split(' '),
      `${host}:${port}:127.0.0.1`,
      ...args.filter((each) => each !== '--plain'),
      `${scheme}://${host}:${port}${path}`,
    ],
    { encoding: 'utf8' },
  );
  if (status !== 0) return stderr;
  const [head = '', ...rest] = stdout.split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const [version = '', code = ''] = first.split(' ');
  const headers = lines.map((line): [string, string] => {
    const [name = '', ...value] = line.split(': ');
    return [name.toLowerCase(), value.join(': ')];
  });
  return { status: Number(code), version, headers: new Map(headers), body: rest.join('\r\n\r\n') };
}

/** @throws Error if there is no response. */
function askOf(host: string, port: number, path: string, ...args: readonly string[]): Asked {
  const asked = ask(host, port, path, ...args);
  if (typeof asked === 'string') throw new Error(`no answer for ${host}${path}: ${asked}`);
  return asked;
}

/** Another address of this machine, which is not in the lists of the examples. */
const STRANGER = ['--interface', '127.0.0.2'] as const;

const STAFF_ONLY = [
  '/admin/skus/',
  '/console/',
  '/admin/changes/',
  '/admin/hosts/state/',
  '/admin/skus/imports/',
];

/** @returns arguments of curl to send an import file that is larger than other bodies may be. */
async function fileOver1MiB(): Promise<readonly string[]> {
  const file = join(temporaryDirectory(), 'skus.csv');
  writeFileSync(file, 'id\n'.padEnd(2 ** 21, '\n'));
  const headers = [`Authorization: Bearer ${await tokenFor('editor')}`, 'Content-Type: text/csv'];
  return ['--data-binary', `@${file}`, ...headers.flatMap((each) => ['-H', each])];
}

async function assertProxy({ start, hasCache }: Proxy): Promise<void> {
  const flags = ['--trust-proxy', 'loopback', '--public-url', `https://${SHOP}`];
  const server = await startServer({ demo: true, args: flags });
  await pageWith(server, 1, 'Auralune');
  await until('the front page is written', async () => {
    return (await send(server, 'GET', '/pages/', { token: null })).status === 200;
  });
  const [plain = 0, port = 0] = await freePorts(2);
  proxies.push(start(server, plain, port, ''));
  await until('the proxy answers', () => typeof ask(SITE, port, '/books/1/') !== 'string');
  const get = (host: string, path: string, ...args: readonly string[]): Asked =>
    askOf(host, port, path, ...args);

  const book = get(SITE, '/books/1/');
  assert.is(book.status, 200);
  assert.is(book.version, 'HTTP/2');
  assert.is(book.headers.get('strict-transport-security'), 'max-age=31536000');
  assert.match(book.headers.get('etag') ?? '', /^"/, 'the entity tag is strong');
  assert.ok([301, 308].includes(askOf(SITE, plain, '/books/', '--plain').status));

  assert.is(get(SITE, '/admin/skus/').status, 401, 'the server asks for a token');
  assert.is(get(SITE, '/console/').status, 200);
  for (const path of STAFF_ONLY) {
    assert.is(get(SITE, path, ...STRANGER).status, 403, path);
    assert.is(get(SITE, `/1.0${path}`, ...STRANGER).status, 403, `/1.0${path}`);
  }
  assert.is(get(SITE, '/books/', ...STRANGER).status, 200);
  for (const path of ['/healthz', '/readyz', '/readyz?verbose']) {
    assert.is(get(SITE, path, ...STRANGER).status, 200, `a monitor requests ${path}`);
  }
  assert.is(get(SITE, '/admin/skus/imports/', ...(await fileOver1MiB())).status, 202);

  const page = get(SHOP, '/skus/1.html', ...STRANGER, '-H', 'X-Request-Id: forged');
  assert.is.not(page.headers.get('x-request-id'), 'forged');
  assert.is(page.status, 200);
  assert.match(page.body, 'Auralune');
  assert.match(page.headers.get('content-encoding') ?? '', /^(?:gzip|zstd)$/);
  assert.is(page.headers.get('cache-control'), 'no-cache');
  assert.match(get(SHOP, '/').body, '<html');
  const robots = get(SHOP, '/robots.txt', ...STRANGER);
  assert.match(robots.headers.get('content-type') ?? '', /^text\/plain/);
  assert.is(robots.body.trim(), `Sitemap: https://${SHOP}/sitemap.xml`);
  assert.match(get(SHOP, '/sitemap.xml').body, '<sitemapindex');
  assert.is(get(SHOP, '/admin/skus/').status, 404, 'the shop has pages alone');
  // Without a body: a proxy that rejects it unread may reset the stream before curl has a response.
  assert.ok([403, 405].includes(get(SHOP, '/', '-X', 'POST').status));

  if (hasCache) {
    await server.stop();
    assert.match(get(SHOP, '/skus/1.html').body, 'Auralune', 'from the cache');
    const other = ['-H', 'Accept: text/html', '-H', 'Origin: https://other.example'];
    assert.match(get(SHOP, '/skus/1.html', ...other).body, 'Auralune', 'for any browser');
  }
}

async function assertBasePath({ start }: Proxy): Promise<void> {
  const args = ['--trust-proxy', 'loopback', '--base-path', '/api'];
  const server = await startServer({ demo: true, args });
  const [plain = 0, port = 0] = await freePorts(2);
  proxies.push(start(server, plain, port, '/api'));
  await until('the proxy answers', () => typeof ask(SITE, port, '/api/books/1/') !== 'string');
  const statusOf = (host: string, path: string, ...more: readonly string[]): number =>
    askOf(host, port, path, ...more).status;

  assert.is(statusOf(SITE, '/api/books/1/', ...STRANGER), 200);
  assert.is(statusOf(SITE, '/api/admin/skus/'), 401, 'the server asks for a token');
  for (const path of STAFF_ONLY) {
    assert.is(statusOf(SITE, `/api${path}`, ...STRANGER), 403, path);
    assert.is(statusOf(SITE, `/api/1.0${path}`, ...STRANGER), 403, `/1.0${path}`);
  }
  await until('the shop shows its front page', () => statusOf(SHOP, '/', ...STRANGER) === 200);
}

test('the example for Caddy closes idle connections before the server does', () => {
  const example = readFileSync(join(EXAMPLES, 'Caddyfile'), 'utf8');
  const [, seconds] = /^\s*keepalive (\d+)s$/m.exec(example) ?? [];
  assert.ok(Number(seconds) * 1000 < LIMITS.keepAliveTimeout, `${seconds} s`);
});

for (const proxy of PROXIES) {
  const missing = [proxy.name, 'curl', 'openssl'].filter((name) => Bun.which(name) === null);
  const name = `the configuration for ${proxy.name} works as docs/operations.md describes`;
  const withBase = `the configuration for ${proxy.name} works with /api before every path`;
  if (missing.length === 0) {
    test(name, () => assertProxy(proxy));
    test(withBase, () => assertBasePath(proxy));
  } else {
    for (const each of [name, withBase]) {
      test.skip(`${each} (skipped: ${missing.join(', ')} not installed)`, () => {});
    }
  }
}

test.run();
