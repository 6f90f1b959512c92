/** For the tests of the console in a browser: a server with the demo catalog, and visitors. */
import type { Locator, Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { available } from '../../../support/chromium.ts';
import { send, tokenFor } from '../../../support/client.ts';
import { startServer, type TestServer } from '../../../support/server.ts';
import { until } from '../../../support/until.ts';
import { endAll, type Look, open, prepare, type Visit } from '../visits.ts';

export type Role = 'viewer' | 'editor' | 'admin';

const PASSWORD = 'correct horse battery staple';

export interface Scene {
  readonly server: TestServer;
  /** The address of a screen, such as `/skus/17`. */
  readonly at: (path: string) => string;
  /** A visitor with a token of the role; null for no token. */
  readonly visit: (role: Role | null, look?: Look) => Promise<Visit>;
}

/**
 * One server for a file of tests.
 *
 * @param sharesVisits whether tests go on with the visit of another one; otherwise a visit ends with
 *   its test, also if that fails.
 */
export function stage(sharesVisits = false): () => Scene {
  let scene: Scene | null = null;
  test.before(async () => {
    if (!available) return;
    const server = await startServer({ demo: true });
    scene = sceneOf(server);
  });
  test.after.each(async () => {
    if (!sharesVisits) await endAll();
  });
  test.after(async () => {
    await endAll();
    await scene?.server.stop();
  });
  return () => {
    assert.ok(scene !== null);
    return scene;
  };
}

function sceneOf(server: TestServer): Scene {
  return {
    server,
    at: (path) => `${server.url}/console${path}`,
    async visit(role, look = {}) {
      // Without motion, so that colours do not change gradually.
      const options = { reducedMotion: 'reduce', ...look.options } as const;
      const visit = await open({ ...look, options });
      if (role === null) return visit;
      const token = await tokenFor(role, { sub: `${role}-of-the-test` });
      // A token is stored once: one that ends must not come back with a reload.
      await prepare(
        visit.page,
        `if (!sessionStorage.getItem('test.signed-in')) {
          sessionStorage.setItem('test.signed-in', 'yes');
          sessionStorage.setItem('catalog.session', ${JSON.stringify(token)});
        }`,
      );
      return visit;
    },
  };
}

/** Creates an account that can sign in. */
export async function makeAccount(server: TestServer, name: string, role: Role): Promise<void> {
  const body = { name, role, password: PASSWORD };
  const { status } = await send(server, 'POST', '/admin/users/', {
    body,
    token: await tokenFor('admin'),
  });
  assert.is(status, 201);
}

export async function signIn(page: Page, name: string): Promise<void> {
  await page.getByLabel('User name').fill(name);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Waits until the element that matches has the focus. */
export async function focused(page: Page, selector: string): Promise<void> {
  await until(`the focus is on ${selector}`, () =>
    page.evaluate<boolean>(`document.activeElement.matches(${JSON.stringify(selector)})`),
  );
}

/**
 * Whether nothing covers the middle of what has the focus. It is asked after the frame in which a
 * message takes its place.
 */
export function isFocusInSight(page: Page): Promise<boolean> {
  return page.evaluate<boolean>(`(async () => {
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const focused = document.activeElement;
    const { left, top, width, height } = focused.getBoundingClientRect();
    return document.elementFromPoint(left + width / 2, top + height / 2) === focused;
  })()`);
}

/**
 * Holds requests back.
 *
 * @param methods of the requests; all if none is given.
 * @returns lets them go.
 */
export async function hold(
  page: Page,
  address: string | ((url: URL) => boolean),
  ...methods: readonly string[]
): Promise<() => void> {
  const held = Promise.withResolvers<void>();
  await page.route(address, async (route) => {
    const isHeld = methods.length === 0 || methods.includes(route.request().method());
    if (isHeld) await held.promise;
    await route.continue();
  });
  return held.resolve;
}

/**
 * Lets the first request of a method reach the server, and drops the response.
 *
 * @param status of a proxy that answers instead; null if nothing does.
 */
export async function loseResponse(
  page: Page,
  path: string,
  method: string,
  status: number | null = null,
): Promise<void> {
  let lost = false;
  await page.route(path, async (route) => {
    if (lost || route.request().method() !== method) return route.continue();
    lost = true;
    await route.fetch();
    await (status === null ? route.abort() : route.fulfill({ status, body: '<h1>Timeout</h1>' }));
  });
}

/** Waits for a message that is announced. */
export async function hears(
  page: Page,
  role: 'status' | 'alert',
  text: string | RegExp,
): Promise<void> {
  await page.getByRole(role).filter({ hasText: text }).first().waitFor();
}

/** Shows another screen without loading the console again. */
export async function show(page: Page, path: string): Promise<void> {
  const { pathname } = new URL(page.url());
  const to = JSON.stringify(`${pathname.replace(/\/console\/.*/, '/console')}${path}`);
  await page.evaluate(
    `history.pushState(null, '', ${to}); dispatchEvent(new PopStateEvent('popstate'))`,
  );
}

/** Everything that went wrong on a page, except the refusals that a test provokes. */
export function faults({ complaints, foreign }: Visit, expected: readonly RegExp[] = []): string[] {
  return [...complaints, ...foreign].filter((each) => !expected.some((known) => known.test(each)));
}

/**
 * The price of the first SKU there, to be changed. It is a button only once the currency is known:
 * until then the first button that changes a value is the stock.
 */
export function priceIn(place: Page | Locator): Locator {
  return place.getByRole('button', { name: /^\$/ }).first();
}

/** The button that creates the missing SKUs of the SPU that is shown, and how many they are. */
export async function missingSkus(page: Page): Promise<{ missing: Locator; count: number }> {
  const missing = page.getByRole('button', { name: /^Create \d+ missing/ });
  const label = (await missing.textContent()) ?? '';
  return { missing, count: Number.parseInt(label.slice('Create '.length), 10) };
}

/** The prices of the SKUs that a dialog creates. */
export async function fillPrices(dialog: Locator): Promise<void> {
  for (const name of ['Price', 'Cost price', 'Market price']) {
    await dialog.getByLabel(name, { exact: true }).fill('899');
  }
}
