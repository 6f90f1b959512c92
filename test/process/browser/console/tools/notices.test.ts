/** Messages about failures, how long and where they are shown; the session of a tab (spec 13.5). */
import type { Locator } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { make, read } from '../../../../support/catalog.ts';
import { sent } from '../../../../support/client.ts';
import { until } from '../../../../support/until.ts';
import { shoot, testInBrowser } from '../../browser.ts';
import { setClock } from '../../visits.ts';
import {
  faults,
  focused,
  hears,
  hold,
  isFocusInSight,
  makeAccount,
  signIn,
  stage,
} from '../console.ts';

const scene = stage();

testInBrowser('a message that the server does not answer ends with its next answer', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/brands/1'));
  await page.getByLabel('Name').fill('Saved at the second attempt');
  await page.route('**/admin/brands/1/', (route) => route.abort());
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'alert', 'The server does not answer.');
  await page.unroute('**/admin/brands/1/');
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'status', 'Saved at the second attempt is saved.');
  assert.is(await page.getByText('The server does not answer.').count(), 0);
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

for (const status of [500, 403]) {
  testInBrowser(`a message about a ${status} ends with the next write`, async () => {
    const { at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    await page.goto(at('/brands/2'));
    await page.getByLabel('Name').fill(`Saved after a ${status}`);
    const body = JSON.stringify({ error: 'a fault' });
    await page.route('**/admin/brands/2/', (route) => route.fulfill({ status, body }));
    await page.getByRole('button', { name: 'Save' }).click();
    const alert = page.locator('.notice.alert');
    await alert.waitFor();
    await page.unroute('**/admin/brands/2/');
    await page.getByRole('button', { name: 'Save' }).click();
    await hears(page, 'status', `Saved after a ${status} is saved.`);
    assert.is(await alert.count(), 0);
    assert.equal(faults(visitor, [/500|403/]), []);
  });
}

testInBrowser('a message about a deleted item ends with its screen, or with a write', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const { id } = await make(server, '/admin/brands/', { name: 'Short-lived', first_letter: 'S' });
  await page.goto(at(`/brands/${id}`));
  await page.getByLabel('Name').fill('Too late');
  await sent(server, 204, 'DELETE', `/admin/brands/${id}/`);
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'alert', 'This item has been deleted meanwhile.');
  await page.getByRole('link', { name: 'Books', exact: true }).click();
  // The question is not another screen.
  const question = page.getByRole('alertdialog');
  await question.waitFor();
  assert.is(await page.locator('.notice.alert').count(), 1);
  await question.getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('table', { name: 'Books' }).waitFor();
  assert.is(await page.locator('.notice.alert').count(), 0);
  const { id: sku } = await make(server, '/admin/skus/', {
    ...(await read(server, '/admin/skus/1/')),
    name: 'Short-lived too',
    specs: [],
    spu_id: 1,
  });
  await page.goto(at('/skus?sortby=id&order=desc'));
  const stock = (row: number) => page.getByRole('row').nth(row).getByTitle('Change').last();
  await stock(1).waitFor();
  await sent(server, 204, 'DELETE', `/admin/skus/${sku}/`);
  await stock(1).click();
  await page.keyboard.type('5');
  await page.keyboard.press('Enter');
  await hears(page, 'alert', 'This item has been deleted meanwhile.');
  // The list is read again, and begins with another SKU.
  await page.getByRole('link', { name: 'Short-lived too' }).waitFor({ state: 'detached' });
  await stock(1).click();
  await page.keyboard.type('4321');
  await page.keyboard.press('Enter');
  await hears(page, 'status', 'Stock is now 4,321.');
  assert.is(await page.locator('.notice.alert').count(), 0);
  assert.equal(faults(visitor, [/404|410/]), []);
});

for (const [width, height] of [
  [320, 640],
  [1280, 700],
] as const) {
  testInBrowser(`messages do not cover the buttons of a form: ${width}x${height}`, async () => {
    const { at, visit } = scene();
    const { page } = await visit('editor');
    await page.setViewportSize({ width, height });
    // The form of a brand is short, that of a SKU is longer than the window.
    for (const path of ['brands/3', 'skus/3']) {
      await page.goto(at(`/${path}`));
      await page.getByLabel('Name').fill('Never saved');
      await page.route(`**/admin/${path}/`, (route) => route.abort());
      await page.getByRole('button', { name: 'Save' }).click();
      await hears(page, 'alert', 'The server does not answer.');
      // It takes its place in the frame after the one in which it appears.
      await until(`${path}: the message is in sight and does not cover the bar`, async () => {
        const message = await page.locator('.notice').boundingBox();
        const bar = await page.locator('.save-bar').boundingBox();
        assert.ok(message !== null && bar !== null);
        const end = message.y + message.height;
        const isBeside = end <= bar.y || message.y >= bar.y + bar.height;
        return isBeside && message.y >= 0 && end <= height;
      });
      await shoot(page, `notice-${width}-${path.replace('/', '-')}`, false);
    }
  });
}

