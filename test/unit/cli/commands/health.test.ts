/** spec 8.15: which address `health` requests. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { healthUrl, readinessUrl } from '../../../../src/cli/commands/health.ts';
import { callProgram } from '../../../support/program.ts';

const SERVER = { host: '127.0.0.1', port: 8000, basePath: '' };

const SETTINGS: readonly (readonly [Partial<Parameters<typeof readinessUrl>[0]>, string])[] = [
  [{}, 'http://127.0.0.1:8000/readyz'],
  [{ host: 'catalog.internal', port: 80 }, 'http://catalog.internal/readyz'],
  [{ basePath: '/api' }, 'http://127.0.0.1:8000/api/readyz'],
  [{ host: '0.0.0.0' }, 'http://127.0.0.1:8000/readyz'],
  [{ host: '::' }, 'http://[::1]:8000/readyz'],
  [{ host: 'fd00::7' }, 'http://[fd00::7]:8000/readyz'],
  [{ metricsPort: 9100, basePath: '/api' }, 'http://127.0.0.1:9100/readyz'],
  [{ metricsPort: 9100, host: '0.0.0.0' }, 'http://127.0.0.1:9100/readyz'],
  [{ metricsPort: 9100, metricsHost: '10.0.0.1' }, 'http://10.0.0.1:9100/readyz'],
  [{ metricsPort: 0 }, 'http://127.0.0.1:8000/readyz'],
];

for (const [settings, expected] of SETTINGS) {
  test(`for a server with ${JSON.stringify(settings)} health requests ${expected}`, () => {
    assert.is(readinessUrl({ ...SERVER, ...settings }).href, expected);
  });
}

const ADDRESSES: readonly (readonly [given: string, asked: string])[] = [
  ['http://127.0.0.1:8000', 'http://127.0.0.1:8000/readyz'],
  ['http://127.0.0.1:8000/', 'http://127.0.0.1:8000/readyz'],
  ['https://shop.example/api', 'https://shop.example/api/readyz'],
  ['https://shop.example/api/', 'https://shop.example/api/readyz'],
  ['http://127.0.0.1:8000/healthz', 'http://127.0.0.1:8000/healthz'],
  ['https://shop.example/api/readyz/', 'https://shop.example/api/readyz'],
  ['http://127.0.0.1:8000/api/readyz', 'http://127.0.0.1:8000/api/readyz'],
];

for (const [given, asked] of ADDRESSES) {
  test(`--url ${given} requests ${asked}`, () => assert.is(healthUrl(new URL(given)).href, asked));
}

const WRONG = ['', '127.0.0.1:8000', 'ftp://a/', 'http://a/?b', 'http://a/#b', 'http://ann@a/'];

for (const url of WRONG) {
  test(`--url ${JSON.stringify(url)} is wrong usage`, async () => {
    const { status, stderr } = await callProgram(['health', `--url=${url}`]);
    assert.is(status, 2);
    assert.match(stderr, /--url.*http:\/\/127\.0\.0\.1:8000/);
  });
}

test('--url with a flag of an address is wrong usage, and it wins if both are variables', async () => {
  const none = 'http://127.0.0.1:1';
  for (const flag of ['--host', '--port', '--base-path', '--metrics-port', '--metrics-host']) {
    const value = flag.endsWith('port') ? '2' : '/api';
    const { status, stderr } = await callProgram(['health', '--url', none, flag, value]);
    assert.is(status, 2, flag);
    assert.match(stderr, new RegExp(`--url .*cannot be used with .*${flag}`));
  }
  const env = { CATALOG_URL: `${none}/variable`, CATALOG_PORT: '2', CATALOG_METRICS_PORT: '3' };
  assert.match((await callProgram(['health'], { env })).stderr, `${none}/variable/readyz does not`);
  const named = await callProgram(['health', '--url', none], { env });
  assert.match(named.stderr, `${none}/readyz does not`);
  const own = { CATALOG_URL: none };
  const port = await callProgram(['health', '--port', '2'], { env: own });
  assert.match(port.stderr, 'http://127.0.0.1:2/readyz does not');
});

for (const flags of [
  ['--host', 'a<b'],
  ['--metrics-host', 'a<b', '--metrics-port', '9180'],
]) {
  test(`health ${flags.join(' ')} is wrong usage, and the message names the flag`, async () => {
    const { status, stderr } = await callProgram(['health', ...flags]);
    assert.is(status, 2);
    assert.match(stderr, `${flags[0]} a<b is not the address of a host`);
  });
}

test('--port 0 without --url is wrong usage', async () => {
  const { status, stderr } = await callProgram(['health', '--port', '0']);
  assert.is(status, 2);
  assert.match(stderr, '--url');
});

test.run();
