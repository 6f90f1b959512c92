/** Lists at their ends, on paper and without items (spec 13.4). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { make, read } from '../../../../support/catalog.ts';
import { send } from '../../../../support/client.ts';
import { until } from '../../../../support/until.ts';
import { overflow, shoot, testInBrowser, violationsOn } from '../../browser.ts';
import { end, prepare } from '../../visits.ts';
import { faults, focused, stage } from '../console.ts';

const scene = stage();

testInBrowser(
  'a link that turns to the last or the first page leaves the focus beside it',
  async () => {
    const { server, at, visit } = scene();
    const visitor = await visit('admin');
    const { page } = visitor;
    // More entries of the audit trail than one page has.
    const body = Array.from({ length: 36 }, (_, nth) => ({ id: nth + 1 }));
    assert.is((await send(server, 'PATCH', '/admin/skus/bulk/', { body })).status, 200);
    for (const [path, shown] of [
      ['/skus', '21–36 of 36'],
      ['/audits', ''],
    ] as const) {
      await page.goto(at(path));
      await page.getByRole('link', { name: 'Next' }).press('Enter');
      if (shown !== '') await page.getByText(shown).waitFor();
      await page.getByRole('link', { name: 'Next' }).waitFor({ state: 'hidden' });
      await focused(page, '.paging a');
      await page.getByRole('link', { name: 'Previous' }).press('Enter');
      await page.getByRole('link', { name: 'Previous' }).waitFor({ state: 'hidden' });
      await focused(page, '.paging a');
    }
    assert.equal(faults(visitor), []);
    // The link goes before the response to its list, and a fetch that a close interrupts fails.
    await page.unrouteAll({ behavior: 'wait' });
  },
);

testInBrowser('paper has all columns of a list in dark text, and nothing to press', async () => {
  const { at, visit } = scene();
  for (const dark of [false, true]) {
    const { page } = await visit('editor', { width: 700, dark });
    await page.goto(at('/skus'));
    await page.getByRole('row').nth(20).waitFor();
    await page.emulateMedia({ media: 'print', colorScheme: dark ? 'dark' : 'light' });
    for (const name of ['.top', '.toolbar', '.paging a', '.heading .actions', 'td.select']) {
      assert.is(await page.locator(name).first().isVisible(), false, name);
    }
    assert.is(await overflow(page), 0);
    const cut = await page.evaluate<number>(
      `[...document.querySelectorAll('td, th')].filter((cell) =>
         cell.scrollWidth > cell.clientWidth + 1 ||
         cell.getBoundingClientRect().right > innerWidth).length`,
    );
    assert.is(cut, 0, 'no cell is cut');
    const price = await page.locator('button.value').first().boundingBox();
    assert.ok((price?.height ?? 99) < 40, 'no price is broken');
    const colour = 'getComputedStyle(document.querySelector("tbody td:last-child")).color';
    assert.is(await page.evaluate(colour), 'rgb(0, 0, 0)');
    assert.is(
      await page.evaluate('getComputedStyle(document.body).backgroundColor'),
      'rgb(255, 255, 255)',
    );
    await shoot(page, `print-${dark}`, false);
    await end(page);
  }
});

testInBrowser('paper has every option of an SPU with many of them', async () => {
  const { server, at, visit } = scene();
  const spu = await read(server, '/admin/goods/1/');
  const { id } = await make(server, '/admin/specs/', { name: 'Pattern', spu_id: spu.id });
  const body = Array.from({ length: 150 }, (_, nth) => ({ value: `Pattern ${nth}`, spec_id: id }));
  assert.is((await send(server, 'POST', '/admin/options/bulk/', { body })).status, 201);
  const { page } = await visit('editor');
  await page.goto(at('/goods/1'));
  const options = page.locator('.chips').last();
  await options.getByRole('button', { name: 'Pattern 149', exact: true }).waitFor();
  const hidden = () => options.evaluate((it) => it.scrollHeight - it.clientHeight);
  assert.ok((await hidden()) > 0, 'a window scrolls them');
  await page.emulateMedia({ media: 'print' });
  assert.is(await hidden(), 0);
});

testInBrowser('the German screen of an SPU fits into a narrow window', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor', { width: 320, options: { locale: 'de-DE' } });
  await page.goto(at('/goods/1'));
  await page.getByRole('button', { name: 'Merkmal hinzufügen' }).waitFor();
  assert.is(await overflow(page), 0);
});

testInBrowser('the German screen of an SPU can be used with text of twice the size', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor', { width: 360, options: { locale: 'de-DE' } });
  await page.goto(at('/goods/1'));
  await page.getByRole('button', { name: 'Merkmal hinzufügen' }).waitFor();
  await page.evaluate(`document.documentElement.style.fontSize = '200%'`);
  assert.is(await overflow(page), 0);
  for (const input of await page.locator('.joined input').all()) {
    assert.ok(((await input.boundingBox())?.width ?? 0) > 200, 'a field has room for a word');
  }
  for (const help of await page.locator('.facts .help').all()) {
    assert.ok(((await help.boundingBox())?.width ?? 0) > 200, 'a line has several words');
  }
});

testInBrowser('a narrow preview of a bulk edit has both values below a long name', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor', { width: 320 });
  const { page } = visitor;
  const body = ['Long', 'Wide'].map((word) => ({ name: word.repeat(50) }));
  assert.is((await send(server, 'POST', '/admin/brands/bulk/', { body })).status, 201);
  await page.goto(at('/brands?sortby=id&order=desc&per_page=2'));
  await page.getByLabel('Select all on this page').check();
  await page.getByRole('button', { name: 'Edit…' }).click();
  await page.getByLabel('What to do').selectOption({ label: 'First letter: set' });
  await page.getByLabel('First letter').fill('L');
  await page.getByRole('button', { name: 'Show what changes' }).click();
  const table = page.getByRole('region', { name: 'Changes' });
  const name = await table.getByRole('rowheader').first().boundingBox();
  const values = table.getByRole('cell');
  const [before, after] = [await values.nth(0).boundingBox(), await values.nth(1).boundingBox()];
  assert.ok(name !== null && before !== null && after !== null);
  assert.ok(name.width > 200, 'a name has room for words');
  assert.ok(before.y >= name.y + name.height && after.y === before.y, 'both are below it');
  assert.is(await table.evaluate((it) => it.scrollWidth - it.clientWidth), 0, 'both are in sight');
  assert.equal(await violationsOn(page), []);
  assert.equal(faults(visitor), []);
});

testInBrowser('hundreds of options leave the field that adds one in sight', async () => {
  const { server, at, visit } = scene();
  const spec = await make(server, '/admin/specs/', { name: 'Shade', spu_id: 2 });
  const body = Array.from({ length: 300 }, (_, nth) => ({
    value: `Shade ${nth}`,
    spec_id: spec.id,
  }));
  assert.is((await send(server, 'POST', '/admin/options/bulk/', { body })).status, 201);
  for (const width of [1000, 320]) {
    const visitor = await visit('editor', { width });
    const { page } = visitor;
    await page.goto(at('/goods/2'));
    const row = page.locator('.spec-list > li').filter({ hasText: 'Shade 299' });
    await row.waitFor();
    assert.ok(((await row.boundingBox())?.height ?? 9999) < 600, 'it fits into a window');
    await row.getByText('Shade 299').scrollIntoViewIfNeeded();
    assert.equal(await violationsOn(page), []);
    assert.is(await overflow(page), 0);
    assert.equal(faults(visitor), []);
    await shoot(page, `options-${width}`, false);
    await end(page);
  }
});

/** Words of a title that are broken, which so have a part in each of two lines; it runs in the browser. */
const BROKEN = `(() => {
  const title = document.querySelector('dialog[open] h2');
  const text = title.firstChild;
  return [...text.nodeValue.matchAll(/\\S+/g)].filter(({ 0: word, index }) => {
    const range = document.createRange();
    range.setStart(text, index);
    range.setEnd(text, index + word.length);
    return range.getClientRects().length > 1;
  }).map(([word]) => word);
})()`;

