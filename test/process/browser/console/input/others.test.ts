/** What other users create and delete while a screen is shown (spec 13.5). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { make, read } from '../../../../support/catalog.ts';
import { send } from '../../../../support/client.ts';
import { until } from '../../../../support/until.ts';
import { shoot, testInBrowser, violationsOn } from '../../browser.ts';
import { end, setClock } from '../../visits.ts';
import { faults, fillPrices, focused, hears, hold, missingSkus, stage } from '../console.ts';

const scene = stage();

const GONE = 'This item has been deleted meanwhile.';

testInBrowser('a category that another user has created meanwhile can be chosen', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await setClock(page);
  await page.goto(at('/goods/1'));
  const field = page.getByLabel('Category 3');
  await field.waitFor();
  const { category2_id: parent_id } = await read(server, '/admin/goods/1/');
  await make(server, '/admin/categories/', { name: 'Made meanwhile', parent_id });
  await page.clock.fastForward(60_000);
  await field.click();
  await field.fill('Made meanwhile');
  await page.getByRole('treeitem', { name: 'Made meanwhile', exact: true }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'status', 'is saved.');
  assert.equal(faults(visitor), []);
});

testInBrowser('a tree of categories that cannot be read again stays in use', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await setClock(page);
  await page.goto(at('/goods/1'));
  const field = page.getByLabel('Category 3');
  await field.waitFor();
  await page.route('**/admin/categories/export/?*', (route) => route.abort());
  await page.clock.fastForward(60_000);
  const lost = page.waitForEvent('requestfailed');
  await field.click();
  await lost;
  await field.fill('Laptops');
  await page.getByRole('treeitem', { name: 'Laptops', exact: true }).click();
  assert.match(await field.inputValue(), /Laptops$/);
  assert.is(await page.getByRole('alert').count(), 0);
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

testInBrowser('an item that another user has deleted is said to be deleted', async () => {
  const { server, at, visit } = scene();
  for (const [locale, gone, save, remove] of [
    ['en-US', GONE, 'Save', 'Delete'],
    ['de-DE', 'Dieser Eintrag wurde inzwischen gelöscht.', 'Speichern', 'Löschen'],
  ] as const) {
    const { page } = await visit('editor', { options: { locale } });
    const brand = { name: 'Soon gone', first_letter: 'S' };
    const { id } = await make(server, '/admin/brands/', brand);
    await page.goto(at(`/brands/${id}`));
    await page.locator('#field-name').fill('Too late');
    assert.is((await send(server, 'DELETE', `/admin/brands/${id}/`)).status, 204);
    await page.getByRole('button', { name: save }).click();
    await hears(page, 'alert', gone);
    assert.is(await page.locator('#field-name').inputValue(), 'Too late');
    await page.locator('.notice .icon').click();
    await page.getByRole('button', { name: remove }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: remove }).click();
    await hears(page, 'alert', gone);
    await end(page);
  }
});

testInBrowser('an option that another user has deleted is no longer shown', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const spec = await make(server, '/admin/specs/', { name: 'Finish', spu_id: 2 });
  const { id } = await make(server, '/admin/options/', { value: 'Matt', spec_id: spec.id });
  await page.goto(at('/goods/2'));
  const remove = page.getByRole('button', { name: 'Remove Matt' });
  await remove.waitFor();
  assert.is((await send(server, 'DELETE', `/admin/options/${id}/`)).status, 204);
  await remove.click();
  await hears(page, 'alert', GONE);
  await remove.waitFor({ state: 'detached' });
  assert.equal(faults(visitor, [/404/]), []);
});

