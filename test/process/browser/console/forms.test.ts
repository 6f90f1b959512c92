/** Fields of forms other than plain inputs: categories, references, descriptions (spec 13.4). */
import type { Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { make, read } from '../../../support/catalog.ts';
import { until } from '../../../support/until.ts';
import { testInBrowser } from '../browser.ts';
import { end } from '../visits.ts';
import { faults, hears, hold, show, stage } from './console.ts';

const scene = stage();

const treeitem = (page: Page, name: string) => page.getByRole('treeitem', { name, exact: true });

testInBrowser('the specifications of a SKU are back with its SPU', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/skus/1'));
  const spu = page.getByRole('combobox', { name: 'SPU', exact: true });
  const own = 'Auralune Phone 12';
  await until('its SPU is named', async () => (await spu.inputValue()) === own);
  const { specs } = await read(server, '/admin/skus/1/');
  const colour = page.getByLabel('Colour');
  const storage = page.getByLabel('Storage');
  await storage.selectOption({ label: '256 GB' });
  for (const name of [(await read(server, '/admin/goods/3/')).name, own]) {
    await spu.fill(name);
    await page.getByRole('option', { name }).first().waitFor();
    await spu.press('Enter');
    // The choices are dropped when the specifications of the other SPU are read.
    if (name !== own) await storage.waitFor({ state: 'detached' });
  }
  await storage.waitFor();
  // What the user has cleared stays so if the same SPU is chosen again.
  await storage.selectOption({ index: 0 });
  await spu.fill(own);
  await page.getByRole('option', { name: own }).first().waitFor();
  await spu.press('Enter');
  await page.getByRole('option', { name: own }).first().waitFor({ state: 'hidden' });
  assert.is(await storage.inputValue(), '');
  await storage.selectOption({ value: String(specs[1].option_id) });
  assert.is(await colour.inputValue(), String(specs[0].option_id));
  assert.is(await storage.inputValue(), String(specs[1].option_id));
  await page.getByText('Unsaved changes').waitFor({ state: 'hidden' });
  assert.equal(faults(visitor), []);
});

testInBrowser('a category is chosen from the tree by keyboard alone', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/skus/new'));
  const field = page.getByRole('combobox', { name: 'Category' });
  await field.focus();
  await field.press('ArrowDown');
  const tree = page.getByRole('tree', { name: 'Choices' });
  await tree.waitFor();
  const marked = async () => {
    const id = await field.getAttribute('aria-activedescendant');
    return id === null ? null : page.locator(`[id="${id}"]`).textContent();
  };
  assert.is(await treeitem(page, 'Phones').count(), 0, 'branches are closed at first');
  const moveTo = async (name: RegExp) => {
    for (let step = 0; step < 30 && !name.test((await marked()) ?? ''); step += 1) {
      await field.press('ArrowDown');
    }
    assert.match((await marked()) ?? '', name);
  };
  await moveTo(/Electronics/);
  // A first level cannot be chosen for a SKU: Enter opens it, and so does the arrow.
  await field.press('Enter');
  await treeitem(page, 'Phones').waitFor();
  await field.press('ArrowLeft');
  await treeitem(page, 'Phones').waitFor({ state: 'hidden' });
  await field.press('ArrowRight');
  await moveTo(/Phones/);
  await field.press('ArrowRight');
  await treeitem(page, 'Smartphones').waitFor();
  assert.is(await treeitem(page, 'Smartphones').getAttribute('aria-level'), '3');
  await field.press('ArrowLeft');
  await field.press('ArrowLeft');
  assert.match((await marked()) ?? '', /Electronics/, 'the arrow leads to the branch above');
  await field.press('End');
  await field.press('Home');
  assert.is(await marked(), await page.getByRole('treeitem').first().textContent());
  await field.press('Escape');
  await tree.waitFor({ state: 'hidden' });
  await field.fill('smartph');
  await field.press('Enter');
  await page.getByText('Unsaved changes').waitFor();
  assert.is(await field.inputValue(), 'Electronics › Phones › Smartphones');
  assert.equal(faults(visitor), []);
});

testInBrowser('choosing the third category of an SPU fills in the first two', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/goods/new'));
  const level = (number: number) => page.getByRole('combobox', { name: `Category ${number}` });
  await level(3).click();
  await treeitem(page, 'Electronics').click();
  await treeitem(page, 'Phones').click();
  await treeitem(page, 'Smartphones').click();
  assert.equal(await Promise.all([1, 2, 3].map((number) => level(number).inputValue())), [
    'Electronics',
    'Electronics › Phones',
    'Electronics › Phones › Smartphones',
  ]);
  // The field of the first level offers only this level.
  await level(1).click();
  assert.is(await treeitem(page, 'Phones').count(), 0);
  assert.is(await treeitem(page, 'Electronics').getAttribute('aria-selected'), 'true');
});

