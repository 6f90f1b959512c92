/** A browser for tests, if one is installed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type axe from 'axe-core';
import type { Page } from 'playwright-core';
import { test } from 'uvu';
import { available, CHROMIUM } from '../../support/chromium.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { ROOT } from '../../support/paths.ts';

const why = available ? '' : ` (skipped: there is no browser at ${CHROMIUM})`;

/** The directory for screenshots; null if none are wanted. */
const SCREENSHOTS = process.env['SCREENSHOTS'] || null;

export function testInBrowser(name: string, run: () => Promise<void>): void {
  if (available) test(name, run);
  else test.skip(`${name}${why}`, run);
}

/** Stores a picture of a page if `SCREENSHOTS` names a directory. */
export async function shoot(page: Page, name: string, fullPage = true): Promise<void> {
  if (SCREENSHOTS === null) return;
  const directory = SCREENSHOTS === '1' ? temporaryDirectory() : SCREENSHOTS;
  await page.screenshot({ path: join(directory, `${name}.png`), fullPage });
}

/** The short form, because each page that is checked has to load it. */
const AXE = readFileSync(join(ROOT, 'node_modules', 'axe-core', 'axe.min.js'), 'utf8');

/** The violations that axe-core finds, with their elements. @param rules all if left out. */
export async function violationsOn(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (await page.evaluate('window.axe === undefined')) await page.evaluate(AXE);
  // No enabled rule needs the texts of the style sheets, which axe would load for each call.
  const options = {
    resultTypes: ['violations'],
    preload: false,
    ...(rules !== undefined && { runOnly: rules }),
  };
  const { violations } = await page.evaluate<{ violations: axe.Result[] }>(
    `axe.run(${JSON.stringify(options)})`,
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

/** How many pixels the document is wider than the window. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
}
