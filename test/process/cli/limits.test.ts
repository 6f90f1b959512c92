/** spec 11.3 to 11.5: the flags of `serve` that say how much is taken, and from which pages. */
import { readdirSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parseSize } from '../../../src/cli/flags/limits.ts';
import { parseOrigins } from '../../../src/cli/flags/network.ts';
import { parseAuditSize } from '../../../src/cli/flags/values.ts';
import { type Received, send } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { killServers, runCommand, startServer } from '../../support/server.ts';

test.after(killServers);

const SHOP = 'https://shop.example';

/** A request for a book of exactly so many bytes. */
function bookOf(size: number): string {
  const shortest = JSON.stringify({ name: 'E', pub_date: '1815-12-23', x: '' }).length;
  return JSON.stringify({ name: 'E', pub_date: '1815-12-23', x: 'x'.repeat(size - shortest) });
}

type Server = Parameters<typeof send>[0];

const post = (server: Server, size: number) =>
  send(server, 'POST', '/books/', { body: bookOf(size) });

/** The limit is exactly so many bytes. */
async function assertLimit(server: Server, bytes: number): Promise<void> {
  assert.is((await post(server, bytes)).status, 201, `${bytes} bytes`);
  const over = await post(server, bytes + 1);
  assert.is(over.status, 413, `${bytes + 1} bytes`);
  assert.match(over.json.error, `${bytes} bytes`);
}

async function allowedFor(server: Server, origin: string): Promise<string | null> {
  const answer: Received = await send(server, 'GET', '/books/', { headers: { origin } });
  assert.is(answer.status, 200);
  return answer.headers.get('access-control-allow-origin');
}

test('serve --help names the flags, their variables and the default sizes', async () => {
  const { status, stdout } = await runCommand(['serve', '--help']);
  assert.is(status, 0);
  const text = stdout.replace(/\s+/g, ' ');
  assert.match(text, /--max-body <size> [^-]*1MiB[^-]*CATALOG_MAX_BODY/);
  assert.match(text, /--cors-origin <origin> [^-]*CATALOG_CORS_ORIGIN/);
  assert.match(text, /--audit-size <MiB> [^-]*16[^-]*CATALOG_AUDIT_SIZE/);
});

interface Flag {
  readonly flag: string;
  readonly variable: string;
  /** What the line has to name. */
  readonly says: string;
  readonly parse: (text: string) => unknown;
  readonly wrong: readonly string[];
}

const LIMITS: readonly Flag[] = [
  {
    flag: '--max-body',
    variable: 'CATALOG_MAX_BODY',
    says: '8MiB',
    parse: parseSize,
    wrong: [
      '1MB',
      '',
      'x',
      '0',
      '0KiB',
      '-1',
      '+1',
      '1.5',
      '1.5MiB',
      '1e6',
      '0x400',
      ' 1024',
      '1 MiB',
      '1M',
      '1mib',
      '1kib',
      '1GiB',
      '1MiBMiB',
      'MiB',
      '1,024',
      '١',
      'Infinity',
      '1024 ',
      '1025MiB',
      '1048577KiB',
      '1073741825',
      '99999999999999999999',
      '1024\n',
    ],
  },
  {
    flag: '--audit-size',
    variable: 'CATALOG_AUDIT_SIZE',
    says: 'from 0 to 1024',
    parse: parseAuditSize,
    wrong: [
      '16MiB',
      '',
      'x',
      '-1',
      '+1',
      '1.5',
      '1e2',
      '0x10',
      ' 16',
      '16 ',
      '16\n',
      '1025',
      '99999',
    ],
  },
  {
    flag: '--cors-origin',
    variable: 'CATALOG_CORS_ORIGIN',
    says: SHOP,
    parse: parseOrigins,
    wrong: [
      `${SHOP}/`,
      '',
      ' ',
      'shop.example',
      '//shop.example',
      'https:',
      'https://',
      'null',
      `${SHOP}/path`,
      `${SHOP}?x`,
      `${SHOP}#x`,
      `${SHOP}:443`,
      `${SHOP}:99999`,
      '**',
      'http://shop.example:80',
      'https://Shop.example',
      'HTTPS://shop.example',
      'https://ann@shop.example',
      'https://shop example',
      'https://käse.example',
      'file:///tmp',
      `blob:${SHOP}`,
      'data:,',
      'https://127.1',
      `${SHOP},`,
      `,${SHOP}`,
      ',',
      `${SHOP},,${SHOP}`,
      `${SHOP},x`,
      `${SHOP};${SHOP}`,
      `${SHOP} ${SHOP}`,
      '*,',
      `*,${SHOP}/`,
    ],
  },
];