testInBrowser('news leave room for a message about a failure', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/skus'));
  await page.route('**/admin/skus/1/', (route) =>
    route.request().method() === 'PATCH'
      ? route.fulfill({ status: 422, json: { error: 'is refused by the test' } })
      : route.continue(),
  );
  await page.getByTitle('Change').first().click();
  await page.keyboard.type('4711');
  await page.keyboard.press('Enter');
  await hears(page, 'alert', 'is refused by the test');
  for (const row of [1, 2, 3, 4, 5]) {
    const launched = page.getByRole('switch').nth(row);
    const now = (await launched.isChecked()) ? 'No' : 'Yes';
    const name = await page.getByRole('rowheader').nth(row).textContent();
    await launched.click();
    await hears(page, 'status', `${name}: On sale is now ${now}.`);
  }
  await page.getByText('Saving…').waitFor({ state: 'detached' });
  assert.is(await page.locator('.notice').count(), 4);
  assert.is(await page.locator('.notice.alert').count(), 1);
  assert.equal(faults(visitor, [/422/]), []);
});

testInBrowser('messages do not cover what has the focus', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/skus'));
  const stock = (row: number) => page.getByRole('row').nth(row).getByTitle('Change').last();
  for (const value of ['997', '998', '999']) {
    await stock(9).press('Enter');
    await page.keyboard.type(value);
    await page.keyboard.press('Enter');
    await hears(page, 'status', `Stock is now ${value}.`);
    assert.ok(await isFocusInSight(page), `the cell whose stock is ${value}`);
  }
  // The last row is at the end of the page, which cannot be scrolled further without room below it.
  for (const row of [10, 11, 12, 13, 20]) {
    await stock(row).focus();
    assert.ok(await isFocusInSight(page), `row ${row}`);
  }
  // A second message is announced without the first one, which is still shown.
  assert.is(await page.getByRole('status').first().getAttribute('aria-atomic'), 'false');
});

testInBrowser('a session that could not be ended is named where the user signs in', async () => {
  const { server, at, visit } = scene();
  await makeAccount(server, 'fay', 'editor');
  const visitor = await visit(null);
  const { page } = visitor;
  await page.goto(at('/'));
  await signIn(page, 'fay');
  for (const answer of ['none', 500] as const) {
    await page.route('**/admin/tokens/*/', (route) =>
      answer === 'none' ? route.abort() : route.fulfill({ status: answer, body: '{}' }),
    );
    await page.getByRole('link', { name: 'Sign out' }).click();
    await page.getByLabel('User name').waitFor();
    await hears(page, 'alert', 'It stays valid for at most two hours.');
    await shoot(page, 'not-ended', false);
    await page.unroute('**/admin/tokens/*/');
    await signIn(page, 'fay');
    await page.getByRole('link', { name: 'Sign out' }).waitFor();
    assert.is(await page.getByText('It stays valid').count(), 0);
  }
  await page.getByRole('link', { name: 'Sign out' }).click();
  await page.getByLabel('User name').waitFor();
  assert.is(await page.getByText('It stays valid').count(), 0);
  assert.equal(faults(visitor, [/ERR_FAILED/, /500/]), []);
});

testInBrowser('a link that is opened in another tab asks for the password there', async () => {
  const { server, at, visit } = scene();
  await makeAccount(server, 'gus', 'editor');
  const { page } = await visit(null);
  await page.goto(at('/brands'));
  await signIn(page, 'gus');
  const link = page.getByRole('link', { name: 'Options', exact: true });
  const opened = page.context().waitForEvent('page');
  await link.click({ modifiers: ['Control'] });
  const other = await opened;
  await other.getByLabel('Password').waitFor();
  assert.is(await other.evaluate('sessionStorage.length'), 0);
  await page.reload();
  await page.getByRole('table', { name: 'Brands' }).waitFor();
});

