/** Keys that are pressed while the console is at work: none is lost. */
import type { Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { make, read } from '../../../../support/catalog.ts';
import { testInBrowser } from '../../browser.ts';
import { setClock } from '../../visits.ts';
import { faults, hears, hold, stage } from '../console.ts';

const scene = stage();

testInBrowser('a search keeps a key that is pressed when the pause before it ends', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await setClock(page, { time: 0 });
  await page.goto(at('/skus'));
  await page.getByText('1–20 of 36').waitFor();
  await page.clock.pauseAt(1_000_000);
  const search = page.getByLabel('Search');
  const text = 'matt black, 0.8 lit';
  // One of the pauses ends between a key and the paint that follows it.
  for (let count = 0; count < text.length; count += 1) {
    await search.pressSequentially(text.charAt(count));
    await page.clock.runFor(193 + count);
  }
  assert.is(await search.inputValue(), text);
  await page.clock.runFor(1000);
  await page.getByText('1–1 of 1').waitFor();
  assert.is(await search.inputValue(), text);
  assert.equal(faults(visitor), []);
});

testInBrowser('a search that is cleared at once does not come back', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await setClock(page, { time: 0 });
  await page.goto(at('/skus?q=kettl'));
  await page.getByText('1–3 of 3').waitFor();
  await page.clock.pauseAt(1_000_000);
  await page.getByLabel('Search').press('End');
  await page.getByLabel('Search').press('e');
  await page.clock.runFor(100);
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.clock.runFor(1000);
  await page.getByText('1–20 of 36').waitFor();
  assert.is(await page.getByLabel('Search').inputValue(), '');
  assert.equal(faults(visitor), []);
});

testInBrowser('a list that arrives leaves what is typed into a filter', async () => {
  const { at, visit } = scene();
  const visitor = await visit('admin');
  const { page } = visitor;
  for (const [path, request, shown, field, text] of [
    ['/skus?price_min=1', '**/admin/skus/?*', '1–20 of 36', 'Stock from', '12'],
    ['/audits', '**/admin/audits/?*', 'No entries.', 'Who', 'ann'],
  ] as const) {
    await page.goto(at('/'));
    const release = await hold(page, request);
    await page.goto(at(path));
    await page.getByLabel(field).pressSequentially(text);
    release();
    await page.getByText(shown).waitFor();
    assert.is(await page.getByLabel(field).inputValue(), text);
    await page.getByLabel(field).press('Enter');
    await page.waitForURL(new RegExp(`=${text}`));
    await page.unroute(request);
  }
  assert.equal(faults(visitor), []);
});

testInBrowser('a date that is typed into a filter of the audit trail counts once', async () => {
  const { at, visit } = scene();
  const { page } = await visit('admin', { options: { locale: 'en-US' } });
  await page.goto(at('/audits'));
  await page.getByText('No entries.').waitFor();
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  const before = await page.evaluate<number>('history.length');
  await page.getByLabel('From').focus();
  const asked = page.waitForRequest(/\/admin\/audits\/\?.*since=/);
  await page.keyboard.type('11262026', { delay: 20 });
  await page.waitForURL(/since=2026-11-26/);
  // The trail is read after the frame that shows the new address.
  await asked;
  assert.is(await page.evaluate<number>('history.length'), before + 1);
  assert.is(requests.filter((each) => each.includes('/admin/audits/?')).length, 1);
});

testInBrowser('an option that is typed while the one before is added is not lost', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/goods/1'));
  const field = page.getByLabel('New option of Storage');
  await field.waitFor();
  const release = await hold(page, '**/admin/options/');
  await field.pressSequentially('5 TB');
  await field.press('Enter');
  await field.pressSequentially('6 TB');
  release();
  await page.getByRole('button', { name: '5 TB', exact: true }).waitFor();
  assert.is(await field.inputValue(), '6 TB');
  await field.press('Enter');
  await page.getByRole('button', { name: '6 TB', exact: true }).waitFor();
  assert.is(await field.inputValue(), '');
  assert.equal(faults(visitor), []);
});

/**
 * Composes a text in the field that has the focus, and presses a key.
 *
 * @param rest of the event; if it is left out, the input method takes the key.
 */
async function compose(
  page: Page,
  text: string,
  key: string,
  rest: { readonly modifiers?: number; readonly windowsVirtualKeyCode: number } = {
    windowsVirtualKeyCode: 229,
  },
): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  const at = { selectionStart: text.length, selectionEnd: text.length };
  await devtools.send('Input.imeSetComposition', { text, ...at });
  await devtools.send('Input.dispatchKeyEvent', {
    type: 'rawKeyDown',
    key,
    ...rest,
  });
  await devtools.detach();
}

testInBrowser('a form is saved by its key while an input method composes text', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/brands/2'));
  await page.getByLabel('Name', { exact: true }).fill('');
  await compose(page, '한', 's', { modifiers: 2, windowsVirtualKeyCode: 83 });
  await hears(page, 'status', '한 is saved.');
  assert.equal(faults(visitor), []);
});

testInBrowser('keys that an input method takes do nothing else', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const writes: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST') writes.push(request.url());
  });
  await page.goto(at('/goods/1'));
  await page.getByLabel('New option of Storage').focus();
  await compose(page, 'gin', 'Enter');
  const brand = page.getByRole('combobox', { name: 'Brand' });
  const before = await brand.inputValue();
  await brand.fill('');
  await compose(page, 'Brüsh', 'ArrowDown');
  await page.getByRole('option', { name: 'Brüsholt' }).waitFor();
  const marked = page.locator('[role=option].marked');
  assert.is(await marked.innerText(), 'Brüsholt');
  await compose(page, 'Brüsh', 'Enter');
  assert.is(await brand.inputValue(), 'Brüsh');
  await compose(page, 'Brüsh', 'Escape');
  assert.is(await brand.inputValue(), 'Brüsh');
  // Enter is the key of the picker again when the text is there.
  await page.keyboard.insertText('Brüsholt');
  await marked.waitFor();
  await brand.press('Enter');
  assert.is(await brand.inputValue(), 'Brüsholt');
  assert.is.not(await brand.inputValue(), before);
  assert.equal(writes, []);
  assert.equal(faults(visitor), []);
});

testInBrowser('white space before and after a line is not saved', async () => {
  const { server, at, visit } = scene();
  const { page } = await visit('editor');
  const { id } = await make(server, '/admin/brands/', { name: ' Spaced ' });
  const name = page.getByLabel('Name', { exact: true });
  const unsaved = page.getByText('Unsaved changes');
  const save = async (text: string, saved: string) => {
    await name.fill(text);
    await unsaved.waitFor();
    await page.keyboard.press('Control+s');
    await unsaved.waitFor({ state: 'detached' });
    assert.is(await name.inputValue(), saved);
    assert.is((await read(server, `/admin/brands/${id}/`)).name, saved);
  };
  await page.goto(at(`/brands/${id}`));
  await save('Spaced', 'Spaced');
  await save('\u00a0 Pasted  here ', 'Pasted  here');
  await name.fill(' Pasted  here ');
  // It is no change that the user would be asked about.
  await page.getByRole('link', { name: 'Books', exact: true }).click();
  await page.getByRole('table', { name: 'Books' }).waitFor();
  await page.goto(at('/skus/7'));
  await page.getByLabel('Code').fill(' AB-77 ');
  await page.keyboard.press('Control+s');
  await hears(page, 'status', 'is saved.');
  assert.is((await read(server, '/admin/skus/7/')).code, 'AB-77');
});

test.run();
