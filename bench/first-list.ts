/**
 * How soon a phone shows the first list of the console:
 * `bun bench/first-list.ts [ROUNDS] [built|build] [SLOWDOWN]`.
 *
 * With `built` the existing executable is measured. Chromium has a processor that is 4 times
 * slower, or SLOWDOWN times, a network of 150 ms and 1.6 Mbit/s, and an empty cache. Each request
 * costs one round trip of 150 ms, as if its connection were open already.
 */
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { launch } from '../test/support/chromium.ts';
import { build, EXECUTABLE, inDirectory, issueToken, output, quantile, serve } from './server.ts';

const ROUNDS = Number(process.argv[2] ?? 7);
const SLOWER_CPU = Number(process.argv[4] ?? 4);
const NETWORK = {
  offline: false,
  latency: 150,
  downloadThroughput: 1_600_000 / 8,
  uploadThroughput: 750_000 / 8,
};

/** When the first row of a list has been painted, in milliseconds since the navigation. */
const WATCH = `
  window.firstList = new Promise((resolve) => {
    new MutationObserver((_, observer) => {
      if (document.querySelector('tbody tr') === null) return;
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
    }).observe(document, { childList: true, subtree: true });
  });`;

interface Measured {
  readonly firstList: number;
  readonly requests: readonly string[];
}

async function measure(browser: Browser, url: string, token: string): Promise<Measured> {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
  try {
    const page = await context.newPage();
    const session = JSON.stringify(token);
    await page.addInitScript(`sessionStorage.setItem('catalog.session', ${session});${WATCH}`);
    const cdp = await context.newCDPSession(page);
    await cdp.send('Network.enable');
    await cdp.send('Network.emulateNetworkConditions', NETWORK);
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: SLOWER_CPU });
    await page.goto(`${url}/console/skus`, { waitUntil: 'commit' });
    const firstList = await page.evaluate<number>('window.firstList');
    const requests = await page.evaluate<string[]>(`
      performance.getEntriesByType('resource').map((each) =>
        [each.startTime, each.responseStart, each.responseEnd].map(Math.round).join(' ') + ' ms, ' +
          each.transferSize + ' bytes: ' + new URL(each.name).pathname)`);
    return { firstList, requests };
  } finally {
    await context.close();
  }
}

await inDirectory(async (directory) => {
  if (process.argv[3] !== 'built') build();
  const data = join(directory, 'data');
  output(EXECUTABLE, 'migrate', '--demo', '--data', data);
  const { url } = await serve(data);
  const browser = await launch(true);
  try {
    const rounds: Measured[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      rounds.push(await measure(browser, url, issueToken(data)));
    }
    const times = rounds.map(({ firstList }) => firstList).sort((a, b) => a - b);
    const [shortest, median, longest] = [0, 0.5, 1].map((at) => Math.round(quantile(times, at)));
    process.stdout.write(`first list after ${median} ms (${shortest} to ${longest})\n`);
    for (const request of rounds.at(-1)?.requests ?? []) process.stdout.write(`${request}\n`);
  } finally {
    await browser.close();
  }
});