testInBrowser('the titles of dialogs break no word in text of twice the size', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor', { width: 360, options: { locale: 'de-DE' } });
  await page.goto(at('/skus'));
  await page.evaluate(`document.documentElement.style.fontSize = '200%'`);
  await page.getByLabel('Alle auf dieser Seite auswählen').check();
  for (const button of ['Spalten', 'Bearbeiten …', 'Löschen …']) {
    await page.getByRole('button', { name: button, exact: true }).click();
    await page.locator('dialog[open] h2').waitFor();
    assert.equal(await page.evaluate(BROKEN), [], button);
    await page.keyboard.press('Escape');
    await page.locator('dialog[open]').waitFor({ state: 'detached' });
  }
  await page.getByRole('link', { name: 'Neu', exact: true }).click();
  await page.getByLabel('Untertitel').fill('x');
  await page.getByRole('link', { name: 'Zurück zur Liste' }).click();
  await page.getByRole('alertdialog', { name: 'Ohne Speichern verlassen?' }).waitFor();
  assert.equal(await page.evaluate(BROKEN), []);
  assert.is(await overflow(page), 0);
});

const HEBREW = 'טלפון';

/** Where the two words of a text begin on the screen; it runs in the browser. */
const BEGINNINGS = `(selector) => {
  const element = [...document.querySelectorAll(selector)].find((each) =>
    each.textContent.includes('${HEBREW}'));
  const text = document.createTreeWalker(element, NodeFilter.SHOW_TEXT).nextNode();
  return ['${HEBREW}', 'GB'].map((word) => {
    const range = document.createRange();
    range.setStart(text, text.nodeValue.indexOf(word));
    range.setEnd(text, text.nodeValue.indexOf(word) + word.length);
    return range.getBoundingClientRect().left;
  });
}`;

