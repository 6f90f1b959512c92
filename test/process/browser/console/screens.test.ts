/** Every screen of the console: accessible, within the window, without errors (spec 13.4). */
import type { Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { send } from '../../../support/client.ts';
import { overflow, shoot, testInBrowser, violationsOn } from '../browser.ts';
import { end, type Visit } from '../visits.ts';
import { faults, makeAccount, show, stage } from './console.ts';

const scene = stage(true);

let visitor: Visit | null = null;

/** One visit for all screens. */
async function seen(): Promise<Visit> {
  if (visitor === null) {
    visitor = await scene().visit('admin');
    await visitor.page.goto(scene().at('/'));
  }
  return visitor;
}

interface Screen {
  readonly path: string;
  /** Waits until the screen is complete, and opens the part that is checked. */
  readonly ready: (page: Page) => Promise<unknown>;
  /** Whether it asks before it is left. */
  readonly asks?: true;
}

const heading = (name: string | RegExp) => (page: Page) =>
  page.getByRole('heading', { level: 1, name }).waitFor();

const table = (page: Page) => page.getByRole('row').nth(1).waitFor();

const SCREENS: Readonly<Record<string, Screen>> = {
  home: {
    path: '/',
    ready: (page) =>
      page
        .getByText('Everything is fine', { exact: false })
        .or(page.getByText('Needs attention'))
        .first()
        .waitFor(),
  },
  skus: { path: '/skus', ready: table },
  'skus-empty': {
    path: '/skus?q=nothing-has-this-name',
    ready: (page) => page.getByText('Nothing matches').waitFor(),
  },
  categories: { path: '/categories', ready: table },
  books: { path: '/books', ready: table },
  sku: { path: '/skus/17', ready: (page) => page.getByLabel('Colour').waitFor() },
  'sku-new': {
    path: '/skus/new',
    ready: (page) => page.getByText('Choose the SPU first').waitFor(),
  },
  'category-tree': {
    path: '/skus/new',
    async ready(page) {
      const field = page.getByRole('combobox', { name: 'Category' });
      await field.click();
      await page.getByRole('treeitem', { name: 'Electronics' }).click();
      await page.getByRole('treeitem', { name: 'Phones' }).waitFor();
    },
  },
  link: {
    path: '/goods/2',
    async ready(page) {
      const tools = page.getByRole('group', { name: 'Packaging' });
      await tools.getByRole('button', { name: 'Link' }).click();
      await page.getByRole('dialog').getByLabel('Address').waitFor();
    },
  },
  spu: {
    path: '/goods/1',
    ready: (page) => page.getByRole('table', { name: 'SKUs by their options' }).waitFor(),
  },
  'bulk-edit': {
    path: '/skus',
    asks: true,
    async ready(page) {
      await page.getByLabel('Select all on this page').check();
      await page.getByRole('button', { name: 'Edit…' }).click();
      await page.getByLabel('What to do').selectOption({ label: 'Price: add per cent' });
      await page.getByLabel('Per cent').fill('5');
      await page.getByRole('button', { name: 'Show what changes' }).click();
      await page.getByRole('table', { name: 'Changes' }).waitFor();
    },
  },
  delete: {
    path: '/brands/1',
    async ready(page) {
      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('alertdialog').waitFor();
    },
  },
  import: { path: '/import', ready: heading('Import') },
  audits: { path: '/audits', ready: heading('Audit trail') },
  missing: { path: '/skus/99999', ready: heading('This does not exist') },
};

const WIDTHS = [1440, 768, 320];

const HEIGHT = 800;

/** Checks a screen at each width, in light and dark, without loading it again. */
async function judge(page: Page, name: string): Promise<void> {
  for (const width of WIDTHS) {
    const where = `${name} at ${width} px`;
    await page.setViewportSize({ width, height: HEIGHT });
    await page.emulateMedia({ colorScheme: 'light' });
    assert.equal(await violationsOn(page), [], where);
    assert.ok((await overflow(page)) <= 0, `${where} is too wide`);
    await shoot(page, `console-${name}-${width}`, false);
    // Dark mode changes only colours.
    await page.emulateMedia({ colorScheme: 'dark' });
    assert.equal(await violationsOn(page, ['color-contrast']), [], `${where}, dark`);
    await shoot(page, `console-${name}-${width}-dark`, false);
  }
}

for (const [name, { path, ready, asks = false }] of Object.entries(SCREENS)) {
  testInBrowser(
    `the screen ${name} passes axe in light and dark, and fits at every width`,
    async () => {
      const { page } = await seen();
      try {
        await show(page, path);
        await ready(page);
        await judge(page, name);
        await page.keyboard.press('Escape');
        if (asks) await page.getByRole('button', { name: 'Leave', exact: true }).click();
      } catch (error) {
        // A dialog that is still open must not fail the screens that follow.
        await end(page);
        visitor = null;
        throw error;
      }
    },
  );
}

testInBrowser('a description with long words passes axe, and fits at every width', async () => {
  const { page } = await seen();
  const body = { desc_detail: `<p>${'W'.repeat(500)}</p>` };
  assert.is((await send(scene().server, 'PATCH', '/admin/goods/2/', { body })).status, 200);
  await show(page, '/goods/2');
  await page.getByText('WWWW').waitFor();
  await judge(page, 'spu-long');
});

testInBrowser(
  'an audit trail with several changes passes axe, and fits at every width',
  async () => {
    const { page } = await seen();
    for (const name of ['Once', 'Twice']) {
      const body = { name };
      assert.is((await send(scene().server, 'PATCH', '/admin/brands/1/', { body })).status, 200);
    }
    await show(page, '/audits');
    await page.getByRole('listitem').filter({ hasText: 'Twice' }).first().waitFor();
    await judge(page, 'audits-several');
  },
);

testInBrowser(
  'a list of accounts with a role to apply passes axe, and fits at every width',
  async () => {
    const { page } = await seen();
    const { server } = scene();
    await makeAccount(server, 'carl-friedrich-von-der-buchhaltung', 'editor');
    await makeAccount(server, 'mona', 'viewer');
    const body = { disabled: true };
    assert.is((await send(server, 'PATCH', '/admin/users/mona/', { body })).status, 200);
    await show(page, '/accounts');
    await page.getByRole('combobox', { name: 'Role of mona' }).selectOption('admin');
    await page.getByRole('button', { name: 'Apply the new role of mona' }).waitFor();
    await judge(page, 'accounts');
  },
);

testInBrowser('no screen logs an error or sends a request to another host', async () => {
  const all = await seen();
  assert.equal(faults(all, [/\/admin\/skus\/99999\//]), []);
  await end(all.page);
});

testInBrowser('the form to sign in passes axe, in English and in German', async () => {
  for (const [locale, label] of [
    ['en-GB', 'User name'],
    ['de-DE', 'Benutzername'],
  ] as const) {
    const visit = await scene().visit(null, { width: 320, options: { locale } });
    await visit.page.goto(scene().at('/'));
    await visit.page.getByLabel(label).waitFor();
    assert.equal(await violationsOn(visit.page), []);
    assert.is(await visit.page.locator('html').getAttribute('lang'), locale.slice(0, 2));
    assert.equal(faults(visit), []);
    await end(visit.page);
  }
});

testInBrowser('the form to sign in fits in the window', async () => {
  const { page } = await scene().visit(null);
  await page.setViewportSize({ width: 1440, height: HEIGHT });
  await page.goto(scene().at('/'));
  await page.getByLabel('User name').waitFor();
  const hidden = await page.evaluate('document.documentElement.scrollHeight - window.innerHeight');
  assert.is(hidden, 0, 'pixels below the window');
  await end(page);
});

testInBrowser('the form to sign in explains how to add the first account', async () => {
  const { page } = await scene().visit(null);
  await page.goto(scene().at('/'));
  await page.getByText('No account yet?').click();
  assert.ok(await page.getByText('catalog-server users add ann --role admin').isVisible());
  await end(page);
});

testInBrowser('the list is requested before the scripts of the console are loaded', async () => {
  const { page } = await scene().visit('editor');
  const asked = page.waitForRequest('**/admin/skus/?*');
  const loaded: string[] = [];
  await page.route('**/console/*.js', async (route) => {
    const [, name = ''] = /console\/(\w[\w-]*)-\w+\.js$/.exec(route.request().url()) ?? [];
    loaded.push(name);
    // Only the small first script arrives before the list is asked for.
    if (name !== 'early') await asked;
    await route.continue();
  });
  await page.goto(scene().at('/skus?sortby=price'));
  await page.getByRole('row').nth(1).getByText('$').first().waitFor();
  const lists = await page.evaluate<string[]>(
    "performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.includes('/admin/'))",
  );
  const paths = lists.map((each) => each.replace(scene().server.url, '')).sort();
  assert.equal(paths, ['/admin/skus/?sortby=price&page=1&per_page=20', '/admin/summary/']);
  assert.equal([...new Set(loaded)].slice(0, 3).sort(), ['console', 'early', 'main']);
  await end(page);
});

testInBrowser(
  'a reload keeps the language that the user has chosen, and prices follow it',
  async () => {
    const { page } = await scene().visit('editor');
    await page.goto(scene().at('/skus/17'));
    assert.is(await page.getByLabel('Price', { exact: true }).inputValue(), '329.00');
    await page.getByRole('button', { name: 'Deutsch' }).click();
    await page.getByRole('button', { name: 'Speichern' }).waitFor();
    await page.reload();
    assert.is(await page.getByLabel('Preis', { exact: true }).inputValue(), '329,00');
    await end(page);
  },
);

testInBrowser(
  'facts are on one line, the marked choice has an outline, and Close is beside its alert',
  async () => {
    const { at, visit } = scene();
    const own = await visit('editor', { width: 375, options: { forcedColors: 'active' } });
    const { page } = own;
    await page.goto(at('/skus/1'));
    await page.locator('.facts label').first().waitFor();
    const lines = await page.evaluate(`
    [...document.querySelectorAll('.facts label, .facts output')].map((element) => {
      const range = document.createRange();
      range.selectNodeContents(element);
      return range.getClientRects().length;
    })`);
    assert.equal(lines, [1, 1, 1, 1]);
    const spu = page.getByRole('combobox', { name: 'SPU' });
    await spu.fill('Auralune');
    const marked = page.locator('[role=option].marked');
    await marked.waitFor();
    const outline = await page.evaluate(
      "getComputedStyle(document.querySelector('[role=option].marked')).outlineStyle",
    );
    assert.is(outline, 'solid');
    await page.goto(at('/brands/1'));
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    const alert = page.getByRole('alert').filter({ hasText: 'is referred to' });
    const [text, close] = [
      await alert.getByText('is referred to').boundingBox(),
      await alert.getByRole('button').boundingBox(),
    ];
    assert.ok(text !== null && close !== null && close.x >= text.x + text.width, 'beside the text');
    assert.equal(faults(own, [/409/]), []);
    await end(page);
  },
);

test.run();
