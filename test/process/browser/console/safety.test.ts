/** Input is not lost, and no user overwrites the changes of another one (spec 13.5). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { make, read } from '../../../support/catalog.ts';
import { send, tokenFor } from '../../../support/client.ts';
import { portFlags } from '../../../support/ports.ts';
import { startServer } from '../../../support/server.ts';
import { until } from '../../../support/until.ts';
import { testInBrowser } from '../browser.ts';
import { end, open, prepare, setClock } from '../visits.ts';
import { faults, hears, hold, makeAccount, signIn, stage } from './console.ts';

const scene = stage();

testInBrowser(
  'if two users change an item, the second one sees both versions field by field',
  async () => {
    const { server, at, visit } = scene();
    const [first, second] = [await visit('editor'), await visit('admin')];
    for (const { page } of [first, second]) {
      await page.goto(at('/skus/3'));
      await page.getByRole('button', { name: 'Save' }).waitFor();
    }
    await first.page.getByLabel('Price', { exact: true }).fill('11');
    await first.page.getByLabel('Caption').fill('The caption of the first');
    await first.page.getByRole('button', { name: 'Save' }).click();
    await hears(first.page, 'status', 'is saved');
    await second.page.getByLabel('Price', { exact: true }).fill('22');
    await second.page.getByLabel('Stock').fill('222');
    await second.page.getByRole('button', { name: 'Save' }).click();
    const dialog = second.page.getByRole('alertdialog', {
      name: 'This item has been changed meanwhile',
    });
    await dialog.getByText('Last changed by editor-of-the-test').waitFor();
    const rowOf = (name: string) => dialog.getByRole('row').filter({ hasText: name });
    assert.match((await rowOf('Price').textContent()) ?? '', /both changed.*649\.00.*22.*11\.00/);
    await rowOf('Caption').getByText('The caption of the first').waitFor();
    await dialog.getByRole('radio', { name: 'Theirs', description: 'Price both changed' }).check();
    await dialog.getByRole('button', { name: 'Save the chosen version' }).click();
    await hears(second.page, 'status', 'is saved');
    const saved = await read(server, '/admin/skus/3/');
    assert.equal(
      [saved.price, saved.stock, saved.caption],
      [1100, 222, 'The caption of the first'],
    );
    assert.equal(faults(second, [/412/]), []);
  },
);

testInBrowser(
  'an item that another user has changed is shown again instead of being deleted',
  async () => {
    const { server, at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    const { id } = await make(server, '/admin/brands/', { name: 'Read before' });
    const path = `/admin/brands/${id}/`;
    const remove = async () => {
      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    };
    await page.goto(at(`/brands/${id}`));
    await page.getByRole('button', { name: 'Delete' }).waitFor();
    await send(server, 'PATCH', path, { body: { name: 'Written meanwhile' } });
    await remove();
    await hears(page, 'alert', 'Written meanwhile has been changed meanwhile.');
    assert.is(await page.getByLabel('Name').inputValue(), 'Written meanwhile');
    assert.is((await send(server, 'GET', path)).status, 200);
    await remove();
    await hears(page, 'status', 'Written meanwhile was deleted.');
    assert.equal(faults(visitor, [/412/]), []);
  },
);

testInBrowser(
  'a change of the brand of an SPU is not a conflict for the form of the SPU',
  async () => {
    const { server, at, visit } = scene();
    const { page } = await visit('editor');
    await page.goto(at('/goods/3'));
    await page.getByLabel('Name').fill('Headphones by another name');
    const { brand_id: brand } = await read(server, '/admin/goods/3/');
    const { status } = await send(server, 'PATCH', `/admin/brands/${brand}/`, {
      body: { name: 'B' },
    });
    assert.is(status, 200);
    await page.getByRole('button', { name: 'Save' }).click();
    await hears(page, 'status', 'is saved');
    assert.is((await read(server, '/admin/goods/3/')).name, 'Headphones by another name');
  },
);

testInBrowser(
  'leaving a form with unsaved changes asks for confirmation, and a reload keeps them',
  async () => {
    const { at, visit } = scene();
    const { page } = await visit('editor');
    await page.goto(at('/brands'));
    await page.goto(at('/brands/2'));
    await page.getByLabel('Name').fill('Not saved yet');
    await page.getByRole('link', { name: 'SKUs', exact: true }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Stay' }).click();
    assert.is(await page.getByLabel('Name').inputValue(), 'Not saved yet');
    page.once('dialog', (dialog) => void dialog.accept());
    await page.reload();
    await page.getByText('Your unsaved changes were restored.').waitFor();
    assert.is(await page.getByLabel('Name').inputValue(), 'Not saved yet');
    await page.getByRole('link', { name: 'Books', exact: true }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('table', { name: 'Books' }).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Save' }).waitFor();
    assert.is.not(await page.getByLabel('Name').inputValue(), 'Not saved yet');
  },
);

testInBrowser(
  'after a session has ended, the user signs in over the form and the save continues',
  async () => {
    const { server, at, visit } = scene();
    await makeAccount(server, 'bea', 'editor');
    const visitor = await visit(null);
    const { page } = visitor;
    await page.goto(at('/brands/3'));
    await signIn(page, 'bea');
    await page.getByRole('button', { name: 'Save' }).waitFor();
    await page.getByLabel('Name').fill('Typed before the session ended');
    const { status } = await send(server, 'DELETE', '/admin/users/bea/tokens/', {
      token: await tokenFor('admin'),
    });
    assert.is(status, 204);
    await page.getByRole('button', { name: 'Save' }).click();
    const again = page.getByRole('dialog', { name: 'Please sign in again' });
    await again.waitFor();
    for (let count = 0; count < 3; count += 1) await page.keyboard.press('Escape');
    await again.waitFor();
    assert.is(await page.getByLabel('User name').inputValue(), 'bea');
    await signIn(page, 'bea');
    await hears(page, 'status', 'Typed before the session ended is saved.');
    assert.is((await read(server, '/admin/brands/3/')).name, 'Typed before the session ended');
    assert.equal(faults(visitor, [/401/]), []);
  },
);

testInBrowser(
  'a bulk deletion says what it has deleted if one who may only read signs in meanwhile',
  async () => {
    const { server, at, visit } = scene();
    await makeAccount(server, 'finn', 'editor');
    await makeAccount(server, 'gil', 'viewer');
    const names = ['Half a', 'Half b', 'Half c'];
    for (const name of names) await make(server, '/admin/brands/', { name });
    const visitor = await visit(null);
    const { page } = visitor;
    await page.goto(at('/brands?q=Half'));
    await signIn(page, 'finn');
    await page.getByLabel('Select all on this page').check();
    await page.getByRole('button', { name: 'Delete…' }).click();
    let deletions = 0;
    await page.route('**/admin/brands/*/', async (route) => {
      if (route.request().method() === 'DELETE') deletions += 1;
      if (deletions === 2) await send(server, 'DELETE', '/admin/users/finn/tokens/');
      await route.continue();
    });
    await page.getByRole('button', { name: 'Delete 3 items' }).click();
    await page.getByRole('dialog', { name: 'Please sign in again' }).waitFor();
    await signIn(page, 'gil');
    await hears(page, 'alert', 'Half b: Your account may not do this.');
    await hears(page, 'alert', '1 item was deleted before that.');
    await page.getByRole('button', { name: 'Do not restore' }).click();
    await page.getByRole('group', { name: 'Selected items' }).waitFor({ state: 'detached' });
    assert.is((await read(server, '/admin/brands/?q=Half')).length, 2);
    assert.equal(faults(visitor, [/401/, /403/]), []);
  },
);

testInBrowser(
  'a session is renewed while its user works, and not while the user is idle',
  async () => {
    const { server, at, visit } = scene();
    await makeAccount(server, 'cleo', 'editor');
    const visitor = await visit(null);
    const { page } = visitor;
    await setClock(page);
    await page.goto(at('/brands'));
    await signIn(page, 'cleo');
    await page.getByRole('row').nth(1).waitFor();
    let renewals = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/admin/tokens/renewal/')) renewals += 1;
    });
    const token = () => page.evaluate<string>('sessionStorage.getItem("catalog.session")');
    const renewal = async (work: () => Promise<void>) => {
      const before = await token();
      const renewed = page.waitForResponse((response) => response.url().endsWith('/renewal/'));
      await work();
      assert.is((await renewed).status(), 201);
      await until('the token is another', async () => (await token()) !== before);
    };
    // The button that was pressed to sign in counts as work once.
    await renewal(() => page.clock.runFor(15 * 60_000));
    await page.clock.runFor(15 * 60_000);
    await renewal(async () => {
      await page.getByLabel('Search').fill('a');
      await page.keyboard.press('b');
      await page.clock.runFor(30_000);
    });
    assert.is(renewals, 2);
    assert.equal(faults(visitor), []);
  },
);

testInBrowser('a user who signs out while the session is renewed stays signed out', async () => {
  const { server, at, visit } = scene();
  await makeAccount(server, 'nina', 'editor');
  const visitor = await visit(null);
  const { page } = visitor;
  await setClock(page);
  // Holds the body of the renewal, until the test calls release().
  await prepare(
    page,
    `
    const json = Response.prototype.json;
    const held = Promise.withResolvers();
    Response.prototype.json = async function () {
      const body = await json.call(this);
      if (this.url.endsWith('/admin/tokens/renewal/')) {
        window.release = held.resolve;
        await held.promise;
      }
      return body;
    };`,
  );
  await page.goto(at('/brands'));
  await signIn(page, 'nina');
  await page.getByRole('row').nth(1).waitFor();
  await page.clock.runFor(15 * 60_000);
  await until('the body is held', () => page.evaluate<boolean>('"release" in window'));
  await page.getByRole('link', { name: 'Sign out' }).click();
  await page.getByLabel('User name').waitFor();
  await page.evaluate('release()');
  assert.is(await page.evaluate('sessionStorage.getItem("catalog.session")'), null);
  assert.equal(faults(visitor), []);
});

testInBrowser(
  'an editor who becomes a viewer can no longer write, and unsaved input stays',
  async () => {
    const { server, at, visit } = scene();
    await makeAccount(server, 'dora', 'editor');
    const visitor = await visit(null);
    const { page } = visitor;
    await page.goto(at('/brands/2'));
    await signIn(page, 'dora');
    await page.getByRole('button', { name: 'Save' }).waitFor();
    const before = await read(server, '/admin/brands/2/');
    await page.getByLabel('Name').fill('Typed as an editor');
    const { status } = await send(server, 'PATCH', '/admin/users/dora/', {
      body: { role: 'viewer' },
      token: await tokenFor('admin'),
    });
    assert.is(status, 200);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog', { name: 'Please sign in again' }).waitFor();
    await signIn(page, 'dora');
    await hears(page, 'alert', 'Your account may not do this.');
    await page.getByRole('button', { name: 'Save' }).waitFor({ state: 'hidden' });
    assert.is(await page.getByLabel('Name').inputValue(), 'Typed as an editor');
    assert.is(await page.getByLabel('Name').isEditable(), false);
    assert.is(await page.getByRole('link', { name: 'Import' }).count(), 0);
    assert.equal(await read(server, '/admin/brands/2/'), before);
    assert.equal(faults(visitor, [/401/, /403/]), []);
  },
);

testInBrowser(
  'a viewer sees no controls that write, and an editor does not see accounts',
  async () => {
    const { at, visit } = scene();
    const viewer = await visit('viewer');
    await viewer.page.goto(at('/skus'));
    await viewer.page.getByRole('row').nth(1).waitFor();
    await viewer.page.getByRole('button', { name: 'Export' }).waitFor();
    for (const [role, name] of [
      ['link', 'New'],
      ['link', 'Import'],
      ['link', 'Audit trail'],
      ['link', 'Accounts'],
      ['checkbox', /./],
      ['switch', /./],
    ] as const) {
      assert.is(await viewer.page.getByRole(role, { name }).count(), 0, `${role} ${name}`);
    }
    await viewer.page.goto(at('/goods/1'));
    await viewer.page.getByRole('table', { name: 'SKUs by their options' }).waitFor();
    for (const name of ['Save', 'Delete', 'Add', 'Preview', 'Bold', /^Remove/, /^Create/]) {
      assert.is(await viewer.page.getByRole('button', { name }).count(), 0, String(name));
    }
    assert.is(await viewer.page.getByLabel('Name').isEditable(), false);
    for (const path of ['/skus/new', '/import', '/accounts', '/audits']) {
      await viewer.page.goto(at(path));
      await viewer.page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    }
    const editor = await visit('editor');
    await editor.page.goto(at('/'));
    await editor.page.getByRole('link', { name: 'Import' }).waitFor();
    assert.is(await editor.page.getByRole('link', { name: 'Accounts' }).count(), 0);
    assert.equal([...faults(viewer), ...faults(editor)], []);
  },
);

for (const [sku, name, next, isAnswered] of [
  [4, 'hugo', 'ida', true],
  [5, 'jill', 'kurt', false],
] as const) {
  testInBrowser(
    `what ${isAnswered ? 'is' : 'cannot be'} saved when its user signs out is never written by the next one`,
    async () => {
      const { server, at, visit } = scene();
      for (const each of [name, next]) await makeAccount(server, each, 'editor');
      const visitor = await visit(null);
      const { page } = visitor;
      await setClock(page);
      await page.goto(at('/skus'));
      await signIn(page, name);
      const { stock } = await read(server, `/admin/skus/${sku}/`);
      await page.getByRole('row').nth(sku).getByTitle('Change').last().click();
      const release = await hold(page, `**/admin/skus/${sku}/`);
      await page.keyboard.type('4444');
      const ended = page.waitForResponse('**/admin/tokens/*/');
      await page.getByRole('link', { name: 'Sign out' }).click();
      await page.waitForURL('**/console/');
      if (isAnswered) release();
      else await page.clock.fastForward(5000);
      await page.getByLabel('User name').waitFor();
      await ended;
      await signIn(page, next);
      await page.getByRole('link', { name: 'Sign out' }).waitFor();
      release();
      await page.getByRole('link', { name: 'SKUs' }).click();
      await page.getByRole('row').nth(sku).waitFor();
      const after = await read(server, `/admin/skus/${sku}/`);
      assert.is(after.stock, isAnswered ? 4444 : stock);
      const [last] = await read(server, `/admin/skus/${sku}/audits/?order=desc`);
      assert.is(last?.subject ?? name, name);
      assert.equal(faults(visitor, [/401/]), []);
    },
  );
}

testInBrowser('the next user is told nothing of a deletion that a sign-out has ended', async () => {
  const { server, at, visit } = scene();
  for (const name of ['olga', 'paul']) await makeAccount(server, name, 'editor');
  for (const name of ['Left a', 'Left b']) await make(server, '/admin/brands/', { name });
  const visitor = await visit(null);
  const { page } = visitor;
  await setClock(page);
  await page.goto(at('/brands?q=Left'));
  await signIn(page, 'olga');
  await page.getByLabel('Select all on this page').check();
  await page.getByRole('button', { name: 'Delete…' }).click();
  const held = Promise.withResolvers<void>();
  let deletions = 0;
  await page.route('**/admin/brands/*/', async (route) => {
    if (route.request().method() === 'DELETE') deletions += 1;
    if (deletions === 2) await held.promise;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Delete 2 items' }).click();
  await until('the second deletion is held', () => deletions === 2);
  await page.getByRole('button', { name: 'Cancel' }).click();
  const release = await hold(page, '**/admin/tokens/*/', 'DELETE');
  await page.getByRole('link', { name: 'Sign out' }).click();
  await page.waitForURL('**/console/');
  await page.clock.fastForward(5000);
  await signIn(page, 'paul');
  await page.getByRole('link', { name: 'Sign out' }).waitFor();
  assert.equal(await page.locator('.notice').allTextContents(), []);
  release();
  held.resolve();
  assert.equal(faults(visitor), []);
});

testInBrowser('unsaved input survives a crash and a restart of the server', async () => {
  const args = ['--base-path', '/api', ...(await portFlags())];
  const first = await startServer({ demo: true, args });
  const visitor = await open();
  const { page } = visitor;
  const token = await tokenFor('editor');
  await prepare(page, `sessionStorage.setItem('catalog.session', ${JSON.stringify(token)})`);
  await page.goto(`${first.url}/api/console/brands/1`);
  await page.getByLabel('Name').fill('Survives a crash');
  await first.kill();
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'alert', 'The server does not answer.');
  const second = await startServer({ data: first.data, args });
  assert.is(await page.getByLabel('Name').inputValue(), 'Survives a crash');
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'status', 'Survives a crash is saved.');
  assert.equal(
    faults(visitor, [/ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/]),
    [],
  );
  await end(page);
  await second.stop();
});

testInBrowser('a description follows the rights of those who sign in over its form', async () => {
  const { server, at, visit } = scene();
  await makeAccount(server, 'vera', 'viewer');
  await makeAccount(server, 'eddi', 'editor');
  const visitor = await visit(null);
  const { page } = visitor;
  await make(server, '/admin/specs/', { name: 'Unused', spu_id: 3 });
  await page.goto(at('/goods/3'));
  await signIn(page, 'eddi');
  const field = page.getByRole('textbox', { name: 'Packaging' });
  await field.click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type(' And a box.');
  const text = (await field.textContent()) ?? '';
  await page.getByRole('button', { name: 'Remove Unused' }).click();
  await page.getByRole('button', { name: 'Remove Unused' }).waitFor({ state: 'detached' });
  for (const [name, next, press, said] of [
    ['eddi', 'vera', 'Save', 'Your account may not do this.'],
    ['vera', 'eddi', 'Undo', 'Undone'],
  ] as const) {
    const token = await tokenFor('admin');
    await send(server, 'DELETE', `/admin/users/${name}/tokens/`, { token });
    await page.getByRole('button', { name: press }).click();
    await page.getByRole('dialog', { name: 'Please sign in again' }).waitFor();
    await signIn(page, next);
    await page.getByText(said).waitFor();
    assert.is(await field.textContent(), text);
    assert.is(await field.isEditable(), next === 'eddi');
  }
  await field.click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type(' And a bag.');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Unsaved changes').waitFor({ state: 'hidden' });
  const { desc_pack } = await read(server, '/admin/goods/3/');
  assert.match(desc_pack, /^<p>Headphones, .* And a box. And a bag.<\/p>$/);
  assert.equal(faults(visitor, [/401/, /403/]), []);
});

test.run();
