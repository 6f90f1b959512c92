/** What pickers find, and text that is left in them without a choice (spec 13.4). */
import type { Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { make, read, spuFields } from '../../../support/catalog.ts';
import { send, tokenFor } from '../../../support/client.ts';
import type { TestServer } from '../../../support/server.ts';
import { until } from '../../../support/until.ts';
import { overflow, testInBrowser, violationsOn } from '../browser.ts';
import { prepare } from '../visits.ts';
import { faults, focused, hears, hold, stage } from './console.ts';

const scene = stage();

const UNCHOSEN = 'Nothing was chosen.';

/** Types a text and leaves the field before the server is asked. */
async function typeAndLeave(page: Page, field: string, text: string): Promise<void> {
  await page.getByRole('combobox', { name: field, exact: true }).fill(text);
  await page.keyboard.press('Tab');
}

testInBrowser('a reference filter that is left takes the only choice for its text', async () => {
  const { at, visit } = scene();
  const visitor = await visit('viewer');
  const { page } = visitor;
  await page.goto(at('/skus'));
  await page.getByRole('row').nth(1).waitFor();
  await typeAndLeave(page, 'SPU', 'folio');
  await page.waitForURL(/spu_id=\d+$/);
  await page.getByText('1–4 of 4').waitFor();
  const spu = page.getByRole('combobox', { name: 'SPU' });
  await until('it shows the name', async () => (await spu.inputValue()).includes('Folio'));
  assert.is(await spu.getAttribute('aria-invalid'), 'false');
  await typeAndLeave(page, 'Category', 'smartph');
  await page.waitForURL(/category_id=\d+/);
  const category = page.getByRole('combobox', { name: 'Category' });
  await until(
    'it shows the path',
    async () => (await category.inputValue()) === 'Electronics › Phones › Smartphones',
  );
  assert.equal(faults(visitor), []);
});

testInBrowser('a reference filter that is left takes the choice whose name was typed', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('viewer');
  const { page } = visitor;
  const { id } = await make(server, '/admin/brands/', { name: 'Sandpiper' });
  await make(server, '/admin/brands/', { name: 'Sandpiper Audio' });
  await page.goto(at('/goods'));
  await page.getByRole('row').nth(1).waitFor();
  await typeAndLeave(page, 'Brand', 'sandpiper');
  await page.waitForURL(at(`/goods?brand_id=${id}`));
  const brand = page.getByRole('combobox', { name: 'Brand' });
  await until('the brand is shown', async () => (await brand.inputValue()) === 'Sandpiper');
  assert.equal(faults(visitor), []);
});

testInBrowser(
  'a reference filter that is left keeps text that means no single choice',
  async () => {
    const { at, visit } = scene();
    const visitor = await visit('viewer');
    const { page } = visitor;
    await page.goto(at('/skus?q=a'));
    await page.getByRole('row').nth(1).waitFor();
    for (const [name, text] of [
      ['SPU', 'a'],
      ['SPU', 'nothing has this name'],
      ['Category', 'phone'],
    ] as const) {
      const field = page.getByRole('combobox', { name, exact: true });
      // Text in a region that is new is often not announced.
      const region = page.locator('.combobox', { has: field }).locator('[aria-live]');
      assert.is(await region.textContent(), '');
      await typeAndLeave(page, name, text);
      await hears(page, 'alert', UNCHOSEN);
      assert.is(await field.inputValue(), text);
      assert.is(await field.getAttribute('aria-invalid'), 'true');
      const message = page.locator(`[id="${await field.getAttribute('aria-describedby')}"]`);
      assert.match((await message.textContent()) ?? '', UNCHOSEN);
      assert.is(new URL(page.url()).search, '?q=a');
      assert.equal(await violationsOn(page), []);
      // Typing searches again, and Escape takes the text back.
      await field.focus();
      await page.keyboard.press('Backspace');
      await page.getByText(UNCHOSEN).waitFor({ state: 'hidden' });
      await field.press('Escape');
      assert.is(await field.inputValue(), '');
      assert.is(await field.getAttribute('aria-invalid'), 'false');
    }
    await typeAndLeave(page, 'SPU', 'nothing has this name');
    await hears(page, 'alert', UNCHOSEN);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByText(UNCHOSEN).waitFor({ state: 'hidden' });
    assert.is(await page.getByRole('combobox', { name: 'SPU' }).inputValue(), '');
    assert.equal(faults(visitor), []);
  },
);

