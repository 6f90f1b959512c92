/** What is typed outside the main form is not lost without a question (spec 13.5). */
import type { Dialog, Locator, Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { read } from '../../../../support/catalog.ts';
import { testInBrowser } from '../../browser.ts';
import { prepare } from '../../visits.ts';
import { faults, hears, show, stage } from '../console.ts';

const scene = stage();

async function stays(page: Page): Promise<void> {
  await page.getByRole('alertdialog').getByRole('button', { name: 'Stay' }).click();
}

/** Begins a bulk edit of the first SKU. @param list the address of the SKUs. */
async function editOneSku(page: Page, list: string): Promise<void> {
  await page.goto(list);
  await page
    .getByRole('checkbox', { name: /^Select / })
    .nth(1)
    .check();
  await page.getByRole('button', { name: 'Edit…' }).click();
}

testInBrowser('a value of a list that could not be saved is not left unasked', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/skus'));
  const cell = page.getByRole('textbox', { name: 'Stock', exact: true });
  await page.getByRole('row').nth(1).getByTitle('Change').last().click();
  await page.route('**/admin/skus/1/', (route) => route.abort());
  await cell.fill('4321');
  await cell.press('Enter');
  await hears(page, 'alert', 'The server does not answer.');
  for (const leave of [
    () => page.getByRole('link', { name: 'Books', exact: true }).click(),
    () => page.getByRole('link', { name: 'Next', exact: true }).click(),
    () => page.getByRole('button', { name: 'Name' }).click(),
    () => page.getByLabel('Search').fill('kettle'),
  ]) {
    await leave();
    await stays(page);
    assert.is(await cell.inputValue(), '4321');
  }
  assert.is(await page.getByLabel('Search').inputValue(), 'kettle');
  await page.unroute('**/admin/skus/1/');
  await cell.press('Enter');
  await hears(page, 'status', 'Stock is now 4,321.');
  // The search that was typed before is shown now that nothing would be lost.
  await page.waitForURL((url) => url.searchParams.get('q') === 'kettle');
  assert.is((await read(server, '/admin/skus/1/')).stock, 4321);
  await page.getByRole('link', { name: 'Books', exact: true }).click();
  await page.getByRole('table', { name: 'Books' }).waitFor();
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

testInBrowser('a number of a list that is not valid is not left unasked', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/skus'));
  await page.getByRole('row').nth(1).getByTitle('Change').last().click();
  const cell = page.getByRole('textbox', { name: 'Stock', exact: true });
  const edge = async (of: Locator) => {
    const { x = 0, width = 0 } = (await of.boundingBox()) ?? {};
    return x + width;
  };
  const region = page.getByRole('region', { name: 'SKUs' });
  assert.ok((await edge(cell)) <= (await edge(region)), 'the field is in sight as a whole');
  await cell.fill('many');
  await page.getByRole('link', { name: 'Books', exact: true }).click();
  await page.getByRole('alertdialog').waitFor();
  const problem = page.getByText('must be a whole number');
  assert.ok((await edge(problem)) <= (await edge(region)), 'and so is what is wrong');
  await stays(page);
  assert.is(await cell.inputValue(), 'many');
  await cell.press('Escape');
  await page.getByRole('link', { name: 'Books', exact: true }).click();
  await page.getByRole('table', { name: 'Books' }).waitFor();
});

testInBrowser('a number that is typed into a list is saved if Back removes its row', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/skus'));
  await page.getByRole('link', { name: 'Next' }).click();
  await page.getByText('21–36 of 36').waitFor();
  await page.getByRole('row').nth(1).getByTitle('Change').last().click();
  await page.keyboard.type('2121');
  await page.goBack();
  await hears(page, 'status', 'Stock is now 2,121.');
  await page.getByText('1–20 of 36').waitFor();
  assert.is((await read(server, '/admin/skus/21/')).stock, 2121);
  await show(page, '/goods/1');
  await page.locator('.chips button.value').first().click();
  await page.keyboard.type('Renamed by going away');
  await page.goBack();
  await hears(page, 'status', 'Value is now Renamed by going away.');
  assert.equal(faults(visitor), []);
});

