/** What users read when the server has a fault (spec 13.4). */
import type { Route } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { read } from '../../../../support/catalog.ts';
import { shoot, testInBrowser } from '../../browser.ts';
import { end } from '../../visits.ts';
import { faults, hears, priceIn, signIn, stage } from '../console.ts';

const scene = stage();

const TEXTS = {
  'en-US': [
    'Save',
    'Something went wrong on the server. Nothing that you have typed is lost',
    'the server is shutting down',
    'the disk refused the write (ENOSPC: no space left on device, write); nothing was changed',
  ],
  'de-DE': [
    'Speichern',
    'Auf dem Server ist etwas schiefgegangen. Ihre Eingaben gehen nicht',
    'Der Server wird beendet',
    'Die Festplatte ist voll; es wurde nichts geändert',
  ],
} as const;

for (const [locale, [save, text, reason, full]] of Object.entries(TEXTS)) {
  testInBrowser(`a fault of the server is explained: ${locale}`, async () => {
    const { at, visit } = scene();
    const visitor = await visit('editor', { options: { locale } });
    const { page } = visitor;
    await page.goto(at('/brands/1'));
    await page.getByRole('button', { name: save }).waitFor();
    const name = page.getByLabel('Name', { exact: true });
    for (const [status, error, shown] of [
      // As if the disk is full.
      [500, 'internal server error', null],
      [503, 'the server is shutting down', reason],
      // So the API answers for a SKU if the disk is full (spec 3.9).
      [422, `database error: ${TEXTS['en-US'][3]}`, full],
    ] as const) {
      const body = JSON.stringify({ error, request_id: 'a5a39bd5-4a4c-4ac8-b4a3-3b6d1f7a4a0e' });
      await page.route('**/admin/brands/1/', (route) => route.fulfill({ status, body }));
      await name.fill(`Typed before a ${status}`);
      await page.getByRole('button', { name: save }).click();
      await hears(page, 'alert', text);
      // The second message has the same text as the first one, and the error besides.
      if (shown !== null) await page.getByText(`(${shown})`).waitFor();
      else assert.is(await page.getByText(error).count(), 0);
      assert.is(await name.inputValue(), `Typed before a ${status}`);
      await page.unroute('**/admin/brands/1/');
    }
    await shoot(page, `fault-${locale}`, false);
    assert.equal(faults(visitor, [/50[03]|422/]), []);
  });
}

testInBrowser('a refusal of a proxy, which says nothing, is shown with its status', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const refuse = (status: number) => (route: Route) =>
    ['POST', 'PATCH'].includes(route.request().method())
      ? route.fulfill({ status, contentType: 'text/html', body: '<h1>Too large</h1>' })
      : route.continue();
  await page.route('**/admin/brands/**', refuse(413));
  await page.goto(at('/brands/1'));
  await page.getByLabel('Name', { exact: true }).fill('Too large for it');
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'alert', 'The server answers with status 413.');
  await page.goto(at('/goods/new'));
  await page.getByLabel('Brand').fill('Too large as well');
  await page.getByRole('option', { name: 'Create' }).click();
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await hears(page, 'alert', 'The server answers with status 413.');
  assert.equal(faults(visitor, [/413/]), []);
});

testInBrowser(
  'a sign-in that the server cannot take says why, and not that it was tried too often',
  async () => {
    const { at, visit } = scene();
    const { page } = await visit(null);
    await page.route('**/admin/tokens/', (route) =>
      // As a host that follows another one and forwards no writes.
      route.fulfill({
        status: 503,
        headers: { 'retry-after': '1' },
        body: JSON.stringify({ error: 'this host follows another one; send the request there' }),
      }),
    );
    await page.goto(at('/'));
    await signIn(page, 'ann');
    await hears(page, 'alert', 'send the request there');
    assert.is(await page.getByText('Too many attempts').count(), 0);
  },
);