testInBrowser('an SPU that moves to another category offers to move its SKUs', async () => {
  const { server, at, visit } = scene();
  const { page } = await visit('editor');
  const before = await read(server, '/admin/goods/1/skus/?per_page=100');
  const { category2_id: parent } = await read(server, '/admin/goods/1/');
  const folding = { name: 'Folding phones', parent_id: parent };
  const target = await make(server, '/admin/categories/', folding);
  await page.goto(at('/goods/1'));
  await page.getByRole('combobox', { name: 'Category 3' }).fill('folding');
  await treeitem(page, 'Folding phones').click();
  await page.getByRole('button', { name: 'Save' }).click();
  const count = before.length;
  await page.getByText(`${count} SKUs of this SPU are still in the old category.`).waitFor();
  await page.getByRole('button', { name: `Move ${count} SKUs` }).click();
  await hears(page, 'status', `${count} SKUs are now in Electronics`);
  const after = await read(server, '/admin/goods/1/skus/?per_page=100');
  assert.ok(after.every((sku: { category_id: number }) => sku.category_id === target.id));
  await page.getByRole('button', { name: 'Undo' }).click();
  await hears(page, 'status', `Undone for ${count} items.`);
  assert.equal(await read(server, '/admin/goods/1/skus/?per_page=100'), before);
});

testInBrowser('typing replaces a name that is loaded after the field got the focus', async () => {
  const { at, visit } = scene();
  const { page } = await visit('viewer');
  let answer: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route('**/admin/brands/1/', async (route) => {
    await asked;
    await route.continue();
  });
  await page.goto(at('/goods?brand_id=1'));
  const field = page.getByRole('combobox', { name: 'Brand' });
  await field.focus();
  answer();
  await page.getByRole('row').nth(1).waitFor();
  await until('the name is shown', async () => (await field.inputValue()) === 'Auralune');
  await page.keyboard.type('Q');
  assert.is(await field.inputValue(), 'Q');
});

testInBrowser('a link is set, changed and removed in a description', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const { id } = await make(server, '/admin/brands/', { name: 'Linked' });
  const spu = await read(server, '/admin/goods/2/');
  const { id: goods } = await make(server, '/admin/goods/', {
    ...spu,
    name: 'With a link',
    brand_id: id,
    desc_pack: 'Manual',
  });
  await page.goto(at(`/goods/${goods}`));
  const field = page.getByRole('textbox', { name: 'Packaging' });
  const packed = async () => (await read(server, `/admin/goods/${goods}/`)).desc_pack;
  const link = async (address: string) => {
    await field.click();
    await page.keyboard.press('Control+a');
    await page
      .getByRole('group', { name: 'Packaging' })
      .getByRole('button', { name: 'Link' })
      .click();
    await page.getByRole('dialog').getByLabel('Address').fill(address);
    await page.keyboard.press('Enter');
  };
  const save = async () => {
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Unsaved changes').waitFor({ state: 'hidden' });
  };
  await link('javascript:alert(1)');
  await hears(page, 'alert', 'must be an address that begins with https:');
  await page.getByLabel('Address').fill('maker.example/manual');
  await page.getByRole('button', { name: 'Set link' }).click();
  await page.getByText('Unsaved changes').waitFor();
  await save();
  assert.is(await packed(), '<p><a href="https://maker.example/manual">Manual</a></p>');
  await link('mailto:help@maker.example');
  await page.getByText('Unsaved changes').waitFor();
  await save();
  assert.is(await packed(), '<p><a href="mailto:help@maker.example">Manual</a></p>');
  await field.click();
  await page
    .getByRole('group', { name: 'Packaging' })
    .getByRole('button', { name: 'Link' })
    .click();
  await page.getByRole('button', { name: 'Remove link' }).click();
  await page.getByText('Unsaved changes').waitFor();
  await save();
  assert.is(await packed(), 'Manual', 'as it was before');
  assert.equal(faults(visitor), []);
});

/** Fields of the form that have no description, or an empty one. */
const UNDESCRIBED = `[...document.querySelectorAll('.item .fields :is(input, fieldset, [role=textbox]), .facts output')]
  .filter((each) => each.closest('fieldset') === null || each.localName === 'fieldset')
  .filter((each) => !(each.getAttribute('aria-describedby') ?? '').split(' ')
    .some((id) => (document.getElementById(id)?.textContent ?? '').trim().length > 5))
  .map((each) => each.id || each.localName)`;