testInBrowser('a specification that another user has deleted is no longer shown', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const specOf = async (name: string) => {
    const { id } = await make(server, '/admin/specs/', { name, spu_id: 1 });
    return async () => {
      assert.is((await send(server, 'DELETE', `/admin/specs/${id}/`)).status, 204);
    };
  };
  const add = async (name: string) => {
    await page.getByLabel(`New option of ${name}`).fill('Sour');
    await page.getByLabel(`New option of ${name}`).press('Enter');
    await hears(page, 'alert', GONE);
    await page.getByText(name, { exact: true }).waitFor({ state: 'detached' });
  };
  const remove = await specOf('Taste');
  await page.goto(at('/goods/1'));
  await page.getByLabel('New option of Taste').waitFor();
  await remove();
  await add('Taste');
  const removeOther = await specOf('Smell');
  await page.goto(at('/skus/1'));
  await page.getByLabel('Smell').waitFor();
  await removeOther();
  await page.getByRole('button', { name: 'Add another…' }).last().click();
  await add('Smell');
  assert.equal(faults(visitor, [/404|410|422/]), []);
});

testInBrowser('an option that was added is shown once if the options are read again', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const { id: shape } = await make(server, '/admin/specs/', { name: 'Shape', spu_id: 1 });
  const { id: feel } = await make(server, '/admin/specs/', { name: 'Feel', spu_id: 1 });
  const { id: soft } = await make(server, '/admin/options/', { value: 'Soft', spec_id: feel });
  await page.goto(at('/skus/1'));
  await page.getByLabel('Feel').selectOption('Soft');
  await page.getByRole('button', { name: 'Add another…' }).nth(-2).click();
  await page.getByLabel('New option of Shape').fill('Round');
  await page.getByLabel('New option of Shape').press('Enter');
  const round = page.getByLabel('Shape').getByRole('option', { name: 'Round' });
  await round.waitFor({ state: 'attached' });
  assert.is((await send(server, 'DELETE', `/admin/options/${soft}/`)).status, 204);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('option', { name: 'Soft' }).waitFor({ state: 'detached' });
  assert.is(await round.count(), 1);
  await page.getByRole('button', { name: 'Discard changes' }).click();
  for (const id of [shape, feel]) await send(server, 'DELETE', `/admin/specs/${id}/`);
  assert.equal(faults(visitor, [/422/]), []);
});

for (const [locale, saves, said] of [
  ['en-US', 'Save', 'The option of Feel that you chose has been deleted. Choose another one.'],
  [
    'de-DE',
    'Speichern',
    'Die gewählte Ausprägung von Feel wurde gelöscht. Wählen Sie eine andere.',
  ],
] as const) {
  testInBrowser(`an option that was deleted is told by its specification, ${locale}`, async () => {
    const { server, at, visit } = scene();
    const visitor = await visit('editor', { options: { locale } });
    const { page } = visitor;
    const { id: spec } = await make(server, '/admin/specs/', { name: 'Feel', spu_id: 1 });
    const [{ id: soft }, { id: hard }] = [
      await make(server, '/admin/options/', { value: 'Soft', spec_id: spec }),
      await make(server, '/admin/options/', { value: 'Hard', spec_id: spec }),
    ];
    await page.goto(at('/skus/1'));
    const choice = page.getByLabel('Feel', { exact: true });
    await choice.selectOption('Soft');
    assert.is((await send(server, 'DELETE', `/admin/options/${soft}/`)).status, 204);
    await page.getByRole('button', { name: saves }).click();
    await hears(page, 'alert', said);
    assert.is(await page.getByText(new RegExp(`^${soft} `)).count(), 0);
    // The focus is on the only choice that is said to be wrong.
    assert.is(await page.locator('[aria-invalid=true]').count(), 1);
    assert.ok(await choice.evaluate((select) => select.matches('[aria-invalid=true]:focus')));
    await shoot(page, `deleted-option-${locale}`, false);
    assert.equal(await violationsOn(page), []);
    await choice.selectOption('Hard');
    await page.getByText(said).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: saves }).click();
    await hears(page, 'status', locale === 'de-DE' ? 'ist gespeichert' : 'is saved');
    const { specs } = await read(server, '/admin/skus/1/');
    assert.ok(JSON.stringify(specs).includes(`"option_id":${hard}`));
    await choice.selectOption({ index: 0 });
    await page.getByRole('button', { name: saves }).click();
    await until('the specification is not chosen', async () => {
      const now = await read(server, '/admin/skus/1/');
      return !JSON.stringify(now.specs).includes(`"option_id":${hard}`);
    });
    await send(server, 'DELETE', `/admin/options/${hard}/`);
    await send(server, 'DELETE', `/admin/specs/${spec}/`);
    assert.equal(faults(visitor, [/422/]), []);
  });
}

