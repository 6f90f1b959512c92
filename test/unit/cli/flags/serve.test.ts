/** The flags of `serve` for running the server: their values and their descriptions. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parseCount, parseTimeout } from '../../../../src/cli/flags/limits.ts';
import { parseMemory, parseSizeWithin } from '../../../../src/cli/flags/sizes.ts';
import { parseSwitch } from '../../../../src/cli/flags/flag.ts';
import { parseProxies } from '../../../../src/cli/flags/network.ts';
import { commandFacts, inertProgram } from '../../../../release/program-facts.ts';
import { callProgram } from '../../../support/program.ts';
import { ROOT } from '../../../support/paths.ts';

interface Values {
  readonly parse: (text: string) => unknown;
  readonly good: readonly (readonly [text: string, value: unknown])[];
  readonly wrong: readonly string[];
}

const VALUES: Readonly<Record<string, Values>> = {
  count: {
    parse: parseCount(4),
    good: [
      ['4', 4],
      ['0064', 64],
      ['1000000', 1_000_000],
    ],
    wrong: ['3', '', '-4', '4.0', '1e3', ' 4', '1000001', '99999999', '٤', 'Infinity'],
  },
  size: {
    parse: parseSizeWithin({ least: 1024, most: 1024 * 1024 }),
    good: [
      ['1024', 1024],
      ['64KiB', 65_536],
      ['1MiB', 1024 * 1024],
    ],
    wrong: ['1023', '1025KiB', '2MiB', '', '1kb', '-1'],
  },
  memory: {
    parse: parseMemory,
    good: [
      ['128MiB', 2 ** 27],
      ['4GiB', 2 ** 32],
      ['134217728', 2 ** 27],
    ],
    wrong: ['127MiB', '4', '4GB', '', '1.5GiB', '134217727'],
  },
  timeout: {
    parse: parseTimeout,
    good: [
      ['1s', 1000],
      ['2m', 120_000],
      ['1d', 86_400_000],
    ],
    wrong: ['0s', '1', '', '1.5s', '25h', '2d', '1w', '-1s', '1 s', '1ms'],
  },
  proxies: {
    parse: (text) => parseProxies(text),
    good: [
      ['10.0.0.1', ['10.0.0.1']],
      ['loopback, 10.0.0.0/8,fd00::/8', ['loopback', '10.0.0.0/8', 'fd00::/8']],
    ],
    wrong: [
      '',
      ',',
      '10.0.0.1,',
      'proxy.example',
      '10.0.0.0/33',
      '10.0.0.0/',
      '10.0.0',
      '1',
      '0x10',
      '167772161',
      '010.0.0.1',
      '010.0.0.0/8',
      'true',
      '*',
      '0.0.0.0/x',
    ],
  },
  switch: {
    parse: parseSwitch,
    good: [
      ['yes', true],
      ['true', true],
      ['1', true],
      ['no', false],
      ['false', false],
      ['0', false],
    ],
    wrong: ['', 'on', 'YES', 'y', '2', ' yes'],
  },
};

for (const [what, { parse, good, wrong }] of Object.entries(VALUES)) {
  test(`the values of a ${what} are parsed, and malformed ones are refused`, () => {
    for (const [text, value] of good) assert.equal(parse(text), value, text);
    for (const text of wrong) {
      let refusal: unknown = `'${text}' was taken`;
      try {
        parse(text);
      } catch (error) {
        refusal = error;
      }
      assert.instance(refusal, InvalidArgumentError, String(refusal));
    }
  });
}

const WRONG: readonly (readonly [flag: string, value: string])[] = [
  ['--metrics-port', '70000'],
  ['--trust-proxy', 'proxy.example'],
  ['--protect-books', 'maybe'],
  ['--max-headers', '1'],
  ['--max-url', '1GiB'],
  ['--max-body-memory', '0'],
  ['--max-memory', '64MiB'],
  ['--min-free-disk', '5%'],
  ['--max-json-depth', '3'],
  ['--max-json-elements', '0'],
  ['--max-connections', '0'],
  ['--max-connections-per-address', '-1'],
  ['--max-pipelined', 'x'],
  ['--headers-timeout', '6'],
  ['--request-timeout', '0s'],
  ['--keep-alive-timeout', '2w'],
  ['--send-timeout', ''],
  ['--workers', '0'],
  ['--workers', '65'],
];

test('a wrong value exits 2 with one line that names the flag or the variable', async () => {
  for (const [flag, value] of WRONG) {
    const variable = `CATALOG_${flag.slice(2).replaceAll('-', '_').toUpperCase()}`;
    const runs: (readonly [readonly string[], Readonly<Record<string, string>>, string])[] = [
      [[`${flag}=${value}`], {}, flag],
    ];
    if (value !== '') runs.push([[], { [variable]: value }, variable]);
    for (const [args, env, named] of runs) {
      const { status, stdout, stderr } = await callProgram(['serve', '--port', '0', ...args], {
        env: { CATALOG_JWT_SECRET: 'short', ...env },
      });
      assert.is(status, 2, `${flag} ${value}: ${stderr}`);
      assert.is(stdout, '');
      assert.match(stderr, /^catalog-server: [^\n]{10,}\n$/);
      assert.ok(stderr.includes(named), stderr);
    }
  }
});

test('the examples use only variables and commands that exist', async () => {
  const directory = join(ROOT, 'docs', 'examples');
  const texts = readdirSync(directory).map((name) => readFileSync(join(directory, name), 'utf8'));
  const flags = commandFacts(inertProgram()).flatMap(({ groups }) =>
    groups.flatMap((group) => group.flags),
  );
  const known = new Set([...flags.map(({ variable }) => variable), 'CATALOG_JWT_SECRET']);
  const variables = texts.flatMap((text) => text.match(/\bCATALOG_\w+/g) ?? []);
  assert.ok(variables.length > 4, `${variables.length} variables`);
  for (const variable of variables) assert.ok(known.has(variable), variable);
  const { stdout } = await callProgram(['--help']);
  const commands = texts.flatMap((text) =>
    [...text.matchAll(/(?:\/|=|  )catalog-server ([a-z-]+)/g)].map(([, command = '']) => command),
  );
  assert.ok(commands.length > 2, `${commands.length} commands`);
  for (const command of commands) assert.match(stdout, new RegExp(`^  ${command} `, 'm'));
});

test('docs/api.md has the default of every limit', async () => {
  const text = readFileSync(join(ROOT, 'docs', 'api.md'), 'utf8');
  const limits = text.slice(text.indexOf('\n## Limits\n'));
  const rows = [...limits.matchAll(/(\d[\d,]*(?: (?:s|KiB|MiB))?), or `(--[\w-]+)`/g)];
  const { stdout } = await callProgram(['serve', '--help']);
  const help = stdout.replace(/\s+/g, ' ');
  assert.ok(rows.length >= 14, `${rows.length} limits`);
  for (const [, value = '', flag = ''] of rows) {
    const shown = value.replaceAll(',', '').replace(/ (s|KiB|MiB)$/, '$1');
    assert.ok(help.includes(` ${flag} `), flag);
    const option = help.slice(help.indexOf(` ${flag} `));
    assert.is(/\(default: ([^,]+),/.exec(option)?.[1], shown, flag);
  }
});

test.run();