testInBrowser('every field has a description in English and in German', async () => {
  for (const [locale, save] of [
    ['en-GB', 'Save'],
    ['de-DE', 'Speichern'],
  ] as const) {
    const { page } = await scene().visit('editor', { options: { locale } });
    await page.goto(scene().at('/skus/1'));
    for (const name of ['skus', 'goods', 'brands', 'categories', 'specs', 'options', 'books']) {
      await show(page, `/${name}/1`);
      await page.waitForURL(`**/${name}/1`);
      await page.getByRole('button', { name: save }).waitFor();
      // Descriptions have an editor, which is loaded later.
      if (name === 'goods') await page.getByRole('textbox').nth(4).waitFor();
      assert.ok((await page.locator('.item .fields label').count()) >= 2, name);
      assert.equal(await page.evaluate(UNDESCRIBED), [], `${locale} ${name}`);
      const said = await page.getByRole('status').allTextContents();
      assert.is(said.join(''), '', `${name}: no message`);
    }
    await end(page);
  }
});

testInBrowser('a specification moves to another SPU', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const { id } = await make(server, '/admin/specs/', { name: 'Moved', spu_id: 3 });
  await page.goto(at(`/specs/${id}`));
  await page.getByLabel('SPU', { exact: true }).fill('Gooseneck');
  await page.getByRole('option', { name: 'Gooseneck' }).first().click();
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'status', 'Moved is saved.');
  assert.match((await read(server, `/admin/specs/${id}/`)).goods, 'Gooseneck');
  assert.equal(faults(visitor), []);
});

testInBrowser('a SKU keeps its options if its move to another SPU is discarded', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/skus/1'));
  const storage = page.getByLabel('Storage');
  await storage.waitFor();
  const spu = page.getByLabel('SPU', { exact: true });
  await spu.fill('Gooseneck');
  await page.getByRole('option', { name: 'Gooseneck' }).first().click();
  await page.getByLabel('Storage').waitFor({ state: 'hidden' });
  await page.getByLabel('Finish').waitFor();
  await page.getByRole('button', { name: 'Discard changes' }).click();
  await storage.waitFor();
  assert.is(await storage.inputValue(), '4');
  assert.is(await page.getByLabel('Colour').inputValue(), '1');
  assert.is(await page.getByText('Unsaved changes').count(), 0);
  assert.equal(faults(visitor), []);
});

testInBrowser('a SKU moves to another SPU with its specifications, or not at all', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const { id: _, ...copied } = await read(server, '/admin/skus/1/');
  const { id } = await make(server, '/admin/skus/', { ...copied, code: null });
  const writes: string[] = [];
  page.on('request', (request) => {
    if (!['GET', 'OPTIONS'].includes(request.method())) writes.push(request.method());
  });
  await page.goto(at(`/skus/${id}`));
  await page.getByLabel('Storage').waitFor();
  await page.getByLabel('SPU', { exact: true }).fill('Gooseneck');
  await page.getByRole('option', { name: 'Gooseneck' }).first().click();
  await page.getByLabel('Finish').selectOption({ index: 1 });
  const save = page.getByRole('button', { name: 'Save' });
  await page.route('**/admin/skus/**', (route) => route.abort(), { times: 1 });
  await save.click();
  await hears(page, 'alert', 'The server does not answer.');
  assert.equal((await read(server, `/admin/skus/${id}/`)).specs, copied.specs);
  await save.click();
  await page.getByText('Unsaved changes').waitFor({ state: 'hidden' });
  const { goods, specs } = await read(server, `/admin/skus/${id}/`);
  const { spec } = await read(server, `/admin/options/${specs[0].option_id}/`);
  assert.equal([goods.includes('Gooseneck'), specs.length, spec], [true, 1, 'Finish']);
  assert.equal(writes, ['PATCH', 'PATCH']);
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

testInBrowser('a SKU moves before the specifications of its new SPU are known', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const { id: _, ...copied } = await read(server, '/admin/skus/1/');
  const { id } = await make(server, '/admin/skus/', { ...copied, code: null });
  await page.goto(at(`/skus/${id}`));
  await page.getByLabel('Storage').waitFor();
  const release = await hold(page, '**/admin/goods/*/specs/**');
  await page.getByLabel('SPU', { exact: true }).fill('Gooseneck');
  await page.getByRole('option', { name: 'Gooseneck' }).first().click();
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'status', 'is saved.');
  release();
  const { goods, specs } = await read(server, `/admin/skus/${id}/`);
  assert.equal([goods.includes('Gooseneck'), specs], [true, []]);
  assert.equal(faults(visitor), []);
});