testInBrowser('a number that fails after its row was left is not asked for', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const { stock } = await read(server, '/admin/skus/2/');
  await page.goto(at('/skus'));
  await page.getByRole('row').nth(2).getByTitle('Change').last().click();
  const failed = Promise.withResolvers<void>();
  await page.route('**/admin/skus/2/', async (route) => {
    await failed.promise;
    await route.abort();
  });
  await page.keyboard.type('2222');
  await page.getByRole('link', { name: 'Next' }).click();
  await page.getByText('21–36 of 36').waitFor();
  failed.resolve();
  await hears(page, 'alert', 'The server does not answer.');
  await page.getByRole('link', { name: 'Books', exact: true }).click();
  await page.getByRole('table', { name: 'Books' }).waitFor();
  assert.is(await page.getByRole('alertdialog').count(), 0);
  assert.is((await read(server, '/admin/skus/2/')).stock, stock);
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

testInBrowser('a number of a list that Escape has dropped is not asked for', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/skus'));
  await page.getByRole('row').nth(1).getByTitle('Change').last().click();
  const cell = page.getByRole('textbox', { name: 'Stock', exact: true });
  await cell.fill('many');
  await cell.press('Enter');
  await page.getByText('must be a whole number').waitFor();
  // The next key of a quick user comes before the next frame of a slow machine.
  await page.evaluate(`(async () => {
    const field = document.querySelector('td input:focus');
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    await Promise.resolve();
    document.querySelector('a[href$="/console/books"]').click();
  })()`);
  await page.getByRole('table', { name: 'Books' }).waitFor();
  assert.is(await page.getByRole('alertdialog').count(), 0);
});

testInBrowser('Escape closes a dialog with typed values only after a question', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/goods/1'));
  await page.getByLabel('New option of Storage').fill('3 TB');
  await page.getByLabel('New option of Storage').press('Enter');
  const missing = page.getByRole('button', { name: /Create \d missing SKUs/ });
  await missing.click();
  const dialog = page.getByRole('dialog', { name: /missing SKUs/ });
  const price = dialog.getByLabel('Price', { exact: true });
  const question = page.getByRole('alertdialog', { name: 'Leave without saving?' });
  await price.fill('899');
  // Browsers close dialogs after a second Escape whatever the page says.
  for (let count = 0; count < 3; count += 1) {
    await page.keyboard.press('Escape');
    await question.waitFor();
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'hidden' });
    assert.is(await price.inputValue(), '899');
  }
  await dialog.getByRole('button', { name: 'Close' }).click();
  await question.getByRole('button', { name: 'Leave' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await missing.click();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await page.getByLabel('Brand').fill('A new brand');
  await page.getByRole('option', { name: /^Create/ }).click();
  const brand = page.getByRole('dialog', { name: 'New brand' });
  await brand.getByLabel('Name').fill('A new brand with a longer name');
  await page.keyboard.press('Escape');
  await stays(page);
  assert.is(await brand.getByLabel('Name').inputValue(), 'A new brand with a longer name');
  await brand.getByRole('button', { name: 'Cancel' }).click();
  await brand.waitFor({ state: 'hidden' });
});

testInBrowser('a bulk edit and a link that are typed are not dropped unasked', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  await editOneSku(page, at('/skus'));
  await page.getByLabel('What to do').selectOption({ label: 'Price: add per cent' });
  await page.getByLabel('Per cent').fill('5');
  await page.keyboard.press('Escape');
  await stays(page);
  assert.is(await page.getByLabel('Per cent').inputValue(), '5');
  await page.goto(at('/goods/1'));
  await page.getByRole('button', { name: 'Link' }).first().click();
  const address = page.getByRole('dialog').getByLabel('Address');
  await address.fill('https://a.example/a-long-address');
  await page.keyboard.press('Escape');
  await stays(page);
  assert.is(await address.inputValue(), 'https://a.example/a-long-address');
});

testInBrowser('the browser leaves a dialog with typed values only after a question', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  const question = page.getByRole('alertdialog', { name: 'Leave without saving?' });
  const back = () => page.evaluate('history.back()');
  // Another address of the same list, which would leave the dialog open.
  await page.goto(at('/skus'));
  await page.getByRole('link', { name: 'Next', exact: true }).click();
  await page.waitForURL(at('/skus?page=2'));
  await page
    .getByRole('checkbox', { name: /^Select / })
    .nth(1)
    .check();
  await page.getByRole('button', { name: 'Edit…' }).click();
  await page.getByLabel('What to do').selectOption({ label: 'Price: add per cent' });
  await page.getByLabel('Per cent').fill('5');
  await back();
  await stays(page);
  assert.is(await page.getByLabel('Per cent').inputValue(), '5');
  assert.is(page.url(), at('/skus?page=2'));
  const reloads = page.waitForEvent('dialog');
  const reload = page.evaluate('setTimeout(() => location.reload())');
  await (await reloads).dismiss();
  await reload;
  await back();
  await question.getByRole('button', { name: 'Leave' }).click();
  await page.waitForURL(at('/skus'));
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  // Nothing is typed, and nothing is asked.
  await page.goto(at('/goods'));
  await page.getByRole('table').getByRole('link').first().click();
  await page.getByRole('button', { name: 'Link' }).first().click();
  const address = page.getByRole('dialog').getByLabel('Address');
  await address.waitFor();
  await back();
  await page.waitForURL(at('/goods'));
  assert.is(await question.count(), 0);
  // What is typed into the form and into the dialog over it is asked for once.
  await page.getByRole('table').getByRole('link').first().click();
  await page.getByLabel('Name', { exact: true }).fill('Another name');
  await page.getByRole('button', { name: 'Link' }).first().click();
  await address.fill('https://a.example/');
  await back();
  await question.getByRole('button', { name: 'Leave' }).click();
  await page.waitForURL(at('/goods'));
  assert.is(await question.count(), 0);
});