testInBrowser('of two options that were deleted, each is told until it is corrected', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const specs = ['Feel', 'Scent'];
  const ids: number[] = [];
  const deleted: number[] = [];
  for (const name of specs) {
    const { id } = await make(server, '/admin/specs/', { name, spu_id: 1 });
    ids.push(id);
    await make(server, '/admin/options/', { value: 'Left', spec_id: id });
    deleted.push((await make(server, '/admin/options/', { value: 'Deleted', spec_id: id })).id);
  }
  await page.goto(at('/skus/1'));
  for (const name of specs) await page.getByLabel(name, { exact: true }).selectOption('Deleted');
  for (const id of deleted) await send(server, 'DELETE', `/admin/options/${id}/`);
  await page.getByRole('button', { name: 'Save' }).click();
  const problems = page.getByRole('alert').filter({ hasText: 'that you chose has been deleted' });
  for (const [corrected, name] of specs.entries()) {
    const left = specs.length - corrected;
    await until(`${left} are told`, async () => (await problems.count()) === left);
    await page.getByLabel(name, { exact: true }).selectOption('Left');
  }
  await problems.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Discard changes' }).click();
  for (const id of ids) {
    const [{ id: left }] = await read(server, `/admin/options/?spec_id=${id}`);
    await send(server, 'DELETE', `/admin/options/${left}/`);
    await send(server, 'DELETE', `/admin/specs/${id}/`);
  }
  assert.equal(faults(visitor, [/422/]), []);
});

testInBrowser(
  'a new option keeps the focus when it is known which option was deleted',
  async () => {
    const { server, at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    const { id: spec } = await make(server, '/admin/specs/', { name: 'Feel', spu_id: 1 });
    const { id: soft } = await make(server, '/admin/options/', { value: 'Soft', spec_id: spec });
    await page.goto(at('/skus/1'));
    await page.getByLabel('Feel', { exact: true }).selectOption('Soft');
    assert.is((await send(server, 'DELETE', `/admin/options/${soft}/`)).status, 204);
    const release = await hold(page, ({ pathname }) => pathname.endsWith('/admin/options/'), 'GET');
    await page.getByRole('button', { name: 'Save' }).click();
    await focused(page, '.specs select');
    await page.getByRole('button', { name: 'Add another…' }).first().click();
    const added = page.getByLabel(/^New option of /);
    await added.pressSequentially('N');
    release();
    await hears(page, 'alert', 'The option of Feel that you chose has been deleted.');
    assert.ok(await added.evaluate((field) => field.matches(':focus')));
    await send(server, 'DELETE', `/admin/specs/${spec}/`);
    assert.equal(faults(visitor, [/422/]), []);
  },
);

testInBrowser('an option of a specification that another user has deleted is dropped', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const { id: spec } = await make(server, '/admin/specs/', { name: 'Feel', spu_id: 1 });
  const { id: option } = await make(server, '/admin/options/', { value: 'Soft', spec_id: spec });
  await page.goto(at('/skus/1'));
  await page.getByLabel('Caption').fill('Not soft');
  await page.getByLabel('Feel').selectOption('Soft');
  for (const path of [`/admin/options/${option}/`, `/admin/specs/${spec}/`]) {
    assert.is((await send(server, 'DELETE', path)).status, 204);
  }
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'alert', 'Some values are not right yet. Nothing was saved.');
  await page.getByLabel('Feel').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'status', 'is saved');
  assert.is((await read(server, '/admin/skus/1/')).caption, 'Not soft');
  assert.equal(faults(visitor, [/422/]), []);
});

