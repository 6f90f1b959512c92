/** Visits one after the other in the same page: each begins as if the page were new. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Page } from 'playwright-core';
import { available } from '../../support/chromium.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { testInBrowser } from './browser.ts';
import { end, endAll, open, prepare, setClock } from './visits.ts';

let server: TestServer;

test.before(async () => {
  if (available) server = await startServer();
});

test.after.each(endAll);

test.after(async () => {
  if (available) await server.stop();
});

/** What a page shows of its past, and of how it is looked at. */
async function stateOf(page: Page): Promise<Record<string, unknown>> {
  await page.goto(`${server.url}/`);
  return page.evaluate(`({
    session: sessionStorage.length,
    local: localStorage.length,
    cookie: document.cookie,
    prepared: 'prepared' in window,
    history: history.length,
    width: innerWidth,
    dark: matchMedia('(prefers-color-scheme: dark)').matches,
    print: matchMedia('print').matches,
    title: document.title,
  })`);
}

/** Leaves everything in a page that a test may leave. */
async function leaveTraces(page: Page): Promise<void> {
  await prepare(page, 'window.prepared = true');
  await page.goto(`${server.url}/docs/`);
  await page.goto(`${server.url}/`);
  await page.evaluate(`
    sessionStorage.setItem('a', 'b');
    localStorage.setItem('a', 'b');
    document.cookie = 'a=b';
    addEventListener('pagehide', () => sessionStorage.setItem('late', 'b'));
    addEventListener('beforeunload', (event) => event.preventDefault());
  `);
  await page.setViewportSize({ width: 321, height: 500 });
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  await page.route('**/', (route) => route.fulfill({ body: '<title>Not the server</title>' }));
  await page.context().newPage();
}

testInBrowser('a visit in the page of another one finds none of its traces', async () => {
  const first = await open();
  const fresh = await stateOf(first.page);
  await leaveTraces(first.page);
  await end(first.page);
  const second = await open();
  assert.ok(second.page === first.page, 'the page is used again');
  assert.equal(await stateOf(second.page), fresh);
  assert.is(second.page.context().pages().length, 1);
  assert.is(fresh['history'], 2, 'about:blank and the page');
});

testInBrowser(
  'a visit hears nothing of the one before it, and that one nothing of it',
  async () => {
    const first = await open();
    await first.page.goto(`${server.url}/`);
    await first.page.evaluate("console.error('of the first')");
    await end(first.page);
    const heard = [...first.complaints];
    const second = await open();
    await second.page.goto(`${server.url}/`);
    await second.page.evaluate("console.error('of the second')");
    await second.page.goto(`${server.url}/docs/`);
    assert.equal(
      second.complaints.map((each) => each.split(' ').slice(0, 3).join(' ')),
      ['of the second'],
    );
    assert.equal(first.complaints, heard);
    assert.ok(first.bytes.size > 0 && !first.bytes.has(`${server.url}/docs/`));
  },
);

testInBrowser(
  'visits at the same time, and those with other options, have pages of their own',
  async () => {
    const first = await open();
    const beside = await open();
    assert.ok(first.page !== beside.page);
    await endAll();
    const german = await open({ options: { locale: 'de-DE' } });
    assert.ok(german.page !== first.page && german.page !== beside.page);
    assert.is(await german.page.evaluate('navigator.language'), 'de-DE');
  },
);

testInBrowser('a page whose clock was set and one that was closed are not used again', async () => {
  const timed = await open();
  await setClock(timed.page);
  const closed = await open();
  await closed.page.close();
  await endAll();
  const next = await open();
  assert.ok(next.page !== timed.page && next.page !== closed.page);
  assert.ok(timed.page.isClosed());
});

test.run();