testInBrowser('a form is not saved while it has text from which nothing was chosen', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const { brand } = await read(server, '/admin/goods/1/');
  await page.goto(at('/goods/1'));
  const field = page.getByRole('combobox', { name: 'Brand', exact: true });
  await until('the brand is shown', async () => (await field.inputValue()) === brand);
  await page.getByLabel('Name').fill('Saved with its brand');
  await typeAndLeave(page, 'Brand', 'nothing has this name');
  await hears(page, 'alert', UNCHOSEN);
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'alert', 'Some values are not right yet');
  await focused(page, '#field-brand_id');
  assert.is.not((await read(server, '/admin/goods/1/')).name, 'Saved with its brand');
  await field.fill('');
  await page.keyboard.press('Tab');
  assert.is(await field.inputValue(), brand);
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'status', 'Saved with its brand is saved.');
  assert.is((await read(server, '/admin/goods/1/')).brand, brand);
  assert.equal(faults(visitor), []);
});

testInBrowser(
  'text from which nothing was chosen is discarded with the other changes',
  async () => {
    const { at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    const discard = page.getByRole('button', { name: 'Discard changes' });
    const isLeft = async () => {
      assert.is(await page.locator('[data-unchosen=true]').count(), 0);
      await page.getByRole('link', { name: 'Books', exact: true }).click();
      await page.getByRole('table', { name: 'Books' }).waitFor();
    };
    for (const [path, name, picker, chosen] of [
      ['/options/1', 'Value', 'Specification', 'Colour'],
      ['/goods/1', 'Name', 'Category 3', 'Electronics › Phones › Smartphones'],
    ] as const) {
      await page.goto(at(path));
      const field = page.getByLabel(picker, { exact: true });
      await page.getByLabel(name, { exact: true }).fill('Changed');
      await field.fill('Nothing is called so');
      // A message below the field, which the press would leave, must not move the button away.
      const { x = 0, y = 0 } = (await discard.boundingBox()) ?? {};
      await page.mouse.move(x + 4, y + 4);
      await page.mouse.down();
      await page.mouse.up();
      await discard.waitFor({ state: 'hidden' });
      assert.is(await field.inputValue(), chosen);
      await isLeft();
    }
    await page.goto(at('/skus/1'));
    await page.getByLabel('Caption').fill('Changed');
    await page.getByRole('button', { name: 'Add another…' }).first().click();
    await page.getByLabel('New option of').fill('Not added');
    await discard.click();
    await isLeft();
    assert.equal(faults(visitor), []);
  },
);

testInBrowser('a reference whose text was deleted is back with the other changes', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const phones = (await read(server, '/admin/categories/?q=Phones'))[0];
  for (const [path, picker] of [
    [`/categories/${phones.id}`, 'Parent'],
    ['/goods/1', 'Brand'],
  ] as const) {
    await page.goto(at(path));
    const field = page.getByLabel(picker, { exact: true });
    await until('it is read', async () => (await field.inputValue()) !== '');
    const before = await field.inputValue();
    await page.getByLabel('Name', { exact: true }).fill('Changed');
    await field.fill('');
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await page.getByText('Unsaved changes').waitFor({ state: 'hidden' });
    assert.is(await field.inputValue(), before);
    // Neither leaving the field nor opening its choices empties it.
    await field.click();
    await page.keyboard.press('Tab');
    assert.is(await field.inputValue(), before);
    await page.getByText('Unsaved changes').waitFor({ state: 'hidden' });
  }
  assert.equal(faults(visitor), []);
});