testInBrowser('a value in a list is not changed if another user has deleted the SKU', async () => {
  const { server, at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/skus'));
  await page.getByRole('row').nth(1).getByTitle('Change').last().click();
  assert.is((await send(server, 'DELETE', '/admin/skus/1/')).status, 204);
  await page.keyboard.type('12');
  await page.keyboard.press('Enter');
  await hears(page, 'alert', GONE);
  // The row is gone, too.
  await page.getByRole('rowheader', { name: 'silver, 128 GB' }).waitFor({ state: 'detached' });
});

testInBrowser('a value that was refused can be saved once another user has made way', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const code = 'GIVEN-AWAY';
  const give = (body: object) => send(server, 'PATCH', '/admin/skus/2/', { body });
  assert.is((await give({ code })).status, 200);
  await page.goto(at('/skus/3'));
  await page.locator('#field-code').fill(code);
  const save = page.getByRole('button', { name: 'Save' });
  await save.click();
  const refusal = page.getByText(`${code} is the code of SKU 2`);
  await refusal.waitFor();
  assert.is((await give({ code: null })).status, 200);
  await save.click();
  await hears(page, 'status', 'is saved.');
  assert.is(await refusal.count(), 0);
  assert.is((await read(server, '/admin/skus/3/')).code, code);
  assert.equal(faults(visitor, [/422/]), []);
});

testInBrowser('a deletion of items passes over those that another user has deleted', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const ids: number[] = [];
  for (const name of ['Passed over A', 'Passed over B', 'Passed over C']) {
    ids.push((await make(server, '/admin/brands/', { name })).id);
  }
  await page.goto(at('/brands?q=Passed'));
  await page.getByRole('row').nth(3).waitFor();
  await page.getByLabel('Select all on this page').check();
  assert.is((await send(server, 'DELETE', `/admin/brands/${ids[0]}/`)).status, 204);
  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.getByRole('button', { name: 'Delete 3 items' }).click();
  await hears(page, 'status', '2 items were deleted.');
  // Nothing is left in the selection or in the list.
  await page.getByRole('group', { name: 'Selection' }).waitFor({ state: 'hidden' });
  await page.getByRole('cell', { name: 'Passed over' }).first().waitFor({ state: 'detached' });
  // What others have deleted is not restored.
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('1–2 of 2').waitFor();
  assert.equal(faults(visitor, [/404/]), []);
});

testInBrowser('SKUs that another user has created meanwhile are not created again', async () => {
  const { server, at, visit } = scene();
  const { brand_id, category1_id, category2_id, category3_id } = await read(
    server,
    '/admin/goods/1/',
  );
  const categories = { category1_id, category2_id, category3_id };
  const { id } = await make(server, '/admin/goods/', { name: 'Shared', brand_id, ...categories });
  const { id: spec_id } = await make(server, '/admin/specs/', { name: 'Size', spu_id: id });
  for (const value of ['S', 'M', 'L']) await make(server, '/admin/options/', { value, spec_id });
  const visitor = await visit('editor');
  const { page } = visitor;
  const other = (await visit('editor')).page;
  for (const each of [page, other]) {
    await each.goto(at(`/goods/${id}`));
    await (await missingSkus(each)).missing.click();
    await fillPrices(each.getByRole('dialog'));
  }
  await other.getByLabel('M', { exact: true }).uncheck();
  await other.getByRole('button', { name: 'Create', exact: true }).click();
  await hears(other, 'status', '2 SKUs were created.');
  const create = page.getByRole('button', { name: 'Create', exact: true });
  await create.click();
  await hears(page, 'alert', '2 of these SKUs already existed. Nothing was created.');
  // What is still missing is offered, with the prices that were typed.
  await page.getByRole('dialog', { name: 'Create 1 missing SKU' }).waitFor();
  await create.click();
  await hears(page, 'status', '1 SKU was created.');
  const skus: { readonly name: string }[] = await read(server, `/admin/skus/?spu_id=${id}`);
  assert.equal(
    skus.map(({ name }) => name),
    ['Shared, S', 'Shared, L', 'Shared, M'],
  );
  assert.equal(faults(visitor), []);
});

test.run();
