/** The files from which an operator copies settings agree with each other. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ROOT } from '../../support/paths.ts';

/** Files with the public address of a shop that has a host of its own. */
const FILES = [
  'docs/operations.md',
  'docs/examples/Caddyfile',
  'docs/examples/nginx.conf',
  'release/debian/default',
];

test('the public address is that at which the examples for proxies serve the pages', () => {
  for (const path of FILES) {
    const text = readFileSync(join(ROOT, path), 'utf8');
    const [, address] = /CATALOG_PUBLIC_URL=(\S+)/.exec(text) ?? [];
    assert.is(address, 'https://shop.example.com', path);
  }
});

test.run();