testInBrowser('choices at the right edge of a window are moved into it', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor', { width: 360 });
  const { page } = visitor;
  await page.goto(at('/skus'));
  await page.getByRole('row').nth(1).waitFor();
  await page.getByRole('combobox', { name: 'Category' }).click();
  await page.getByRole('treeitem').first().waitFor();
  assert.is(await overflow(page), 0);
  await page.getByRole('combobox', { name: 'Category' }).fill('appliances');
  await page
    .getByRole('treeitem', { name: /Kitchen Appliances/ })
    .first()
    .waitFor();
  assert.is(await overflow(page), 0);
  assert.equal(faults(visitor), []);
});

testInBrowser('a list shows the paths of categories to their ends', async () => {
  const { at, visit } = scene();
  const { page } = await visit('viewer');
  await page.goto(at('/goods'));
  const cell = page.getByRole('cell', { name: /Kitchen Appliances › Kettles$/ });
  assert.ok(await cell.evaluate((shown) => shown.scrollWidth <= shown.clientWidth));
});

testInBrowser('a field for a category shows the end of its path', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor', { width: 320 });
  await page.goto(at('/goods/4'));
  const field = page.getByRole('combobox', { name: 'Category 3' });
  await page.locator('#field-category3_id:not([value=""])').waitFor();
  const isAtEnd = () =>
    field.evaluate(
      (it) => it.scrollLeft > 0 && it.scrollLeft + it.clientWidth >= it.scrollWidth - 1,
    );
  await until('the end is shown', isAtEnd);
  await field.focus();
  await page.keyboard.press('Tab');
  await until('the end is shown after the field is left', isAtEnd);
});

testInBrowser('a field for a category shows the beginning of a text that names none', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor', { width: 320 });
  await page.goto(at('/goods/4'));
  const field = page.getByRole('combobox', { name: 'Category 3' });
  await field.fill('A text that is longer than the field, and is no category');
  await page.keyboard.press('Tab');
  await hears(page, 'alert', 'Nothing was chosen.');
  assert.ok(await field.evaluate((it) => it.scrollWidth > it.clientWidth && it.scrollLeft === 0));
});