testInBrowser('a sign-in that a proxy refuses without a word has a message', async () => {
  const { at, visit } = scene();
  const { page } = await visit(null);
  await page.goto(at('/'));
  for (const [status, text] of [
    [429, 'There are too many requests.'],
    [413, 'The server answers with status 413.'],
  ] as const) {
    await page.route('**/admin/tokens/', (route) =>
      route.fulfill({ status, contentType: 'text/html', body: '<h1>Refused</h1>' }),
    );
    await signIn(page, 'ann');
    await hears(page, 'alert', text);
    await page.unroute('**/admin/tokens/');
  }
});

testInBrowser('a defect of the console is not called a fault of the network', async () => {
  const { at, visit } = scene();
  const { page } = await visit('viewer');
  // No server answers so; it makes the list fail while it is rendered.
  const list = '**/admin/brands/?*';
  await page.route(list, (route) => route.fulfill({ json: [null] }));
  await page.goto(at('/brands'));
  await page.getByRole('heading', { name: 'This cannot be shown' }).waitFor();
  await hears(page, 'alert', /TypeError: Cannot read properties of null/);
  assert.is(await page.getByText('The server does not answer').count(), 0);
  await page.unroute(list);
  await page.getByRole('link', { name: 'Categories' }).click();
  await page.getByRole('table', { name: 'Categories' }).waitFor();
});

testInBrowser('the home screen warns in the language of the user', async () => {
  const { at, visit } = scene();
  for (const [locale, text] of [
    ['en-US', /^No backup has been made yet\.$/],
    ['de-DE', /^Es wurde noch nie eine Sicherung erstellt\.$/],
  ] as const) {
    const { page } = await visit('viewer', { options: { locale } });
    await page.goto(at('/'));
    await page.getByRole('listitem').filter({ hasText: text }).waitFor();
    await shoot(page, `home-${locale}`, false);
    await end(page);
  }
});

testInBrowser(
  'a defect that a button meets is not called a fault of the network either',
  async () => {
    const { at, visit } = scene();
    for (const [locale, save, text] of [
      ['en-US', 'Save', 'Something went wrong in the console (TypeError: Cannot read'],
      ['de-DE', 'Speichern', 'In der Konsole ist etwas schiefgegangen (TypeError: Cannot read'],
    ] as const) {
      const { page } = await visit('editor', { options: { locale } });
      await page.goto(at('/brands/2'));
      await page.getByLabel('Name', { exact: true }).fill(`A name in ${locale}`);
      // No server answers so; the console fails when it shows what was saved.
      await page.route('**/admin/brands/2/', (route) => route.fulfill({ json: null }));
      await page.getByRole('button', { name: save }).click();
      await hears(page, 'alert', text);
      await end(page);
    }
  },
);

testInBrowser('a dialog that creates an item says why it could not, as the form does', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor', { options: { locale: 'de-DE' } });
  const { page } = visitor;
  await page.goto(at('/goods/2'));
  await page.getByLabel('Marke', { exact: true }).fill('Fast neu');
  await page.getByRole('option', { name: 'anlegen' }).click();
  const dialog = page.getByRole('dialog', { name: 'Neue Marke' });
  const alert = dialog.getByRole('alert');
  // Not earlier: the request for the schema of its form would be refused too.
  await dialog.getByRole('button', { name: 'Anlegen' }).waitFor();
  for (const [status, answer, texts] of [
    [500, { error: 'internal server error' }, [TEXTS['de-DE'][1]]],
    [
      422,
      { error: 'validation failed', fields: { name: ['must not be empty'] } },
      ['Einige Werte stimmen noch nicht. Es wurde nichts gespeichert.', 'darf nicht leer sein'],
    ],
  ] as const) {
    await page.route('**/admin/brands/', (route) => route.fulfill({ status, json: answer }));
    await dialog.getByRole('button', { name: 'Anlegen' }).click();
    await alert.filter({ hasText: texts[0] }).waitFor();
    for (const text of texts) await dialog.getByText(text).first().waitFor();
    assert.is(await dialog.getByText(answer.error).count(), 0);
    assert.is(await dialog.getByLabel('Name').inputValue(), 'Fast neu');
    await page.unroute('**/admin/brands/');
  }
  assert.equal(faults(visitor, [/500|422/]), []);
});