testInBrowser('Undo of a value shows in a list that was opened since', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/skus'));
  const stock = page.getByRole('row').nth(3).getByTitle('Change').last();
  const before = await stock.innerText();
  await stock.click();
  await page.keyboard.type('4711');
  await page.keyboard.press('Enter');
  await hears(page, 'status', 'Stock is now 4,711.');
  await page.getByRole('row').nth(3).getByRole('link').first().click();
  await page.getByRole('button', { name: 'Save' }).waitFor();
  await page.goBack();
  await stock.filter({ hasText: '4,711' }).waitFor();
  await page.getByRole('status').getByRole('button', { name: 'Undo' }).click();
  await stock.filter({ hasText: before }).waitFor();
  assert.equal(faults(visitor), []);
});

testInBrowser('F8 leads to the messages and back, and they stay meanwhile', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await setClock(page);
  await page.goto(at('/skus'));
  const row = page.getByRole('row').nth(5);
  const launched = row.getByRole('switch');
  const before = await launched.isChecked();
  const hasFocus = () => launched.evaluate((element) => element.matches(':focus'));
  await launched.focus();
  await page.keyboard.press('F8');
  assert.ok(await hasFocus(), 'there is no message');
  await page.keyboard.press('Space');
  await hears(page, 'status', 'On sale is now');
  const messages = page.getByRole('region', { name: 'Messages (F8)' });
  for (const back of ['F8', 'Escape']) {
    await page.keyboard.press('F8');
    assert.ok(await messages.evaluate((element) => element.matches(':focus')), back);
    await shoot(page, 'notices-focus', false);
    // An offer ends after a minute, unless the user is there.
    await page.clock.fastForward(90_000);
    await page.keyboard.press(back);
    assert.ok(await hasFocus(), back);
  }
  await page.keyboard.press('F8');
  await page.keyboard.press('Tab');
  assert.is(await page.evaluate('document.activeElement.textContent'), 'Undo');
  await page.keyboard.press('Enter');
  await until('it is undone', async () => (await launched.isChecked()) === before);
  await until('the focus is back', hasFocus);
  await page.clock.fastForward(90_000);
  await page.getByText('On sale is now').waitFor({ state: 'detached' });
  await row.getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Delete…' }).click();
  await focused(page, 'footer button:first-of-type');
  await page.keyboard.press('F8');
  await focused(page, 'footer button:first-of-type');
  assert.equal(faults(visitor), []);
});

testInBrowser('the focus leaves the messages when the last one has gone', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/skus'));
  const launched = page.getByRole('row').nth(8).getByRole('switch');
  const region = page.getByRole('region', { name: 'Messages (F8)' });
  const has = (element: Locator) => element.evaluate((each) => each.matches(':focus'));
  await launched.press('Space');
  await hears(page, 'status', 'On sale is now');
  for (const key of ['F8', 'Tab', 'Tab', 'Enter']) await page.keyboard.press(key);
  await until('the focus is back after Dismiss', () => has(launched));
  assert.is(await region.locator('.notice').count(), 0);
  await page.route('**/admin/skus/*/', (route) => route.abort());
  await launched.press('Space');
  await hears(page, 'alert', 'The server does not answer.');
  const release = await hold(page, '**/admin/skus/?*');
  const asked = page.waitForRequest('**/admin/skus/?*');
  await page.getByLabel('Search').fill('a');
  await asked;
  await page.keyboard.press('F8');
  assert.ok(await has(region));
  // The answer ends the message while the user is there.
  release();
  await until('the focus is back in the search', () => has(page.getByLabel('Search')));
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

testInBrowser(
  'the newest message is the first one, and the only one of a short window',
  async () => {
    const { at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    await page.goto(at('/skus'));
    const row = (nth: number) => page.getByRole('row').nth(nth);
    const messages = page.getByRole('status').filter({ hasText: 'On sale' }).getByText('On sale');
    for (const nth of [6, 7]) {
      await row(nth).getByRole('switch').press('Space');
      await messages.nth(nth - 6).waitFor();
    }
    const name = await row(7).getByRole('link').first().innerText();
    assert.match(await messages.first().innerText(), name);
    await page.setViewportSize({ width: 1000, height: 400 });
    assert.ok(await messages.first().isVisible());
    assert.not.ok(await messages.last().isVisible());
    const before = await row(6).getByRole('switch').isChecked();
    const undone = !(await row(7).getByRole('switch').isChecked());
    for (const key of ['F8', 'Tab', 'Enter']) await page.keyboard.press(key);
    await until(
      'the newest change is undone',
      async () => (await row(7).getByRole('switch').isChecked()) === undone,
    );
    assert.is(await row(6).getByRole('switch').isChecked(), before);
    assert.equal(faults(visitor), []);
  },
);

test.run();