testInBrowser('a new SKU is saved before the specifications of its new SPU are known', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const { category_id: category } = await read(server, '/admin/skus/1/');
  await page.goto(at(`/skus/new?spu_id=1&category_id=${category}`));
  await page.getByLabel('Storage').selectOption({ index: 1 });
  for (const name of ['Name', 'Caption']) await page.getByLabel(name).fill('Moved before');
  for (const name of ['Price', 'Cost price', 'Market price']) {
    await page.getByLabel(name, { exact: true }).fill('1');
  }
  const release = await hold(page, '**/admin/goods/*/specs/**');
  await page.getByLabel('SPU', { exact: true }).fill('Gooseneck');
  await page.getByRole('option', { name: 'Gooseneck' }).first().click();
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'status', 'Moved before is saved.');
  release();
  const [{ goods, specs }] = await read(server, '/admin/skus/?q=Moved+before');
  assert.equal([goods.includes('Gooseneck'), specs], [true, []]);
  assert.equal(faults(visitor), []);
});

testInBrowser(
  'a move to another SPU that is discarded before a frame changes nothing',
  async () => {
    const { at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    await page.goto(at('/skus/1'));
    const storage = page.getByLabel('Storage');
    await storage.waitFor();
    await page.evaluate(`
      new MutationObserver((_, observer) => {
        const labels = [...document.querySelectorAll('.specs label')];
        if (!labels.some((label) => label.textContent === 'Finish')) return;
        observer.disconnect();
        const buttons = [...document.querySelectorAll('.save-bar button')];
        buttons.find((button) => button.textContent === 'Discard changes').click();
        globalThis.isDiscarded = true;
      }).observe(document, { childList: true, subtree: true });`);
    await page.getByLabel('SPU', { exact: true }).fill('Gooseneck');
    await page.getByRole('option', { name: 'Gooseneck' }).first().click();
    await until('it is discarded', () => page.evaluate<boolean>('globalThis.isDiscarded === true'));
    await storage.waitFor();
    assert.is(await storage.inputValue(), '4');
    assert.is(await page.getByText('Unsaved changes').count(), 0);
    assert.equal(faults(visitor), []);
  },
);

testInBrowser(
  'a deletion can be undone after an attempt that the server did not answer',
  async () => {
    const { server, at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    const { id } = await make(server, '/admin/brands/', { name: 'Comes back' });
    await page.goto(at(`/brands/${id}`));
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await hears(page, 'status', 'Comes back was deleted.');
    const undo = page.getByRole('button', { name: 'Undo' });
    await page.route('**/audits/**', (route) => route.abort());
    await undo.click();
    await hears(page, 'alert', 'The server does not answer.');
    await page.unroute('**/audits/**');
    await undo.click();
    await hears(page, 'status', 'Undone.');
    assert.is((await read(server, `/admin/brands/${id}/`)).name, 'Comes back');
    assert.equal(faults(visitor, [/ERR_FAILED/]), []);
  },
);

testInBrowser('the initial values of a new form are not unsaved changes', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/goods/1'));
  await page.getByRole('link', { name: 'New SKU' }).click();
  const spu = page.getByLabel('SPU', { exact: true });
  await until('the SPU is chosen', async () => (await spu.inputValue()) === 'Auralune Phone 12');
  await page.reload();
  await page.getByLabel('Caption').waitFor();
  assert.is(await page.getByText('unsaved changes were restored').count(), 0);
  await page.getByRole('link', { name: 'Brands', exact: true }).click();
  await page.getByRole('table', { name: 'Brands' }).waitFor();
  assert.equal(faults(visitor), []);
});

testInBrowser('what is typed for a new SKU of one SPU does not appear for another', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const caption = page.getByLabel('Caption');
  const storage = page.getByLabel('Storage');
  page.on('dialog', (dialog) => void dialog.accept());
  await page.goto(at('/skus/new?spu_id=1'));
  await caption.fill('Typed');
  await storage.selectOption({ index: 1 });
  await page.goto(at('/skus/new?spu_id=2'));
  await storage.waitFor();
  assert.equal([await caption.inputValue(), await storage.inputValue()], ['', '']);
  assert.is(await page.getByText('unsaved changes were restored').count(), 0);
  await page.goto(at('/skus/new?spu_id=1'));
  await page.getByText('unsaved changes were restored').waitFor();
  await storage.waitFor();
  assert.is(await caption.inputValue(), 'Typed');
  assert.is.not(await storage.inputValue(), '');
  assert.equal(faults(visitor), []);
});

test.run();
