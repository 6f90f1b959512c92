/** Tasks of an editor, by the accessible names of the controls (spec 13.4). */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { make, read } from '../../../support/catalog.ts';
import { send } from '../../../support/client.ts';
import { testInBrowser } from '../browser.ts';
import { faults, focused, hears, makeAccount, signIn, stage } from './console.ts';

const scene = stage();

testInBrowser('an account signs in, sees every collection, and signs out', async () => {
  const { server, at, visit } = scene();
  await makeAccount(server, 'ann', 'admin');
  const visitor = await visit(null);
  const { page } = visitor;
  await page.goto(at('/brands?sortby=name'));
  await page.getByLabel('User name').fill('ann');
  await page.getByLabel('Password').fill('a wrong password');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await hears(page, 'alert', 'The user name or the password is wrong.');
  await signIn(page, 'ann');
  await page.getByRole('table', { name: 'Brands' }).waitFor();
  const names = ['Books', 'SPUs', 'SKUs', 'Brands', 'Categories', 'Specifications', 'Options'];
  for (const name of [...names, 'Import', 'Audit trail', 'Accounts']) {
    await page.getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    if (names.includes(name)) await page.getByRole('table', { name, exact: true }).waitFor();
  }
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'Accounts' }).waitFor();
  await page.getByRole('link', { name: 'Sign out' }).click();
  await page.getByLabel('User name').waitFor();
  assert.is(await page.evaluate('sessionStorage.getItem("catalog.session")'), null);
  assert.equal(faults(visitor, [/401/]), []);
});

testInBrowser(
  'a list is searched, filtered, sorted, paged and exported, and its address has the query',
  async () => {
    const { at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    await page.goto(at('/skus'));
    const rows = page.getByRole('row');
    await page.getByRole('link', { name: 'Next' }).click();
    await page.getByText('21–36 of 36').waitFor();
    await page.getByRole('link', { name: 'Previous' }).click();
    await page.getByText('1–20 of 36').waitFor();
    await page.getByLabel('Search').fill('kettle');
    await page.getByText('1–3 of 3').waitFor();
    await page.getByRole('columnheader', { name: 'Price' }).getByRole('button').click();
    await page.getByRole('columnheader', { name: 'Price' }).getByRole('button').click();
    await page.waitForURL(/q=kettle&sortby=price&order=desc/);
    await rows.nth(1).getByText('$89.00').waitFor();
    await page.reload();
    await rows.nth(1).getByText('$89.00').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('combobox', { name: 'SPU' }).fill('folio');
    await page.getByRole('option', { name: /Folio/ }).click();
    await page.getByText('1–4 of 4').waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export' }).click();
    const file = await download;
    assert.match(file.suggestedFilename(), /^skus-\d{4}-\d{2}-\d{2}\.csv$/);
    const lines = readFileSync(await file.path(), 'utf8')
      .trim()
      .split('\r\n');
    assert.is(lines.length, 5, 'the header and what the list shows');
    await page.goto(at('/books?q=prejudice'));
    await page.getByText('1–1 of 1').waitFor();
    const books = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export' }).click();
    const [header, book] = readFileSync(await (await books).path(), 'utf8').split('\r\n');
    assert.is(header, 'id,name,pub_date,commentcount,readcount,image');
    assert.is(book, '1,Pride and Prejudice,1813-01-28,418,9240,');
    assert.equal(faults(visitor), []);
  },
);

testInBrowser('a SKU is created, changed and deleted, and the deletion is undone', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/skus'));
  await page.getByRole('link', { name: 'New' }).click();
  await page.getByLabel('Name').fill('A kettle for two');
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'alert', 'Some values are not right yet');
  assert.is(await page.getByText('is required').count(), 5, 'SPU, category, three prices');
  await page.getByLabel('SPU', { exact: true }).fill('gooseneck');
  await page.getByRole('option', { name: /Gooseneck/ }).click();
  await page.getByLabel('Category', { exact: true }).fill('kettle');
  await page.getByRole('treeitem', { name: /Kettles/ }).click();
  await page.getByLabel('Price', { exact: true }).fill('1,249.5');
  await page.getByLabel('Cost price').fill('12');
  await page.getByLabel('Market price').fill('nothing');
  await page.getByLabel('Code').fill('KETTLE-2');
  await page.getByText('must be a price, such as 1,234.50').waitFor();
  await page.getByLabel('Market price').fill('1300');
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'status', 'A kettle for two is saved.');
  await page.waitForURL(/\/console\/skus\/\d+$/);
  const id = Number(/\d+$/.exec(page.url())?.[0]);
  const created = await read(server, `/admin/skus/${id}/`);
  assert.is(created.price, 124_950);
  assert.is(created.code, 'KETTLE-2');
  const link = page.getByRole('link', { name: 'Page' });
  assert.is(await link.getAttribute('href'), `/pages/skus/${id}.html`);
  // Each save leaves one record for the specification.
  for (const option of [1, 0, 1]) {
    const choice = page
      .getByRole('group', { name: 'Specifications' })
      .getByRole('combobox')
      .first();
    await choice.selectOption({ index: 1 + option });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Unsaved changes').waitFor({ state: 'hidden' });
  }
  assert.is((await read(server, `/admin/skus/${id}/specs/`)).length, 1);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await hears(page, 'status', 'A kettle for two was deleted.');
  await page.getByRole('button', { name: 'Undo' }).click();
  await hears(page, 'status', 'Undone.');
  assert.is((await read(server, `/admin/skus/${id}/`)).code, 'KETTLE-2');
  assert.equal(faults(visitor), []);
});

