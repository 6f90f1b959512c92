/** The links that the editor of descriptions accepts: those that pages show (docs/pages.md). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { linkAddress } from '../../../src/console/browser/parts/rich-text/link-address.ts';
import { richText } from '../../../src/pages/render/rich-text.ts';

for (const [typed, address] of [
  ['https://maker.example/a?b=c#d', 'https://maker.example/a?b=c#d'],
  ['http://maker.example', 'http://maker.example'],
  [' maker.example/manual ', 'https://maker.example/manual'],
  ['mailto:help@maker.example', 'mailto:help@maker.example'],
  ['tel:+49301234', 'tel:+49301234'],
  ['HTTPS://MAKER.EXAMPLE', 'HTTPS://MAKER.EXAMPLE'],
  ['', null],
  ['   ', null],
  ['javascript:alert(1)', null],
  ['JavaScript:alert(1)', null],
  ['data:text/html,x', null],
  ['vbscript:x', null],
  ['ftp://maker.example/', null],
  ['https://', null],
  [`https://maker.example/${'x'.repeat(3000)}`, null],
] as const) {
  test(`"${typed.slice(0, 40)}" ${address === null ? 'is refused' : `becomes ${address}`}`, () => {
    assert.is(linkAddress(typed), address);
    if (address === null) return;
    const page = richText(`<p><a href="${address}">A link</a></p>`, 'Details');
    assert.match(page, `href="${address}"`, 'the pages keep it');
  });
}

test.run();