for (const [label, role] of [
  ['Brand', 'option'],
  ['Category 2', 'treeitem'],
] as const) {
  testInBrowser(`text from which nothing is created stays in the field ${label}`, async () => {
    const { at, visit } = scene();
    const { page } = await visit('editor');
    await page.goto(at('/goods/new'));
    const field = page.getByRole('combobox', { name: label });
    await field.fill('Nobody knows');
    await page.getByRole(role, { name: 'Create “Nobody knows”…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    assert.is(await field.inputValue(), 'Nobody knows');
    assert.ok(await field.evaluate((it) => it.matches(':focus')));
    await page.getByRole(role, { name: 'Create “Nobody knows”…' }).waitFor();
    await page.keyboard.press('Tab');
    await page.getByRole('alert').waitFor();
    assert.is(await field.inputValue(), 'Nobody knows');
  });
}

testInBrowser('a search that has failed is repeated when the user goes on', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/goods/1'));
  const brand = page.getByRole('combobox', { name: 'Brand' });
  const choice = page.getByRole('option', { name: 'Brüsholt' });
  const search = /\/admin\/brands\/\?/;
  for (const again of [
    () => brand.press('ArrowDown'),
    // It moves the focus to the field, whose text is no value.
    () => page.getByRole('button', { name: 'Save' }).press('Enter'),
  ]) {
    await page.route(search, (route) => route.abort());
    await brand.fill('Brüsh');
    await hears(page, 'alert', 'The server does not answer.');
    await page.unroute(search);
    await again();
    await choice.waitFor();
    await page
      .getByRole('alert')
      .filter({ hasText: 'does not answer' })
      .waitFor({ state: 'hidden' });
    await brand.press('Escape');
  }
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

testInBrowser('Enter chooses what has the name that was typed', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  // By name, the one that only contains the text is the first.
  for (const name of ['A zephyr', 'Zephyr']) {
    await make(server, '/admin/brands/', { name, first_letter: 'Z' });
    await make(server, '/admin/categories/', { name });
  }
  await page.goto(at('/goods/new'));
  const brand = page.getByRole('combobox', { name: 'Brand' });
  await brand.fill('zephyr');
  await page.getByRole('option', { name: 'Zephyr', exact: true }).waitFor();
  await brand.press('Enter');
  // Its name is read.
  await until('a brand is shown', async () => (await brand.inputValue()) !== '');
  assert.is(await brand.inputValue(), 'Zephyr');
  const category = page.getByRole('combobox', { name: 'Category 1' });
  await category.fill('zephyr');
  await category.press('Enter');
  assert.is(await category.inputValue(), 'Zephyr');
  assert.equal(faults(visitor), []);
});

testInBrowser('Enter chooses a category that was typed before the tree arrived', async () => {
  const { at, visit } = scene();
  const visitor = await visit('viewer');
  const { page } = visitor;
  const release = await hold(page, '**/admin/categories/export/**');
  await page.goto(at('/skus'));
  const category = page.getByRole('combobox', { name: 'Category', exact: true });
  await category.fill('smartphones');
  release();
  await page.getByRole('treeitem', { name: 'Smartphones', exact: true }).waitFor();
  await category.press('Enter');
  await page.waitForURL(/category_id=\d+$/);
  assert.equal(faults(visitor), []);
});

/** Creates brands, all of which have "7" in their names; by name "Heron 7" is the last. */
async function makeHerons(server: TestServer): Promise<void> {
  const names = [...Array.from({ length: 164 }, (_, at) => `Heron ${1007 + at * 10}`), 'Heron 7'];
  const body = names.map((name) => ({ name, first_letter: 'H' }));
  const { status } = await send(server, 'POST', '/admin/brands/bulk/', {
    body,
    token: await tokenFor('editor'),
  });
  assert.is(status, 201);
}

testInBrowser('matches beyond the first 20 are reached by keyboard', async () => {
  const { server, at, visit } = scene();
  await makeHerons(server);
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/goods/new'));
  const brand = page.getByRole('combobox', { name: 'Brand' });
  const options = page.getByRole('listbox').getByRole('option');
  const marked = async () => {
    const id = await brand.getAttribute('aria-activedescendant');
    const option = page.locator(`[id="${id}"]`);
    assert.is(await option.getAttribute('class'), 'marked');
    return { id, text: await option.innerText() };
  };
  await brand.fill('heron');
  const more = page.getByRole('option', { name: 'Show more (20 of 165 shown)' });
  await more.waitFor();
  await brand.press('ArrowDown');
  assert.is((await marked()).text, 'Heron 1007');
  // The last two offer more, and a new brand.
  assert.is(await options.count(), 22);
  for (const key of ['PageDown', 'PageDown', 'PageDown', 'ArrowUp']) await brand.press(key);
  const before = await marked();
  assert.is(before.text, 'Show more (20 of 165 shown)');
  assert.equal(await violationsOn(page), []);
  const release = await hold(page, '**/admin/brands/?*');
  await brand.press('Enter');
  await page.getByRole('option', { name: 'Loading…' }).waitFor();
  // A second time it does nothing.
  await brand.press('Enter');
  release();
  await page.getByRole('option', { name: 'Show more (40 of 165 shown)' }).waitFor();
  assert.is(await options.count(), 42);
  // What is new is read out: another element, in sight, with the focus still in the field.
  const next = await marked();
  assert.is(next.text, 'Heron 1207');
  assert.is.not(next.id, before.id);
  await until('it is in sight', () =>
    page.evaluate<boolean>(`(() => {
      const [option, list] = [document.querySelector('.marked'), document.querySelector('[role=listbox]:not([hidden])')];
      const [inner, outer] = [option, list].map((each) => each.getBoundingClientRect());
      return inner.top >= outer.top && inner.bottom <= outer.bottom;
    })()`),
  );
  await focused(page, '#field-brand_id');
  await brand.press('PageUp');
  assert.is((await marked()).text, 'Heron 1107');
  assert.equal(faults(visitor), []);
});

testInBrowser('choices that look the same have their ids beside them', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const { brand, brand_id, category1_id, category2_id, category3_id } = await read(
    server,
    '/admin/goods/1/',
  );
  const chain = [category1_id, category2_id, category3_id] as const;
  const ids: number[] = [];
  for (const name of ['Gannet', 'Gannet', 'Gannet Two']) {
    const fields = spuFields({ brand: brand_id, chain }, { name });
    ids.push((await make(server, '/admin/goods/', fields)).id);
  }
  await page.goto(at('/skus/new'));
  const spu = page.getByRole('combobox', { name: 'SPU', exact: true });
  await spu.fill('gannet');
  await page.getByRole('option', { name: 'Gannet Two' }).waitFor();
  assert.equal(await page.getByRole('option', { name: /^Gannet/ }).allInnerTexts(), [
    `Gannet ${brand} #${ids[0]}`,
    `Gannet ${brand} #${ids[1]}`,
    `Gannet Two ${brand}`,
  ]);
  await page.getByRole('option', { name: `#${ids[1]}` }).click();
  await until('it is chosen', async () => (await spu.inputValue()) === 'Gannet');
  assert.equal(faults(visitor), []);
});

testInBrowser('Show more finds what has the name that was typed', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/goods/new'));
  const brand = page.getByRole('combobox', { name: 'Brand' });
  const marked = page.locator('[role=option].marked');
  for (const [text, first, shown] of [
    ['heron 7', 'Heron 7', 41],
    // Nothing has this name.
    ['heron', 'Heron 1207', 40],
  ] as const) {
    await brand.fill(text);
    await page.getByRole('option', { name: 'Show more (20 of 165 shown)' }).waitFor();
    for (const key of ['ArrowUp', 'ArrowUp', 'Enter']) await brand.press(key);
    await page.getByRole('option', { name: 'Show more (40 of 165 shown)' }).waitFor();
    assert.is(await marked.innerText(), first);
    // Besides there are the offers of more and of a new brand.
    assert.is(await page.getByRole('listbox').getByRole('option').count(), shown + 2);
  }
  await brand.fill('heron 7');
  await page.getByRole('option', { name: /^Show more/ }).click();
  await page.getByRole('option', { name: 'Heron 7', exact: true }).waitFor();
  await brand.press('Enter');
  await until('the brand is shown', async () => (await brand.inputValue()) === 'Heron 7');
  assert.equal(faults(visitor), []);
});

