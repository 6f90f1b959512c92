/** A browser for tests, if one is installed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
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

export interface Visit {
  readonly page: Page;
  /** Console errors, uncaught exceptions, refused requests and violations of the policy. */
  readonly complaints: string[];
  /** Addresses of other hosts that were requested. */
  readonly foreign: string[];
  /** Bytes of each response of the server, by address. */
  readonly bytes: Map<string, number>;
}

export interface Look {
  readonly width?: number;
  readonly dark?: boolean;
  readonly options?: BrowserContextOptions;
}

/** Milliseconds after which a step counts as one that hangs: many times what any of them takes. */
const STEP_TIMEOUT_MS = 180_000;

/** Opens a page in a context of its own, and records its events; close the context at the end. */
export async function open(
  browser: Browser,
  { width = 1000, dark = false, options = {} }: Look = {},
): Promise<Visit> {
  const context = await browser.newContext({
    viewport: { width, height: 800 },
    colorScheme: dark ? 'dark' : 'light',
    ...options,
  });
  context.setDefaultTimeout(STEP_TIMEOUT_MS);
  const page = await context.newPage();
  const visit: Visit = { page, complaints: [], foreign: [], bytes: new Map() };
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') {
      visit.complaints.push(`${message.text()} ${message.location().url}`);
    }
  });
  page.on('pageerror', (error) => visit.complaints.push(error.message));
  page.on('request', (request) => {
    const url = request.url();
    const own = new URL(url).origin === new URL(request.frame().url()).origin;
    if (!own && !request.isNavigationRequest() && !/^(?:data|blob):/.test(url)) {
      visit.foreign.push(url);
    }
  });
  page.on('response', async (response) => {
    if (response.status() >= 400) visit.complaints.push(`${response.status()} ${response.url()}`);
    const length = Number(response.headers()['content-length'] ?? Number.NaN);
    if (!response.url().startsWith('data:')) visit.bytes.set(response.url(), length);
  });
  return visit;
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
