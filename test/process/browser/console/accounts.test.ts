/** Accounts: what an admin does with them, and what has to be confirmed (spec 13.4). */
import type { Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { read } from '../../../support/catalog.ts';
import { send } from '../../../support/client.ts';
import { until } from '../../../support/until.ts';
import { testInBrowser } from '../browser.ts';
import { end, prepare } from '../visits.ts';
import {
  faults,
  focused,
  hears,
  isFocusInSight,
  loseResponse,
  makeAccount,
  stage,
} from './console.ts';

const scene = stage();

/** Collects the requests of a method to accounts, with their bodies. */
function requestsOf(page: Page, method: string): string[] {
  const seen: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (request.method() !== method || !pathname.startsWith('/admin/users/')) return;
    seen.push(`${pathname} ${request.postData() ?? ''}`);
  });
  return seen;
}

testInBrowser(
  'an admin adds an account, changes its role, disables it and removes it',
  async () => {
    const { server, at, visit } = scene();
    const visitor = await visit('admin');
    const { page } = visitor;
    await page.goto(at('/accounts'));
    await page.getByRole('button', { name: 'New account' }).click();
    await page.getByLabel('User name').fill('carl');
    await page.getByLabel('Password').fill('correct horse battery staple');
    await page.getByRole('button', { name: 'Create' }).click();
    await hears(page, 'status', 'carl is saved.');
    const row = page.getByRole('row').filter({ hasText: 'carl' });
    await row.waitFor();
    // The next message has the same text.
    await page.reload();
    await row.getByRole('combobox').selectOption('editor');
    await row.getByRole('button', { name: 'Apply' }).click();
    await hears(page, 'status', 'carl is saved.');
    // The switch changes after the response, so the test asks the server.
    await row.getByRole('switch').click();
    const account = () => read(server, '/admin/users/carl/');
    await until('the account is disabled', async () => (await account()).disabled);
    assert.is((await account()).role, 'editor');
    await row.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
    await hears(page, 'status', 'carl is removed.');
    assert.equal(faults(visitor), []);
  },
);

testInBrowser('after an account is removed, the focus is on the row beside it', async () => {
  const { server, at, visit } = scene();
  for (const name of ['zara', 'zeno', 'zoe']) await makeAccount(server, name, 'viewer');
  const visitor = await visit('admin');
  const { page } = visitor;
  await page.goto(at('/accounts'));
  const row = (name: string) => page.getByRole('row').filter({ hasText: name });
  const remove = (name: string) => row(name).getByRole('button', { name: 'Remove' });
  // The last row has none below it.
  for (const [name, beside] of [
    ['zeno', 'zoe'],
    ['zoe', 'zara'],
  ] as const) {
    await remove(name).press('Enter');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).press('Enter');
    await row(name).waitFor({ state: 'detached' });
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
    assert.ok(await remove(beside).evaluate((button) => button.matches(':focus')), beside);
    assert.ok(await isFocusInSight(page));
  }
  assert.equal(faults(visitor), []);
});

testInBrowser('an admin gives an account a new password', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('admin');
  const { page } = visitor;
  await makeAccount(server, 'paula', 'editor');
  await page.goto(at('/accounts'));
  const row = page.getByRole('row').filter({ hasText: 'paula' });
  await row.getByRole('button', { name: 'New password' }).click();
  const dialog = page.getByRole('dialog', { name: 'New password for paula' });
  const password = dialog.getByLabel('Password');
  await password.fill('short');
  await password.press('Enter');
  await dialog.getByText('must have at least 8 characters').waitFor();
  const body = { username: 'paula', password: 'a new battery staple' };
  await password.fill(body.password);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'status', 'paula has a new password.');
  assert.is((await send(server, 'POST', '/admin/tokens/', { body, token: null })).status, 201);
  assert.equal(faults(visitor, [/422/]), []);
});

testInBrowser('what is wrong with a new account is said below its fields', async () => {
  const { at, visit } = scene();
  const visitor = await visit('admin', { options: { locale: 'de-DE' } });
  const { page } = visitor;
  await page.goto(at('/accounts'));
  await page.getByRole('button', { name: 'Neues Konto' }).click();
  const dialog = page.getByRole('dialog');
  const name = dialog.getByLabel('Benutzername');
  const password = dialog.getByLabel('Passwort');
  await name.fill('two words');
  await password.fill('short');
  await password.press('Enter');
  for (const [field, problem] of [
    [name, /^muss aus 1 bis 64 Buchstaben/],
    [password, 'muss mindestens 8 Zeichen haben'],
  ] as const) {
    await dialog.getByText(problem).waitFor();
    assert.is(await field.getAttribute('aria-invalid'), 'true');
    const id = await field.getAttribute('aria-describedby');
    assert.match((await page.locator(`[id="${id}"]`).textContent()) ?? '', problem);
  }
  await focused(page, '#account-name');
  assert.is(await dialog.getByRole('alert').count(), 0);
  assert.equal(faults(visitor, [/422/]), []);
});

