/** Questions about what is unsaved: they end with a save, and the answer counts (spec 13.5). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { read } from '../../../../support/catalog.ts';
import { testInBrowser } from '../../browser.ts';
import { faults, hears, hold, show, stage } from '../console.ts';

const scene = stage();

testInBrowser('a form that was saved meanwhile is left without an answer', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const question = page.getByRole('alertdialog', { name: 'Leave without saving?' });
  for (const path of ['/brands/3', '/brands/new']) {
    await page.goto(at('/brands'));
    await show(page, path);
    await page.getByLabel('Name').fill(`Saved at ${path}`);
    const release = await hold(page, '**/admin/brands/**', 'POST', 'PATCH');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saving…').waitFor();
    if (path.endsWith('/new')) await page.goBack();
    else await page.getByRole('link', { name: 'Books', exact: true }).click();
    await question.waitFor();
    release();
    const table = path.endsWith('/new') ? 'Brands' : 'Books';
    await page.getByRole('table', { name: table }).waitFor();
    await hears(page, 'status', `Saved at ${path} is saved.`);
    assert.is(await question.count(), 0);
    await page.unrouteAll();
  }
  assert.equal(faults(visitor), []);
});

testInBrowser('the question stays if more was typed, or if the save is refused', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const question = page.getByRole('alertdialog', { name: 'Leave without saving?' });
  await page.goto(at('/brands/4'));
  await page.getByLabel('Name').fill('Saved while asked');
  const release = await hold(page, '**/admin/brands/4/', 'PATCH');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByLabel('Logo').fill('later.png');
  await page.getByRole('link', { name: 'Books', exact: true }).click();
  await question.waitFor();
  release();
  await hears(page, 'status', 'Saved while asked is saved.');
  await question.getByRole('button', { name: 'Stay' }).click();
  assert.is(await page.getByLabel('Logo').inputValue(), 'later.png');
  assert.is.not((await read(server, '/admin/brands/4/')).logo, 'later.png');
  await page.getByRole('button', { name: 'Discard changes' }).click();
  await page.getByRole('link', { name: 'Books', exact: true }).click();
  await page.getByRole('table', { name: 'Books' }).waitFor();
  assert.equal(faults(visitor), []);
});

testInBrowser('a question about a dialog ends with the dialog that was saved', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/goods'));
  await show(page, '/goods/2');
  const brand = page.getByRole('combobox', { name: 'Brand' });
  await brand.fill('Saved below a question');
  await page.getByRole('option', { name: /Saved below a question/ }).click();
  const release = await hold(page, '**/admin/brands/', 'POST');
  const dialog = page.getByRole('dialog', { name: 'New brand' });
  await dialog.getByLabel('First letter').fill('S');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByText('Saving…').waitFor();
  await page.goBack();
  const question = page.getByRole('alertdialog', { name: 'Leave without saving?' });
  await question.waitFor();
  release();
  await question.waitFor({ state: 'hidden' });
  // The form has the new brand, which is not saved.
  assert.is(await brand.inputValue(), 'Saved below a question');
  await page.getByText('Unsaved changes').waitFor();
  assert.equal(faults(visitor), []);
});

testInBrowser('a list whose value was saved meanwhile is left without an answer', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/skus'));
  await page.getByRole('row').nth(1).getByRole('button', { name: '$' }).first().click();
  const price = page.getByRole('textbox', { name: 'Price' });
  await price.fill('cheap');
  await price.press('Enter');
  await hears(page, 'alert', /./);
  await price.fill('613');
  const release = await hold(page, '**/admin/skus/1/', 'PATCH');
  await price.press('Enter');
  await page.getByText('Saving…').waitFor();
  await page.getByRole('link', { name: 'Books', exact: true }).click();
  await page.getByRole('alertdialog', { name: 'Leave without saving?' }).waitFor();
  release();
  await page.getByRole('table', { name: 'Books' }).waitFor();
  await hears(page, 'status', 'Price is now $613.00.');
  assert.is(await page.getByRole('alertdialog').count(), 0);
  assert.equal(faults(visitor), []);
});

testInBrowser('a question about an import ends when its report is there', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/import'));
  const file = { name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from('name\nImported\n') };
  await page.getByLabel('File').setInputFiles(file);
  await page.getByLabel('Into').selectOption('brands');
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('button', { name: 'Check', exact: true }).click();
  await page.getByText('Nothing is written yet').waitFor();
  const release = await hold(page, '**/admin/brands/imports/**', 'POST');
  await page.getByRole('button', { name: 'Apply 1 change' }).click();
  await page.getByText('Sending the file…').waitFor();
  await page.getByRole('link', { name: 'Books', exact: true }).click();
  const question = page.getByRole('alertdialog', { name: 'Import' });
  await question.waitFor();
  release();
  await page.getByRole('heading', { name: 'Imported' }).waitFor();
  assert.is(await question.count(), 0);
  assert.equal(faults(visitor), []);
});

testInBrowser(
  'a value that could not be saved is not saved once the user has left it',
  async () => {
    const { server, at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    const writes: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'PATCH') writes.push(request.url());
    });
    const leave = async () => {
      // The click takes the focus from the field, which is another attempt.
      const refused = page.waitForEvent('requestfailed');
      await page.getByRole('link', { name: 'Books', exact: true }).click();
      await refused;
      await page.unrouteAll();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Leave' }).click();
      await page.getByRole('table', { name: 'Books' }).waitFor();
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
      await page.getByText('Saving…').waitFor({ state: 'detached' });
    };
    await page.goto(at('/skus'));
    const before = await read(server, '/admin/skus/2/');
    await page.getByRole('row').nth(2).getByRole('button', { name: '$' }).first().click();
    const price = page.getByRole('textbox', { name: 'Price' });
    await price.fill('614');
    await page.route('**/admin/skus/2/', (route) => route.abort());
    await price.press('Enter');
    await hears(page, 'alert', 'The server does not answer.');
    await leave();
    assert.equal(await read(server, '/admin/skus/2/'), before);
    await page.goto(at('/goods/1'));
    await page.getByRole('button', { name: 'Coral', exact: true }).click();
    const option = page.getByRole('textbox', { name: 'Value' });
    await option.fill('Coral reef');
    await page.route('**/admin/options/*/', (route) => route.abort());
    await option.press('Enter');
    await hears(page, 'alert', 'The server does not answer.');
    await leave();
    assert.equal(await read(server, '/admin/options/?q=reef'), []);
    assert.equal(writes, []);
    assert.equal(faults(visitor, [/ERR_FAILED/]), []);
  },
);

test.run();