testInBrowser('a bulk edit says in its dialog why it cannot begin', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  await page.route('**/admin/skus/', (route) => route.abort());
  await editOneSku(page, at('/skus'));
  const dialog = page.getByRole('dialog', { name: 'Change 1 item' });
  await dialog.getByRole('alert').filter({ hasText: 'The server does not answer.' }).waitFor();
  assert.is(await dialog.getByText('Loading…').count(), 0);
});

testInBrowser('Back in a bulk edit leads to what was entered', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  await editOneSku(page, at('/skus'));
  await page.getByLabel('What to do').selectOption({ label: 'Price: add per cent' });
  await page.getByLabel('Per cent').fill('7.5');
  await page.getByLabel('Rounding').selectOption({ label: 'to $0.50' });
  await page.getByRole('button', { name: 'Show what changes' }).click();
  await page.getByRole('button', { name: 'Change 1 item' }).waitFor();
  await page.getByRole('button', { name: 'Back' }).click();
  assert.is(await page.getByLabel('Per cent').inputValue(), '7.5');
  assert.is(await page.getByLabel('Rounding').locator(':checked').innerText(), 'to $0.50');
  await page.getByLabel('What to do').selectOption({ label: 'Name: set' });
  await page.getByLabel('Name', { exact: true }).fill('Another name');
  await page.getByRole('button', { name: 'Show what changes' }).click();
  await page.getByRole('button', { name: 'Change 1 item' }).waitFor();
  await page.getByRole('button', { name: 'Back' }).click();
  assert.is(await page.getByLabel('Name', { exact: true }).inputValue(), 'Another name');
});

testInBrowser('what is typed before the first frame of a form is not lost', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await prepare(
    page,
    `
    new MutationObserver((_, observer) => {
      const field = document.querySelector('form.item input');
      if (field === null) return;
      observer.disconnect();
      field.value = 'Typed at once';
      field.dispatchEvent(new InputEvent('input', { bubbles: true }));
      const isKept = Object.keys(sessionStorage).some((key) => key.startsWith('catalog.draft.'));
      const isAsked = !dispatchEvent(new Event('beforeunload', { cancelable: true }));
      console.info(JSON.stringify({ isKept, isAsked }));
    }).observe(document, { childList: true, subtree: true });`,
  );
  const said = page.waitForEvent('console', (message) => message.type() === 'info');
  await page.goto(at('/brands/new'));
  assert.equal(JSON.parse((await said).text()), { isKept: true, isAsked: true });
  assert.equal(faults(visitor), []);
});

testInBrowser('a reload while a number or an option is typed asks first', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  const asks = async () => {
    const asked = page.waitForEvent('dialog');
    const reloading = page.evaluate('setTimeout(() => location.reload())');
    await (await asked).dismiss();
    await reloading;
  };
  await page.goto(at('/skus'));
  await page.getByRole('row').nth(1).getByTitle('Change').last().click();
  const cell = page.getByRole('textbox', { name: 'Stock', exact: true });
  await cell.fill('4712');
  await asks();
  assert.is(await cell.inputValue(), '4712');
  await cell.press('Escape');
  await cell.waitFor({ state: 'detached' });
  // Nothing is typed, and nothing is asked.
  let questions = 0;
  const count = (question: Dialog) => {
    questions += 1;
    void question.accept();
  };
  page.on('dialog', count);
  await page.getByRole('row').nth(1).getByTitle('Change').last().click();
  await page.reload();
  page.off('dialog', count);
  assert.is(questions, 0);
  await page.goto(at('/goods/1'));
  await page.locator('.chips button.value').first().click();
  const option = page.getByRole('textbox', { name: 'Value', exact: true });
  await option.fill('Not yet left');
  await asks();
  assert.is(await option.inputValue(), 'Not yet left');
  await option.press('Escape');
});

test.run();
