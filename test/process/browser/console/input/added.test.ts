/** Options and specifications beside a form: what is typed for them is not lost (spec 13.5). */
import type { Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { read } from '../../../../support/catalog.ts';
import type { TestServer } from '../../../../support/server.ts';
import { shoot, testInBrowser, violationsOn } from '../../browser.ts';
import { focused, hears, hold, show, stage } from '../console.ts';

const scene = stage();

const NOT_ADDED = 'This is not added yet. Press “Add”, or delete the text.';

/** Tries to leave the screen, and stays. */
async function triesToLeave(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Books', exact: true }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Stay' }).click();
}

/**
 * Holds the next new option back.
 *
 * @returns lets the server add it, and drops the response.
 */
async function holdAndLose(page: Page): Promise<() => void> {
  const held = Promise.withResolvers<void>();
  await page.route(
    '**/admin/options/',
    async (route) => {
      await held.promise;
      await route.fetch();
      await route.abort();
    },
    { times: 1 },
  );
  return held.resolve;
}

testInBrowser(
  'an option that is typed in the form of a SKU and not added is neither saved over nor left',
  async () => {
    const { server, at, visit } = scene();
    const { page } = await visit('editor');
    await page.goto(at('/skus/3'));
    const before = await read(server, '/admin/skus/3/');
    const specs = page.getByRole('group', { name: 'Specifications' });
    const storage = specs.getByLabel('Storage', { exact: true });
    // Past the last choice, where the arrow keys lead to as well.
    for (let press = 0; press < 4; press += 1) await storage.press('ArrowDown');
    assert.is(await storage.locator('option:checked').textContent(), '256 GB');
    await specs.getByRole('button', { name: 'Add another…' }).last().press('Enter');
    await focused(page, '[aria-label="New option of Storage"]');
    const option = page.getByLabel('New option of Storage');
    await option.fill('2 TB');
    await triesToLeave(page);
    await page.getByRole('button', { name: 'Save' }).click();
    await hears(page, 'alert', 'Some values are not right yet. Nothing was saved.');
    await hears(page, 'alert', NOT_ADDED);
    await focused(page, '[aria-label="New option of Storage"]');
    await shoot(page, 'not-added', false);
    assert.equal(await violationsOn(page), []);
    assert.equal(await read(server, '/admin/skus/3/'), before);
    await specs.getByRole('button', { name: 'Add', exact: true }).click();
    await option.waitFor({ state: 'hidden' });
    assert.ok(await storage.evaluate((select) => select.matches(':focus')));
    await page.getByRole('button', { name: 'Save' }).click();
    await hears(page, 'status', 'is saved');
    const records = await read(server, '/admin/skus/3/');
    assert.is.not(JSON.stringify(records.specs), JSON.stringify(before.specs));
  },
);

testInBrowser(
  'options and specifications that are typed for an SPU and not added are not lost',
  async () => {
    const { at, visit } = scene();
    const { page } = await visit('editor');
    await page.goto(at('/goods/1'));
    for (const label of ['New option of Storage', 'New specification']) {
      await page.getByLabel(label).fill('Typed');
      await triesToLeave(page);
      await page.getByText('This is not added yet.').waitFor();
      await page.keyboard.press('Control+s');
      await hears(page, 'alert', 'Some values are not right yet. Nothing was saved.');
      await focused(page, `[aria-label="${label}"]`);
      await page.getByLabel(label).fill('');
      await page.getByText('This is not added yet.').waitFor({ state: 'hidden' });
    }
    await page.getByRole('link', { name: 'Books', exact: true }).click();
    await page.getByRole('table', { name: 'Books' }).waitFor();
  },
);