for (const { flag, variable, says, parse, wrong } of LIMITS) {
  test(`a malformed ${flag} is refused, and the message says what to give`, () => {
    for (const value of wrong) {
      let refusal: unknown = `'${value}' was taken`;
      try {
        parse(value);
      } catch (error) {
        refusal = error;
      }
      assert.instance(refusal, InvalidArgumentError, String(refusal));
      assert.ok(String(refusal).includes(says), String(refusal));
    }
  });

  test(`a malformed ${flag} or ${variable} exits 2 with one line that names it`, async () => {
    const [value = '', empty = ''] = wrong;
    for (const [args, env, named] of [
      [[`${flag}=${value}`], {}, flag],
      [[`${flag}=${empty}`], {}, flag],
      [[flag], {}, flag],
      [[], { [variable]: value }, variable],
    ] as const) {
      const cwd = temporaryDirectory();
      // Where the value were taken, the short secret would end the process, with another status.
      const { status, stdout, stderr } = await runCommand(['serve', '--port', '0', ...args], {
        cwd,
        env: { CATALOG_JWT_SECRET: 'short', ...env },
      });
      assert.is(status, 2, stderr);
      assert.is(stdout, '');
      assert.match(stderr, /^catalog-server: [^\n]{10,}\n$/);
      assert.ok(stderr.includes(named), stderr);
      if (args[0] !== flag) assert.ok(stderr.includes(says), stderr);
      assert.equal(readdirSync(cwd), [], 'wrong usage leaves nothing behind');
    }
  });
}

test('an origin that no page has is refused: a pattern, another scheme', () => {
  const taken = (value: string) => {
    try {
      return parseOrigins(value);
    } catch {
      return [];
    }
  };
  for (const value of ['https://*.example', 'https://*', 'ftp://shop.example', 'ws://a.example']) {
    assert.equal(taken(value), [], value);
  }
});

const SIZES: readonly (readonly [text: string, bytes: number])[] = [
  ['100', 100],
  ['1KiB', 1024],
  ['2MiB', 2 * 1024 * 1024],
];

for (const [text, bytes] of SIZES) {
  test(`--max-body ${text} takes ${bytes} bytes and no more`, async () => {
    const server = await startServer({ args: ['--max-body', text] });
    await assertLimit(server, bytes);
    await server.stop();
  });
}

test('the smallest size is 1 byte, the largest 1024 MiB', () => {
  for (const [text, bytes] of [
    ['1', 1],
    ['01', 1],
    ['1024MiB', 2 ** 30],
    ['1048576KiB', 2 ** 30],
    ['1073741824', 2 ** 30],
  ] as const) {
    assert.is(parseSize(text), bytes, text);
  }
});

test('CATALOG_MAX_BODY is taken, --max-body wins over it, and an empty one is unset', async () => {
  const variable = await startServer({ env: { CATALOG_MAX_BODY: '200' } });
  await assertLimit(variable, 200);
  await variable.stop();
  for (const CATALOG_MAX_BODY of ['200', 'x']) {
    const flag = await startServer({ env: { CATALOG_MAX_BODY }, args: ['--max-body', '300'] });
    await assertLimit(flag, 300);
    await flag.stop();
  }
  const empty = await startServer({ env: { CATALOG_MAX_BODY: '' } });
  await assertLimit(empty, 1024 * 1024);
  await empty.stop();
});

test('CATALOG_CORS_ORIGIN is taken, with commas and spaces around them', async () => {
  const value = `${SHOP} , http://localhost:5173,https://other.example:8443`;
  const server = await startServer({ env: { CATALOG_CORS_ORIGIN: value } });
  for (const origin of [SHOP, 'http://localhost:5173', 'https://other.example:8443']) {
    assert.is(await allowedFor(server, origin), origin);
  }
  for (const origin of ['http://shop.example', 'http://localhost', value, '*']) {
    assert.is(await allowedFor(server, origin), null, origin);
  }
  await server.stop();
});

test('--cors-origin wins over its variable, whose origins are not added', async () => {
  for (const CATALOG_CORS_ORIGIN of ['https://variable.example', '*', 'x']) {
    const server = await startServer({
      env: { CATALOG_CORS_ORIGIN },
      args: ['--cors-origin', SHOP],
    });
    assert.is(await allowedFor(server, SHOP), SHOP, CATALOG_CORS_ORIGIN);
    assert.is(await allowedFor(server, 'https://variable.example'), null, CATALOG_CORS_ORIGIN);
    await server.stop();
  }
});

test('an empty CATALOG_CORS_ORIGIN is an unset one', async () => {
  const server = await startServer({ env: { CATALOG_CORS_ORIGIN: '' } });
  assert.is(await allowedFor(server, SHOP), null);
  await server.stop();
});

test.run();