testInBrowser('an account is listed whose creation had no answer', async () => {
  const { at, visit } = scene();
  const visitor = await visit('admin');
  const { page } = visitor;
  await page.goto(at('/accounts'));
  await loseResponse(page, '**/admin/users/', 'POST');
  await page.getByRole('button', { name: 'New account' }).click();
  await page.getByLabel('User name').fill('dora');
  await page.getByLabel('Password').fill('correct horse battery staple');
  const create = page.getByRole('button', { name: 'Create' });
  await create.click();
  await hears(page, 'alert', 'The server does not answer.');
  await create.click();
  await page.getByText('is the name of another user').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('rowheader', { name: 'dora' }).waitFor();
  assert.equal(faults(visitor, [/ERR_FAILED|422|409/]), []);
});

testInBrowser('the arrow keys choose a role, and only Apply writes it', async () => {
  const { server, at, visit } = scene();
  await makeAccount(server, 'mona', 'viewer');
  const visitor = await visit('admin');
  const { page } = visitor;
  const writes = requestsOf(page, 'PATCH');
  await page.goto(at('/accounts'));
  const role = page.getByRole('combobox', { name: 'Role of mona' });
  const apply = page.getByRole('button', { name: 'Apply the new role of mona' });
  await role.press('ArrowDown');
  await role.press('ArrowDown');
  await apply.waitFor();
  assert.is(await role.inputValue(), 'admin');
  await role.press('ArrowUp');
  await role.press('ArrowUp');
  await apply.waitFor({ state: 'hidden' });
  await role.press('ArrowDown');
  await apply.press('Escape');
  await apply.waitFor({ state: 'hidden' });
  await focused(page, 'select');
  assert.is(await role.inputValue(), 'viewer');
  await role.press('ArrowDown');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await hears(page, 'status', 'mona is saved.');
  await apply.waitFor({ state: 'hidden' });
  await focused(page, 'select');
  assert.is(await role.inputValue(), 'editor');
  assert.equal(writes, ['/admin/users/mona/ {"role":"editor"}']);
  assert.equal(faults(visitor), []);
});

testInBrowser('a role that is chosen as soon as the list is there stays chosen', async () => {
  const { server, at, visit } = scene();
  await makeAccount(server, 'lena', 'viewer');
  const { page } = await visit('admin');
  // In the microtask after the list was added, before anything that runs after a paint.
  await prepare(
    page,
    `
    const observer = new MutationObserver(() => {
      const select = document.querySelector('select[aria-label="Role of lena"]');
      if (select === null) return;
      observer.disconnect();
      select.value = 'admin';
      select.dispatchEvent(new Event('change', { bubbles: true }));
    });
    observer.observe(document, { childList: true, subtree: true });
  `,
  );
  await page.goto(at('/accounts'));
  await page.getByRole('button', { name: 'Apply the new role of lena' }).waitFor();
  // Effects run after a paint.
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done, 200)))');
  assert.is(await page.getByRole('combobox', { name: 'Role of lena' }).inputValue(), 'admin');
});

