/** src/cli/flags/pages.ts: the flags for the appearance of pages. */
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { temporaryDirectory } from '../../../support/directory.ts';
import { callProgram } from '../../../support/program.ts';

const FLAGS = {
  '--public-url': 'CATALOG_PUBLIC_URL',
  '--currency': 'CATALOG_CURRENCY',
  '--locale': 'CATALOG_LOCALE',
  '--shop-name': 'CATALOG_SHOP_NAME',
} as const;

const WRONG: readonly (readonly [flag: keyof typeof FLAGS, value: string])[] = [
  ['--public-url', 'shop.example'],
  ['--public-url', 'ftp://shop.example'],
  ['--public-url', 'javascript:alert(1)'],
  ['--public-url', 'https://shop.example/?a=b'],
  ['--public-url', 'https://shop.example/#top'],
  ['--public-url', 'https://shop.example/pages?'],
  ['--public-url', 'https://shop.example/pages#'],
  ['--public-url', 'https://ann@shop.example/'],
  ['--public-url', 'https://:secret@shop.example/'],
  ['--currency', 'usd'],
  ['--currency', 'XYZW'],
  ['--currency', '$'],
  ['--locale', 'e'],
  ['--locale', 'en_GB'],
  ['--shop-name', ' '],
  ['--shop-name', 'x'.repeat(101)],
  ['--shop-name', 'My\nshop'],
  ['--shop-name', 'My \u001bshop'],
];

for (const [flag, value] of WRONG) {
  test(`${flag} ${JSON.stringify(value).slice(0, 40)} is wrong usage, also as a variable`, async () => {
    const data = join(temporaryDirectory(), 'none');
    for (const command of ['serve', 'rebuild-pages']) {
      // With this secret no server starts, should the value be taken.
      const secret = { CATALOG_JWT_SECRET: 'short' };
      const byFlag = await callProgram([command, '--data', data, flag, value], { env: secret });
      const env = { ...secret, [FLAGS[flag]]: value };
      const byVariable = await callProgram([command, '--data', data], { env });
      for (const { status, stdout, stderr } of [byFlag, byVariable]) {
        assert.is(status, 2, stderr);
        assert.is(stdout, '');
        assert.match(stderr, /^catalog-server: [^\n]+\n$/);
        assert.ok(stderr.includes(flag), stderr);
      }
    }
  });
}

test.run();