testInBrowser('a Hebrew name is read from the right, also if it ends in Latin', async () => {
  const { server, at, visit } = scene();
  const { page } = await visit('admin');
  const name = `${HEBREW} 128 GB`;
  const { id: spec } = await make(server, '/admin/specs/', { name, spu_id: 2 });
  await make(server, '/admin/options/', { value: name, spec_id: spec });
  const { id } = await make(server, '/admin/brands/', { name });
  const description = `<h3>${name}</h3><blockquote>${name}</blockquote>`;
  await send(server, 'PATCH', '/admin/goods/2/', { body: { desc_detail: description } });
  const [{ id: sku }] = await read(server, '/admin/skus/?spu_id=2');
  for (const [path, selector] of [
    ['/brands', 'tbody th'],
    ['/goods/2', '.spec-name a'],
    ['/goods/2', '.chips button'],
    ['/goods/2', '.surface h3'],
    ['/goods/2', '.surface blockquote'],
    [`/skus/${sku}`, '.specs label'],
    ['/', '.changes a'],
    ['/audits', '.entry-head strong'],
    [`/brands/${id}`, 'h1'],
  ] as const) {
    await page.goto(at(path));
    await page.locator(selector).filter({ hasText: HEBREW }).first().waitFor();
    const [hebrew = Number.NaN, latin = Number.NaN] = await page.evaluate<number[]>(
      `(${BEGINNINGS})(${JSON.stringify(selector)})`,
    );
    assert.ok(latin < hebrew, `${path}: ${latin} is left of ${hebrew}`);
  }
  await page.getByRole('button', { name: 'Delete' }).click();
  for (const selector of ['dialog h2', '.notice p']) {
    if (selector === '.notice p') {
      await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    }
    await page.locator(selector).filter({ hasText: HEBREW }).waitFor();
    const [hebrew = Number.NaN, latin = Number.NaN] = await page.evaluate<number[]>(
      `(${BEGINNINGS})(${JSON.stringify(selector)})`,
    );
    assert.ok(latin < hebrew, `${selector}: ${latin} is left of ${hebrew}`);
  }
  await page.goto(at('/brands/1'));
  await page.getByLabel('Name').waitFor();
  const direction = "getComputedStyle(document.querySelector('#field-name')).unicodeBidi";
  assert.is(await page.evaluate(direction), 'plaintext');
});