testInBrowser('after a specification is added, its options are typed', async () => {
  const { server, at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/goods/2'));
  await page.getByLabel('New specification').fill('Farbe');
  await page.keyboard.press('Enter');
  await focused(page, '[aria-label="New option of Farbe"]');
  for (const option of ['Rot', 'Blau']) {
    await page.keyboard.type(option);
    await page.keyboard.press('Enter');
    await hears(page, 'status', `${option} is saved.`);
  }
  const specs = await read(server, '/admin/goods/2/specs/');
  const { id } = specs.find(({ name }: { name: string }) => name === 'Farbe');
  const options = await read(server, `/admin/options/?spec_id=${id}`);
  assert.equal(options.map(({ value }: { value: string }) => value).sort(), ['Blau', 'Rot']);
  assert.is(await page.getByLabel('New specification').inputValue(), '');
});

/** The options of the specification "Storage" of SPU 1, in the order in which they were added. */
async function storages(server: TestServer): Promise<string[]> {
  const specs = await read(server, '/admin/goods/1/specs/');
  const { id } = specs.find(({ name }: { name: string }) => name === 'Storage');
  const options = await read(server, `/admin/options/?spec_id=${id}`);
  return options.map(({ value }: { value: string }) => value);
}

testInBrowser(
  'options that are entered while another one is added are added after it',
  async () => {
    const { server, at, visit } = scene();
    const { page } = await visit('editor');
    await page.goto(at('/goods/1'));
    const option = page.getByLabel('New option of Storage');
    await option.waitFor();
    const release = await hold(page, '**/admin/options/', 'POST');
    for (const value of ['12 TB', '13 TB', '14 TB']) {
      await option.pressSequentially(value);
      await option.press('Enter');
      assert.is(await option.inputValue(), '');
    }
    await triesToLeave(page);
    release();
    await hears(page, 'status', '14 TB is saved.');
    assert.equal((await storages(server)).slice(-3), ['12 TB', '13 TB', '14 TB']);
  },
);

testInBrowser('what is there already is not added again', async () => {
  const { server, at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/goods/1'));
  const before = await storages(server);
  const [known = ''] = before;
  const option = page.getByLabel('New option of Storage');
  await option.fill(` ${known} `);
  await option.press('Enter');
  await hears(page, 'alert', `“${known}” is there already.`);
  assert.is(await option.getAttribute('aria-invalid'), 'true');
  await shoot(page, 'repeated', false);
  assert.equal(await violationsOn(page), []);
  const release = await hold(page, '**/admin/options/', 'POST');
  for (let time = 0; time < 2; time += 1) {
    await option.fill('Entered twice');
    await option.press('Enter');
  }
  await hears(page, 'alert', '“Entered twice” is there already.');
  release();
  await hears(page, 'status', 'Entered twice is saved.');
  await page.getByLabel('New specification').fill('Storage');
  await page.getByRole('button', { name: 'Add specification' }).click();
  await hears(page, 'alert', '“Storage” is there already.');
  await page.goto(at('/skus/3'));
  await page.getByRole('button', { name: 'Add another…' }).last().click();
  await page.getByLabel('New option of Storage').fill('Entered twice');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await hears(page, 'alert', '“Entered twice” is there already.');
  assert.equal(await storages(server), [...before, 'Entered twice']);
  const specs = await read(server, '/admin/goods/1/specs/');
  assert.is(specs.filter(({ name }: { name: string }) => name === 'Storage').length, 1);
});

testInBrowser('what is added is not added again before the list has it', async () => {
  const { server, at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/goods/9'));
  const spec = page.getByLabel('New specification');
  const option = page.getByLabel(/^New option of /).first();
  for (const [field, path, text] of [
    [option, '**/admin/options/?*', 'Answered and not read'],
    [spec, '**/admin/goods/9/specs/?*', 'Answered and not read'],
  ] as const) {
    await field.waitFor();
    const release = await hold(page, path);
    await field.fill(text);
    await field.press('Enter');
    await hears(page, 'status', `${text} is saved.`);
    await field.fill(text);
    await field.press('Enter');
    await hears(page, 'alert', `“${text}” is there already.`);
    // It may be added again once it was removed.
    await field.fill('');
    release();
    const remove = page.getByRole('button', { name: `Remove ${text}` });
    await remove.click();
    await remove.waitFor({ state: 'detached' });
    await field.fill(text);
    await field.press('Enter');
    await remove.waitFor();
    await remove.click();
    await remove.waitFor({ state: 'detached' });
  }
  const found = async (path: string) => (await read(server, path)).length;
  assert.is(await found('/admin/options/?q=Answered'), 0);
  assert.is(await found('/admin/specs/?q=Answered'), 0);
});

testInBrowser('what is entered again can be sent if the first request fails', async () => {
  const { server, at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/goods/1'));
  const option = page.getByLabel('New option of Storage');
  await option.waitFor();
  const before = await storages(server);
  const lose = await holdAndLose(page);
  for (let time = 0; time < 2; time += 1) {
    await option.fill('10 TB');
    await option.press('Enter');
  }
  const repeated = page.getByText('“10 TB” is there already.');
  await repeated.waitFor();
  lose();
  await hears(page, 'alert', 'The server does not answer.');
  await repeated.waitFor({ state: 'detached' });
  assert.is(await option.inputValue(), '10 TB');
  await option.press('Enter');
  await hears(page, 'status', '10 TB is saved.');
  assert.equal(await storages(server), [...before, '10 TB']);
});

testInBrowser('a list shows options that are added after it was opened', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/goods/5'));
  const option = page.getByLabel(/^New option of /).first();
  await option.waitFor();
  const release = await hold(page, '**/admin/options/', 'POST');
  for (const value of ['Waits first', 'Waits last']) {
    await option.fill(value);
    await option.press('Enter');
  }
  const list = page.waitForResponse(/\/admin\/options\/\?/);
  await show(page, '/options?q=waits');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Leave' }).click();
  await (await list).finished();
  await page.getByText('Nothing matches').waitFor();
  release();
  for (const value of ['Waits first', 'Waits last']) {
    await page.getByRole('link', { name: value }).waitFor();
  }
});

testInBrowser('an option that is added to an SPU does not read its SKUs again', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/goods/8'));
  const option = page.getByLabel(/^New option of /).first();
  await option.fill('Read alone');
  const reads: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'GET') reads.push(new URL(request.url()).pathname);
  });
  await option.press('Enter');
  await page.getByRole('button', { name: 'Remove Read alone' }).waitFor();
  assert.ok(reads.includes('/admin/options/'));
  assert.not(reads.includes('/admin/skus/'));
});