testInBrowser(
  'Enter chooses nothing that only contains the text if there may be more',
  async () => {
    const { at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    await page.goto(at('/goods/new'));
    const brand = page.getByRole('combobox', { name: 'Brand' });
    const more = (count: number) =>
      page.getByRole('option', { name: `Show more (${count} of 165 shown)` }).waitFor();
    // By name, 164 others come before it.
    await brand.fill('heron 7');
    await more(20);
    assert.is(await brand.getAttribute('aria-activedescendant'), null);
    await brand.press('Enter');
    await more(40);
    await brand.press('Enter');
    await until('the brand is shown', async () => (await brand.inputValue()) === 'Heron 7');
    // The focus leaves while more is read.
    await brand.fill('HERON 7');
    await more(20);
    await brand.press('Enter');
    await brand.press('Tab');
    await until('the brand is shown', async () => (await brand.inputValue()) === 'Heron 7');
    // Nothing has this name, however often the key is pressed.
    await brand.fill('heron');
    for (const count of [20, 40, 80]) {
      await more(count);
      await brand.press('Enter');
    }
    await page.getByRole('option', { name: 'Show more (160 of 165 shown)' }).waitFor();
    assert.is(await brand.inputValue(), 'heron');
    // Nor is white space a name.
    await brand.fill(' ');
    await page.getByRole('listbox').getByRole('option').first().waitFor();
    await brand.press('Enter');
    assert.is(await brand.inputValue(), ' ');
    assert.equal(faults(visitor), []);
  },
);

testInBrowser('more matches that could not be read are offered again', async () => {
  const { at, visit } = scene();
  const visitor = await visit('viewer');
  const { page } = visitor;
  await page.goto(at('/goods'));
  await page.getByRole('combobox', { name: 'Brand' }).fill('heron');
  const more = page.getByRole('option', { name: 'Show more (20 of 165 shown)' });
  await more.waitFor();
  await page.route('**/admin/brands/?*', (route) => route.abort());
  await more.click();
  await hears(page, 'alert', 'The server does not answer.');
  await page.unroute('**/admin/brands/?*');
  await more.click();
  await page.getByRole('option', { name: 'Show more (40 of 165 shown)' }).waitFor();
  // What is typed meanwhile is another search.
  const release = await hold(page, '**/admin/brands/?*offset=40*');
  await page.getByRole('option', { name: /^Show more/ }).click();
  await page.getByRole('combobox', { name: 'Brand' }).fill('heron 110');
  const found = page.getByRole('listbox').getByRole('option');
  await until('the search is another', async () => (await found.count()) === 1);
  const late = page.waitForResponse(/offset=40/);
  release();
  await (await late).finished();
  await page.evaluate('new Promise((done) => setTimeout(done))');
  assert.is(await found.count(), 1);
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

testInBrowser('an item is found by a name that is longer than a search', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const long = 'One two three four five six seven eight nine ten eleven';
  for (const name of [`${long} thirteen`, `${long} twelve`, 'Ö'.repeat(201)]) {
    await make(server, '/admin/brands/', { name });
  }
  await page.goto(at('/goods/new'));
  const brand = page.getByRole('combobox', { name: 'Brand' });
  for (const name of [`${long} twelve`, 'Ö'.repeat(201)]) {
    await brand.fill(name);
    await page.getByRole('option', { name, exact: true }).waitFor();
    await brand.press('Enter');
    await page.getByRole('listbox').waitFor({ state: 'hidden' });
    assert.is(await brand.inputValue(), name);
  }
  // What has only the words that are searched is not meant.
  await typeAndLeave(page, 'Brand', `${long} fourteen`);
  await hears(page, 'alert', UNCHOSEN);
  assert.equal(faults(visitor), []);
});

testInBrowser('an item is found by its id', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('viewer');
  const { page } = visitor;
  const { id } = await make(server, '/admin/brands/', { name: 'Known by its id' });
  // Its name contains the text, and it is not the one that is meant.
  await make(server, '/admin/brands/', { name: `Series #${id}` });
  await page.goto(at('/goods'));
  const brand = page.getByRole('combobox', { name: 'Brand' });
  await typeAndLeave(page, 'Brand', `#${id}`);
  await page.waitForURL(at(`/goods?brand_id=${id}`));
  await until('its name is shown', async () => (await brand.inputValue()) === 'Known by its id');
  await brand.fill('#987654');
  await page.getByText('Nothing found').waitFor();
  await page.goto(at('/skus'));
  const category = page.getByRole('combobox', { name: 'Category' });
  await typeAndLeave(page, 'Category', '#12');
  await page.waitForURL(at('/skus?category_id=12'));
  await until('its path is shown', async () =>
    (await category.inputValue()).endsWith('Smartphones'),
  );
  assert.equal(faults(visitor, [/404/]), []);
});

testInBrowser('text that is left before the first frame of a field stays in it', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await prepare(
    page,
    `
    new MutationObserver((_, observer) => {
      const fields = document.querySelectorAll('#field-brand_id, #field-category3_id');
      if (fields.length < 2) return;
      observer.disconnect();
      for (const field of fields) {
        field.focus();
        field.value = 'Nothing like it';
        field.dispatchEvent(new InputEvent('input', { bubbles: true }));
        field.blur();
      }
    }).observe(document, { childList: true, subtree: true });`,
  );
  await page.goto(at('/goods/new'));
  for (const name of ['Brand', 'Category 3']) {
    const field = page.getByRole('combobox', { name, exact: true });
    await until('it is marked', async () => (await field.getAttribute('aria-invalid')) === 'true');
    assert.is(await field.inputValue(), 'Nothing like it');
  }
  assert.equal(faults(visitor), []);
});

testInBrowser('the same text that is pasted over itself is still searched', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/goods/2'));
  const brand = page.getByRole('combobox', { name: 'Brand' });
  await brand.fill('Brüsh');
  const offer = page.getByRole('option', { name: 'Brüsholt' });
  await offer.waitFor();
  await brand.fill('Brüsh');
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
  await offer.click();
  assert.is(await brand.inputValue(), 'Brüsholt');
  assert.equal(faults(visitor), []);
});

test.run();