testInBrowser('the German navigation breaks no word', async () => {
  const { at, visit } = scene();
  for (const width of [960, 1280]) {
    const { page } = await visit('admin', { width, options: { locale: 'de-DE' } });
    await page.goto(at('/audits'));
    const link = page.getByRole('link', { name: 'Änderungsprotokoll' });
    await link.waitFor();
    const { height = 99 } = (await link.boundingBox()) ?? {};
    assert.ok(height < 40, `${height} pixels high`);
    await shoot(page, `german-navigation-${width}`, false);
    await end(page);
  }
});

testInBrowser('a list without items offers an import only if there is one', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  const headers = { 'x-total-count': '0' };
  const none = { status: 200, contentType: 'application/json', headers, body: '[]' };
  await page.route(/\/(?:books|brands)\/\?/, (route) => route.fulfill(none));
  await page.goto(at('/books'));
  await page.getByText('Create the first one with “New”.', { exact: true }).waitFor();
  await page.goto(at('/brands'));
  await page.getByText('Create the first one with “New”, or import a file.').waitFor();
});

testInBrowser('a choice of columns keeps those that another tab has made since', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  const other = await page.context().newPage();
  const session = await page
    .goto(at('/brands'))
    .then(() => page.evaluate<string>("sessionStorage.getItem('catalog.session')"));
  await prepare(other, `sessionStorage.setItem('catalog.session', ${JSON.stringify(session)})`);
  await other.goto(at('/skus'));
  for (const [tab, column] of [
    [other, 'Cost price'],
    [page, 'Logo'],
  ] as const) {
    await tab.getByRole('button', { name: 'Columns' }).click();
    await tab.getByLabel(column).click();
    await tab.getByRole('button', { name: 'Done' }).click();
  }
  await page.getByRole('columnheader', { name: 'Logo' }).waitFor({ state: 'detached' });
  await other.reload();
  await other.getByRole('columnheader', { name: 'Cost price' }).waitFor();
});

testInBrowser('the title of the window follows the language', async () => {
  const { at, visit } = scene();
  const { page } = await visit('admin');
  for (const [path, english, german] of [
    ['/skus', 'SKUs – Catalog', 'SKUs – Katalog'],
    ['/import', 'Import – Catalog', 'Import – Katalog'],
    ['/audits', 'Audit trail – Catalog', 'Änderungsprotokoll – Katalog'],
    ['/accounts', 'Accounts – Catalog', 'Konten – Katalog'],
  ] as const) {
    await page.goto(at(path));
    await until(english, async () => (await page.title()) === english);
    await page.getByRole('button', { name: 'Deutsch' }).click();
    await until(german, async () => (await page.title()) === german);
    await page.getByRole('button', { name: 'English' }).click();
  }
});

testInBrowser('the menu of a narrow window closes with a link to the same screen', async () => {
  const { at, visit } = scene();
  const visitor = await visit('viewer', { width: 360 });
  const { page } = visitor;
  await page.goto(at('/skus?q=kettle'));
  await page.getByText('1–3 of 3').waitFor();
  const menu = page.getByRole('button', { name: 'Menu' });
  await menu.press('Enter');
  await page.getByRole('link', { name: 'SKUs', exact: true }).press('Enter');
  await page.getByText('1–20 of 36').waitFor();
  assert.is(await menu.getAttribute('aria-expanded'), 'false');
  await focused(page, '#content');
  assert.equal(faults(visitor), []);
});

testInBrowser('the question before a deletion is not bold as a whole', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/brands'));
  await page
    .getByRole('checkbox', { name: /^Select / })
    .nth(1)
    .check();
  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.getByText('They are deleted one after the other.').waitFor();
  const weight = 'getComputedStyle(document.querySelector("dialog p")).fontWeight';
  assert.is(await page.evaluate(weight), '400');
});

test.run();
