/** spec 11.3 to 11.5: the values of `--max-body`, `--audit-size` and `--cors-origin`. */
import { type Command, InvalidArgumentError, type Option } from 'commander';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parseOrigins } from '../../../../src/cli/flags/network.ts';
import {
  parseAuditSize,
  parseCheckpointSize,
  parseHistory,
  parseSize,
} from '../../../../src/cli/flags/sizes.ts';
import { inertProgram } from '../../../../release/program-facts.ts';
import { callProgram } from '../../../support/program.ts';

const SHOP = 'https://shop.example';

const optionsOf = ({ options, commands }: Command): Option[] => [
  ...options,
  ...commands.flatMap(optionsOf),
];

/** Defaults that the help describes in words. */
const DESCRIBED = new Set([
  'none',
  'no metrics',
  'that of --host',
  "3/4 of the machine's",
  '256MiB or 5% of the disk if that is less',
]);

test('the help shows the default that a flag has', () => {
  let count = 0;
  for (const { long, parseArg, defaultValue, defaultValueDescription } of optionsOf(
    inertProgram(),
  )) {
    if (defaultValueDescription === undefined || DESCRIBED.has(defaultValueDescription)) continue;
    count += 1;
    assert.is(parseArg?.(defaultValueDescription, undefined), defaultValue, long ?? '');
  }
  assert.ok(count >= 19, `${count} flags`);
});

interface Flag {
  readonly flag: string;
  readonly variable: string;
  /** What the message has to contain. */
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
      '2GiB',
      '1025MiB',
      '1MiBMiB',
      'MiB',
      '1,024',
      '١',
      'Infinity',
      '1024 ',
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
      '1025MiB',
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
    flag: '--history',
    variable: 'CATALOG_HISTORY',
    says: 'such as 256MiB or 2GiB; 0 keeps nothing',
    parse: parseHistory,
    wrong: ['x', '', '-1', '+1', '1.5', '1e2', '0x10', '1 MiB', '256MB', '1025GiB', '1TiB', '16\n'],
  },
  {
    flag: '--checkpoint-size',
    variable: 'CATALOG_CHECKPOINT_SIZE',
    says: 'from 4KiB to 1GiB',
    parse: parseCheckpointSize,
    wrong: ['0', '', '4095', '3KiB', '2GiB', '1073741825', '4 MiB', '4MB', '-4MiB', '1.5MiB'],
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
  test(`a malformed ${flag} is refused, and the message shows a valid value`, () => {
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

  test(`a malformed ${flag} or ${variable} exits 2 with one line that contains its name`, async () => {
    const [value = '', empty = ''] = wrong;
    for (const [args, env, named] of [
      [[`${flag}=${value}`], {}, flag],
      [[`${flag}=${empty}`], {}, flag],
      [[flag], {}, flag],
      [[], { [variable]: value }, variable],
    ] as const) {
      // If the value were accepted, the short secret would end the process with another status.
      const { status, stdout, stderr } = await callProgram(['serve', '--port', '0', ...args], {
        env: { CATALOG_JWT_SECRET: 'short', ...env },
      });
      assert.is(status, 2, stderr);
      assert.is(stdout, '');
      assert.match(stderr, /^catalog-server: [^\n]{10,}\n$/);
      assert.ok(stderr.includes(named), stderr);
      if (args[0] !== flag) assert.ok(stderr.includes(says), stderr);
    }
  });
}

test('a size is a number of bytes, KiB, MiB or GiB, up to the maximum of its flag', () => {
  for (const [parse, text, bytes] of [
    [parseSize, '1', 1],
    [parseSize, '01', 1],
    [parseSize, '1048576KiB', 2 ** 30],
    [parseSize, '1GiB', 2 ** 30],
    [parseHistory, '0', 0],
    [parseHistory, '1024GiB', 2 ** 40],
    [parseCheckpointSize, '4096', 2 ** 12],
    [parseCheckpointSize, '1GiB', 2 ** 30],
  ] as const) {
    assert.is(parse(text), bytes, text);
  }
});

test('a size of the audit trail without a unit is in MiB', () => {
  for (const [text, bytes] of [
    ['0', 0],
    ['16', 2 ** 24],
    ['16MiB', 2 ** 24],
    ['512KiB', 2 ** 19],
    ['1024', 2 ** 30],
    ['1GiB', 2 ** 30],
  ] as const) {
    assert.is(parseAuditSize(text), bytes, text);
  }
});

test('a pattern and a scheme other than http and https are refused as an origin', () => {
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

test.run();