testInBrowser('the message about a lost write stays when the accounts are read again', async () => {
  const { server, at, visit } = scene();
  await makeAccount(server, 'nina', 'viewer');
  const visitor = await visit('admin');
  const { page } = visitor;
  await page.goto(at('/accounts'));
  await loseResponse(page, '**/admin/users/nina/', 'PATCH');
  await page.getByRole('combobox', { name: 'Role of nina' }).selectOption('editor');
  const apply = page.getByRole('button', { name: 'Apply the new role of nina' });
  await apply.press('Enter');
  await apply.waitFor({ state: 'hidden' });
  assert.is(await page.getByText('The server does not answer.').count(), 1);
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

testInBrowser('a role that the server refuses is taken back', async () => {
  const { server, at, visit } = scene();
  await makeAccount(server, 'only-admin', 'admin');
  const visitor = await visit('admin');
  const { page } = visitor;
  await page.goto(at('/accounts'));
  const role = page.getByRole('combobox', { name: 'Role of only-admin' });
  await role.selectOption('viewer');
  await page.getByRole('button', { name: 'Apply the new role of only-admin' }).press('Enter');
  await page.getByRole('alert').first().waitFor();
  await page.getByRole('button', { name: 'Apply' }).waitFor({ state: 'hidden' });
  await focused(page, 'select');
  assert.is(await role.inputValue(), 'admin');
  assert.is((await read(server, '/admin/users/only-admin/')).role, 'admin');
  assert.equal(faults(visitor, [/409/]), []);
});

testInBrowser(
  'a change of an account that the server does not take is not shown as made',
  async () => {
    const { server, at, visit } = scene();
    await makeAccount(server, 'olga', 'viewer');
    const visitor = await visit('admin');
    const { page } = visitor;
    await page.goto(at('/accounts'));
    const role = page.getByRole('combobox', { name: 'Role of olga' });
    const active = page.getByRole('switch', { name: 'olga is active' });
    await role.selectOption('editor');
    const apply = page.getByRole('button', { name: 'Apply the new role of olga' });
    await page.route('**/admin/users/**', (route) => route.abort());
    await apply.press('Enter');
    // It says that what was typed is still there.
    await hears(page, 'alert', 'The server does not answer.');
    await page.getByRole('button', { name: 'Try again' }).waitFor();
    assert.is(await role.inputValue(), 'editor');
    const lost = page.waitForEvent('requestfailed');
    await active.press('Space');
    await lost;
    await until('the switch shows what the server has', () => active.isChecked());
    await page.unroute('**/admin/users/**');
    await apply.press('Enter');
    await hears(page, 'status', 'olga is saved.');
    const { role: saved, disabled } = await read(server, '/admin/users/olga/');
    assert.equal([saved, disabled], ['editor', false]);
    assert.equal(faults(visitor, [/ERR_FAILED/]), []);
  },
);

testInBrowser('sessions end only after a confirmation that names the account', async () => {
  const { server, at, visit } = scene();
  await makeAccount(server, 'nils', 'viewer');
  const visitor = await visit('admin');
  const { page } = visitor;
  const deletions = requestsOf(page, 'DELETE');
  await page.goto(at('/accounts'));
  const row = page.getByRole('row').filter({ hasText: 'nils' });
  const question = page.getByRole('alertdialog', { name: 'End the sessions of nils?' });
  await row.getByRole('button', { name: 'End sessions' }).click();
  await question.getByRole('button', { name: 'Cancel' }).click();
  await question.waitFor({ state: 'hidden' });
  assert.equal(deletions, []);
  await row.getByRole('button', { name: 'End sessions' }).click();
  await question.getByRole('button', { name: 'End sessions' }).click();
  await hears(page, 'status', 'The sessions of nils have ended.');
  assert.equal(deletions, ['/admin/users/nils/tokens/ ']);
  assert.equal(faults(visitor), []);
});

testInBrowser('a role that is chosen does not make the table wider than a window', async () => {
  const { server, at, visit } = scene();
  await makeAccount(server, 'accountant-of-the-shop', 'editor');
  for (const [locale, role] of [
    ['en-US', 'Role of accountant-of-the-shop'],
    ['de-DE', 'Rolle von accountant-of-the-shop'],
  ] as const) {
    const { page } = await visit('admin', { width: 1280, options: { locale } });
    await page.goto(at('/accounts'));
    await page.getByLabel(role, { exact: true }).selectOption('viewer');
    await page.getByRole('button', { name: /^(?:Apply|Übernehmen)/ }).waitFor();
    const wider = await page.evaluate(`(() => {
      const { scrollWidth, clientWidth } = document.querySelector('.table');
      return scrollWidth - clientWidth;
    })()`);
    assert.is(wider, 0, locale);
    await end(page);
  }
});

for (const width of [1100, 1290]) {
  testInBrowser(
    `in a window of ${width} pixels all actions of an account are in sight`,
    async () => {
      const { server, at, visit } = scene();
      await makeAccount(server, `of-${width}-with-a-long-name`, 'viewer');
      for (const locale of ['en-US', 'de-DE']) {
        const { page } = await visit('admin', { width, options: { locale } });
        await page.goto(at('/accounts'));
        const table = page.locator('.table');
        await table.getByText(`of-${width}`).waitFor();
        const [whole, shown] = await table.evaluate((element) => [
          element.scrollWidth,
          element.clientWidth,
        ]);
        assert.is(whole, shown, locale);
        await end(page);
      }
    },
  );
}

test.run();