testInBrowser('an option that is typed for a SKU while another is added is not lost', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/skus/3'));
  const specs = page.getByRole('group', { name: 'Specifications' });
  const chosen = specs.getByLabel('Storage', { exact: true }).locator('option:checked');
  await specs.getByRole('button', { name: 'Add another…' }).last().click();
  const option = page.getByLabel('New option of Storage');
  const release = await hold(page, '**/admin/options/', 'POST');
  await option.fill('5 TB');
  await option.press('Enter');
  await option.pressSequentially('7 TB');
  release();
  await chosen.filter({ hasText: '5 TB' }).waitFor({ state: 'attached' });
  assert.ok(await option.isVisible());
  assert.is(await option.inputValue(), '7 TB');
  await option.press('Enter');
  await chosen.filter({ hasText: '7 TB' }).waitFor({ state: 'attached' });
  await option.waitFor({ state: 'detached' });
});

testInBrowser('an option that is not added while another is typed is added again', async () => {
  const { server, at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/goods/1'));
  const option = page.getByLabel('New option of Storage');
  await option.waitFor();
  const lose = await holdAndLose(page);
  await option.fill('8 TB');
  await option.press('Enter');
  await option.pressSequentially('9 TB');
  lose();
  await hears(page, 'alert', 'New option of Storage: Value 8 TB is not saved.');
  assert.is(await option.inputValue(), '9 TB');
  await page.getByRole('button', { name: 'Try again' }).click();
  await hears(page, 'status', '8 TB is saved.');
  await option.press('Enter');
  await hears(page, 'status', '9 TB is saved.');
  assert.equal((await storages(server)).slice(-2), ['8 TB', '9 TB']);
});

for (const path of ['/goods/6', '/skus/20']) {
  testInBrowser(`a save of ${path} waits for an option that is being added`, async () => {
    const { server, at, visit } = scene();
    const { page } = await visit('editor');
    await page.goto(at(path));
    await page.getByLabel('Name', { exact: true }).fill('Saved with its option');
    const more = page.getByRole('button', { name: 'Add another…' }).first();
    if (path.startsWith('/skus')) await more.click();
    const option = page.getByLabel(/^New option of /).first();
    const release = await hold(page, '**/admin/options/', 'POST');
    await option.fill(`Waited for by ${path}`);
    await option.press('Enter');
    await page.keyboard.press('Control+s');
    await page.getByText('Saving…').waitFor();
    release();
    await hears(page, 'status', 'Saved with its option is saved.');
    assert.is(await page.getByText('Some values are not right yet').count(), 0);
    const { name, specs } = await read(server, `/admin${path}/`);
    assert.is(name, 'Saved with its option');
    const [{ id }] = await read(server, '/admin/options/?q=waited&sortby=id&order=desc');
    if (specs) assert.ok(specs.some((each: { option_id: number }) => each.option_id === id));
  });
}

testInBrowser('a specification that is begun meanwhile keeps the focus', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/goods/3'));
  await page.getByLabel('New specification').waitFor();
  const release = await hold(page, '**/admin/goods/3/specs/*');
  await page.getByLabel('New specification').fill('Form');
  await page.keyboard.press('Enter');
  await hears(page, 'status', 'Form is saved.');
  await page.keyboard.type('G');
  release();
  await page.getByLabel('New option of Form').waitFor();
  assert.is(await page.getByLabel('New specification').inputValue(), 'G');
  assert.ok(
    await page.getByLabel('New specification').evaluate((field) => field.matches(':focus')),
  );
});