for (const [path, label] of [
  ['/goods/new', 'Category 3'],
  ['/skus/new', 'Category'],
] as const) {
  testInBrowser(`a category that is created fits the field ${label} of ${path}`, async () => {
    const { server, at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    const name = `Made for ${path.slice(1)}`;
    const count = async () => (await read(server, `/admin/categories/?q=${name}`)).length;
    await page.goto(at(path));
    const field = page.getByRole('combobox', { name: label, exact: true });
    await field.fill(name);
    await page.getByRole('treeitem', { name: `Create “${name}”…` }).click();
    const dialog = page.getByRole('dialog', { name: 'New category' });
    const parent = dialog.getByRole('combobox', { name: 'Parent' });
    for (const chosen of ['', 'Electronics']) {
      if (chosen !== '') {
        await parent.fill(chosen);
        await dialog.getByRole('treeitem', { name: chosen, exact: true }).click();
      }
      await dialog.getByRole('button', { name: 'Create' }).press('Enter');
      await dialog.getByText('must be a category of level 2').waitFor();
      await focused(page, '#create-parent_id');
      assert.is(await count(), 0);
    }
    await parent.fill('Phones');
    await dialog.getByRole('treeitem', { name: 'Phones', exact: true }).click();
    await dialog.getByRole('button', { name: 'Create' }).press('Enter');
    await hears(page, 'status', `${name} is saved.`);
    assert.is(await field.inputValue(), `Electronics › Phones › ${name}`);
    assert.is(await count(), 1);
    assert.equal(faults(visitor), []);
  });
}

testInBrowser(
  'the server judges a parent of a new category that the tree does not have',
  async () => {
    const { server, at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    await page.goto(at('/goods/new?category1_id=987654'));
    await page.getByRole('combobox', { name: 'Category 2' }).fill('Below nothing');
    await page.getByRole('treeitem', { name: 'Create “Below nothing”…' }).click();
    const dialog = page.getByRole('dialog', { name: 'New category' });
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.locator('#create-parent_id-problem').waitFor();
    const problem = (await dialog.locator('#create-parent_id-problem').textContent()) ?? '';
    assert.match(problem, /987654/);
    assert.is((await read(server, '/admin/categories/?q=Below')).length, 0);
    assert.equal(faults(visitor, [/422/]), []);
  },
);

testInBrowser('a missing brand is created without leaving the form of an SPU', async () => {
  const { server, at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/goods/1'));
  await page.getByLabel('Brand').fill('Brand from nowhere');
  await page.getByRole('option', { name: 'Create “Brand from nowhere”…' }).click();
  const dialog = page.getByRole('dialog', { name: 'New brand' });
  assert.is(await dialog.getByLabel('Name').inputValue(), 'Brand from nowhere');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Unsaved changes').waitFor({ state: 'hidden' });
  assert.is((await read(server, '/admin/goods/1/')).brand, 'Brand from nowhere');
});

testInBrowser('one button creates the missing SKUs of an SPU', async () => {
  const { server, at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/goods/1'));
  await page.getByLabel('New option of Storage').fill('1 TB');
  await page.getByLabel('New option of Storage').press('Enter');
  await page.getByRole('button', { name: 'Create 4 missing SKUs' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Price', { exact: true }).fill('899');
  await dialog.getByLabel('Cost price').fill('700');
  await dialog.getByLabel('Market price').fill('899');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await hears(page, 'status', '4 SKUs were created.');
  await page.getByRole('button', { name: /missing SKU/ }).waitFor({ state: 'detached' });
  await page.locator('#spu-skus:focus').waitFor();
  const skus = await read(server, '/admin/goods/1/skus/?per_page=100');
  const made = skus.filter(({ price }: { price: number }) => price === 89_900);
  assert.is(made.length, 4);
  assert.ok(made.every(({ specs }: { specs: unknown[] }) => specs.length === 2));
});

testInBrowser('a description is edited as rich text, and only this attribute is sent', async () => {
  const { server, at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/goods/2'));
  const before = await read(server, '/admin/goods/2/');
  const field = page.getByRole('textbox', { name: 'Packaging' });
  await field.click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type(' And a box.');
  const request = page.waitForRequest((each) => each.method() === 'PATCH');
  await page.keyboard.press('Control+s');
  assert.equal(Object.keys((await request).postDataJSON()), ['desc_pack']);
  await page.getByText('Unsaved changes').waitFor({ state: 'hidden' });
  const after = await read(server, '/admin/goods/2/');
  assert.match(after.desc_pack, /And a box\./);
  assert.is(after.desc_detail, before.desc_detail);
});

testInBrowser('a list at the end of a description is saved without a line below it', async () => {
  const { server, at, visit } = scene();
  const { page } = await visit('editor');
  await send(server, 'PATCH', '/admin/goods/2/', { body: { desc_pack: '<p>One</p>' } });
  await page.goto(at('/goods/2'));
  const field = page.getByRole('textbox', { name: 'Packaging' });
  await field.click();
  await page.keyboard.press('Control+End');
  const tools = page.getByRole('group', { name: 'Packaging' });
  await tools.getByRole('button', { name: 'List', exact: true }).click();
  await page.keyboard.type(' phone');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await hears(page, 'status', 'is saved.');
  const { desc_pack: saved } = await read(server, '/admin/goods/2/');
  assert.is(saved, '<ul><li>One phone</li></ul>');
  // After a deletion the editor adds its line as a paragraph.
  await field.press('s');
  await page.getByText('Unsaved changes').waitFor();
  await page.keyboard.press('Backspace');
  await page.getByText('Unsaved changes').waitFor({ state: 'hidden' });
});

/** What is kept, a description, and what is stored after "!" was typed at its end. */
const EDITED: readonly (readonly [what: string, before: string, after: string])[] = [
  [
    'the words after a "<"',
    '<b>note</b>: at I<Imax only, see <https://a.example/?a=1&copy=2>',
    '<p><b>note</b>: at I&lt;Imax only, see &lt;https://a.example/?a=1&amp;copy=2&gt;!</p>',
  ],
  [
    'the paragraphs around a quotation',
    'One\n\nTwo\n<blockquote><p>A</p></blockquote>\nThree\n\nFour',
    '<p>One</p><p>Two</p><blockquote><p>A</p></blockquote><p>Three</p><p>Four!</p>',
  ],
  ['an item outside of a list', 'One\n<li>Two</li>\nThree', '<p>One</p><li>Two</li><p>Three!</p>'],
  ['its lines', 'One<br />\r\nTwo\r\n\r\nThree', '<p>One<br>Two</p><p>Three!</p>'],
];

for (const [what, desc_pack, after] of EDITED) {
  testInBrowser(`an edit of a description keeps ${what}`, async () => {
    const { server, at, visit } = scene();
    const { page } = await visit('editor');
    const spu = await read(server, '/admin/goods/2/');
    const { id } = await make(server, '/admin/goods/', { ...spu, name: 'Charger', desc_pack });
    await page.goto(at(`/goods/${id}`));
    const field = page.getByRole('textbox', { name: 'Packaging' });
    await field.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('!');
    await page.keyboard.press('Control+s');
    await page.getByText('Unsaved changes').waitFor({ state: 'hidden' });
    assert.is((await read(server, `/admin/goods/${id}/`)).desc_pack, after);
  });
}

testInBrowser('the preview shows unsaved input, and nothing is stored', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/skus/17'));
  await page.getByLabel('Name').fill('A name that is not saved');
  await page.getByRole('button', { name: 'Preview' }).click();
  const preview = page.frameLocator('iframe');
  await preview.getByRole('heading', { name: 'A name that is not saved' }).waitFor();
  assert.not.match((await read(server, '/admin/skus/17/')).name, /not saved/);
  assert.equal(faults(visitor, [/\/pages\/style\.css/]), []);
});

testInBrowser(
  'the keyboard alone is enough to find a SKU, change its price and save it',
  async () => {
    const { server, at, visit } = scene();
    const { page } = await visit('editor');
    await page.goto(at('/skus'));
    await page.getByRole('table').waitFor();
    const tabTo = async (name: string) => {
      for (let step = 0; step < 60; step += 1) {
        const label = await page.evaluate<string>(
          '(document.activeElement?.labels?.[0] ?? document.activeElement)?.textContent?.trim() ?? ""',
        );
        if (label === name) return;
        await page.keyboard.press('Tab');
      }
      throw new Error(`the Tab key does not lead to ${name}`);
    };
    await tabTo('Search');
    await page.keyboard.type('matt black');
    await page.getByText('1–1 of 1').waitFor();
    await tabTo('Brüsholt Gooseneck Kettle, matt black, 0.8 litres');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Save' }).waitFor();
    await tabTo('Price');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('84.5');
    await tabTo('Save');
    await page.keyboard.press('Enter');
    await hears(page, 'status', 'is saved');
    assert.is((await read(server, '/admin/skus/15/')).price, 8450);
  },
);

testInBrowser('a form without changes writes nothing when it is saved', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const { name } = await read(server, '/admin/brands/4/');
  const entries = async () => (await read(server, '/admin/brands/4/audits/')).length;
  const before = await entries();
  await page.goto(at('/brands/4'));
  await page.getByLabel('Name').waitFor();
  await page.keyboard.press('Control+s');
  await hears(page, 'status', `${name} is saved.`);
  assert.is(await entries(), before);
  // A change of another user is shown as ever.
  const body = { name: 'Renamed meanwhile' };
  assert.is((await send(server, 'PATCH', '/admin/brands/4/', { body })).status, 200);
  await page.keyboard.press('Control+s');
  await page.getByRole('heading', { name: 'This item has been changed meanwhile' }).waitFor();
  assert.equal(faults(visitor), []);
});

test.run();