testInBrowser('a category is created though the tree cannot be read after that', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const tree = '**/admin/categories/export/?*';
  await page.goto(at('/goods/1'));
  await page.getByRole('combobox', { name: 'Category 1' }).fill('Quite new');
  await page.getByRole('treeitem', { name: 'Create “Quite new”…' }).click();
  await page.route(tree, (route) => route.abort());
  const dialog = page.getByRole('dialog', { name: 'New category' });
  await dialog.getByRole('button', { name: 'Create' }).click();
  await hears(page, 'status', 'Quite new');
  await hears(page, 'alert', 'The server does not answer.');
  await dialog.waitFor({ state: 'hidden' });
  await page.unroute(tree);
  await page.goto(at('/categories/new'));
  await page.getByLabel('Name', { exact: true }).fill('Another one');
  await page.getByRole('combobox', { name: 'Parent' }).waitFor();
  await page.route(tree, (route) => route.abort());
  await page.getByRole('button', { name: 'Save' }).click();
  await page.waitForURL(/\/categories\/\d+$/);
  await page.getByRole('heading', { name: 'Another one' }).waitFor();
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

testInBrowser('what is written stays written though the tree cannot be read after it', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const fall = (route: Route) => route.abort();
  const tree = '**/admin/categories/export/?*';
  await page.goto(at('/import'));
  await page.getByLabel('Into').selectOption({ label: 'Categories' });
  const buffer = Buffer.from('id,name\n,Made by a file\n');
  await page.getByLabel('File').setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer });
  await press('Next');
  await press('Check');
  await page.route(tree, fall);
  await page.getByRole('button', { name: /^Apply/ }).click();
  await hears(page, 'alert', 'The server does not answer.');
  await page.getByRole('heading', { name: 'Imported' }).waitFor();
  await page.unroute(tree);
  await page.goto(at('/categories?q=Made'));
  await page.getByLabel('Select all on this page').check();
  await press('Edit…');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('What to do').selectOption({ label: 'Parent: set' });
  await dialog.getByRole('combobox', { name: 'Parent' }).fill('Electronics');
  await page.getByRole('treeitem', { name: 'Electronics', exact: true }).click();
  await press('Show what changes');
  await page.route(tree, fall);
  await press('Change 1 item');
  await dialog.waitFor({ state: 'hidden' });
  await hears(page, 'status', '1 item was changed.');
  const [made] = await read(server, '/admin/categories/?q=Made');
  assert.is(made.parent_id, 1);
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

testInBrowser('a value that could not be saved after its list was left is offered', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const again = page.getByRole('button', { name: 'Try again' });
  const value = async (name: string) => (await read(server, '/admin/skus/2/'))[name];
  const wasLaunched = await value('is_launched');
  for (const [change, said] of [
    [
      async () => {
        await priceIn(page.getByRole('row').nth(2)).click();
        await page.keyboard.type('4711');
      },
      'Price $4,711.00 is not saved. The server does not answer.',
    ],
    [
      () => page.getByRole('row').nth(2).getByRole('switch').click(),
      `On sale ${wasLaunched ? 'No' : 'Yes'} is not saved. The server does not answer.`,
    ],
  ] as const) {
    await page.goto(at('/skus'));
    await page.getByRole('row').nth(2).waitFor();
    const left = Promise.withResolvers<void>();
    await page.route('**/admin/skus/2/', async (route) => {
      await left.promise;
      await route.abort();
    });
    await change();
    await page.getByRole('link', { name: 'Books', exact: true }).click();
    await page.getByRole('table', { name: 'Books' }).waitFor();
    left.resolve();
    await hears(page, 'alert', said);
    // What the server answers since does not end it.
    await page.getByRole('link', { name: 'Brands', exact: true }).click();
    await page.getByRole('table', { name: 'Brands' }).waitFor();
    await page.unroute('**/admin/skus/2/');
    await again.click();
    await hears(page, 'status', ' is now ');
    await again.waitFor({ state: 'detached' });
  }
  assert.is(await value('price'), 471_100);
  assert.is(await value('is_launched'), !wasLaunched);
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

test.run();