testInBrowser('specifications that are entered one after the other keep the focus', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/goods/4'));
  const spec = page.getByLabel('New specification');
  await spec.waitFor();
  const held = Promise.withResolvers<void>();
  await page.route('**/admin/specs/', async (route) => {
    if (route.request().postData()?.includes('Grade') === true) await held.promise;
    await route.continue();
  });
  for (const name of ['Form', 'Grade']) {
    await spec.fill(name);
    await spec.press('Enter');
  }
  await page.getByLabel('New option of Form').waitFor();
  assert.ok(await spec.evaluate((field) => field.matches(':focus')));
  held.resolve();
  await focused(page, '[aria-label="New option of Grade"]');
});

testInBrowser('in a narrow column the buttons that add keep their text in one line', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor', { width: 320 });
  await page.goto(at('/goods/1'));
  const button = page.getByRole('button', { name: 'Add specification' });
  await button.waitFor();
  const { height = 99 } = (await button.boundingBox()) ?? {};
  assert.ok(height < 40, `${height} pixels high`);
  await shoot(page, 'add-specification-320');
});

testInBrowser('an option is said not to be added only once it was refused', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/goods/1'));
  const held = Promise.withResolvers<void>();
  await page.route('**/admin/options/', async (route) => {
    await held.promise;
    await route.abort();
  });
  await page.getByLabel('New option of Storage').fill('6 TB');
  const sent = page.waitForRequest('**/admin/options/');
  await page.getByLabel('New option of Storage').press('Enter');
  await sent;
  await page.getByRole('button', { name: 'Preview' }).focus();
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
  assert.is(await page.getByText('This is not added yet.').count(), 0);
  held.resolve();
  await page.getByText('This is not added yet.').waitFor();
  await page.unroute('**/admin/options/');
  await page.getByLabel('New option of Storage').press('Enter');
  await hears(page, 'status', '6 TB is saved.');
});

test.run();
