/** A write that is sent again because its response was lost (spec 13.5). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { make, read } from '../../../../support/catalog.ts';
import { send } from '../../../../support/client.ts';
import { until } from '../../../../support/until.ts';
import { testInBrowser } from '../../browser.ts';
import { faults, fillPrices, hears, hold, loseResponse, missingSkus, stage } from '../console.ts';

const scene = stage();

testInBrowser('an item is created once if it is changed after a lost response', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const names = async () =>
    (await read(server, '/admin/brands/?q=Unacknowledged')).map(
      ({ name }: { name: string }) => name,
    );
  await page.goto(at('/brands/new'));
  const name = page.getByLabel('Name');
  const save = page.getByRole('button', { name: 'Save' });
  await name.fill('Unacknowledged');
  await loseResponse(page, '**/admin/brands/', 'POST');
  await save.click();
  await hears(page, 'alert', 'The server does not answer.');
  await name.fill('Unacknowledged, and changed');
  // The item exists, but its address is not shown yet.
  await page.route('**/admin/brands/*/', (route) => route.abort(), { times: 1 });
  await save.click();
  await page.getByRole('heading', { name: 'Unacknowledged', exact: true }).waitFor();
  await page.getByText('Saving…').waitFor({ state: 'detached' });
  await save.click();
  await page.waitForURL(/\/brands\/\d+$/);
  await page.getByRole('heading', { name: 'Unacknowledged, and changed' }).waitFor();
  assert.equal(await names(), ['Unacknowledged, and changed']);
  // What follows a draft that was dropped is another item.
  await page.unroute('**/admin/brands/');
  await page.goto(at('/brands/new'));
  await name.fill('Unacknowledged again');
  await loseResponse(page, '**/admin/brands/', 'POST');
  await save.click();
  await hears(page, 'alert', 'The server does not answer.');
  page.once('dialog', (question) => question.accept());
  await page.reload();
  await page.getByRole('button', { name: 'Discard changes' }).click();
  await name.fill('Unacknowledged no more');
  await save.click();
  await hears(page, 'status', 'Unacknowledged no more is saved.');
  const all = ['Unacknowledged again', 'Unacknowledged no more', 'Unacknowledged, and changed'];
  assert.equal((await names()).toSorted(), all);
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

testInBrowser('what was typed after a lost response is no conflict with the user', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const path = '**/admin/skus/7/';
  const sku = async () => read(server, '/admin/skus/7/');
  const save = page.getByRole('button', { name: 'Save', exact: true });
  const stock = page.getByLabel('Stock');
  const conflict = page.getByRole('alertdialog', { name: 'This item has been changed meanwhile' });
  const saveInVain = async (typed: string) => {
    await stock.fill(typed);
    await loseResponse(page, path, 'PATCH');
    await save.click();
    await hears(page, 'alert', 'The server does not answer.');
    assert.is((await sku()).stock, Number(typed));
    await page.unroute(path);
  };
  await page.goto(at('/skus/7'));
  const option = page.getByRole('group', { name: 'Specifications' }).getByRole('combobox').first();
  await option.selectOption({ index: 2 });
  await saveInVain('4101');
  const { specs: sent } = await sku();
  await option.selectOption({ index: 0 });
  await stock.fill('4102');
  await page.getByLabel('Caption').fill('Typed later');
  await save.click();
  await hears(page, 'status', 'is saved.');
  const { stock: now, caption, specs } = await sku();
  assert.equal([now, caption, specs.length], [4102, 'Typed later', sent.length - 1]);
  // What another user writes over it is one, and so is what was not typed anew.
  await saveInVain('4103');
  await send(server, 'PATCH', '/admin/skus/7/', { body: { stock: 4104 } });
  await stock.fill('4105');
  await save.click();
  await conflict.waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Discard changes' }).click();
  await page.reload();
  await saveInVain('4106');
  await page.getByRole('button', { name: 'Discard changes' }).click();
  await page.getByLabel('Caption').fill('Typed last');
  await save.click();
  await conflict.waitFor();
  assert.is((await sku()).stock, 4106);
  assert.equal(faults(visitor, [/ERR_FAILED/, /412/]), []);
});

testInBrowser('a conflict shows no value as theirs that the user has sent before', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const path = '**/admin/skus/6/';
  const stock = page.getByLabel('Stock');
  const save = page.getByRole('button', { name: 'Save', exact: true });
  const conflict = page.getByRole('alertdialog', { name: 'This item has been changed meanwhile' });
  await page.goto(at('/skus/6'));
  for (const typed of ['4151', '4152']) {
    await stock.fill(typed);
    await page.route(path, async (route) => {
      if (route.request().method() !== 'PATCH') return route.continue();
      const response = await route.fetch();
      await (response.ok() ? route.abort() : route.fulfill({ response }));
    });
    await save.click();
    await until(`${typed} is there`, async () => {
      return (await read(server, '/admin/skus/6/')).stock === Number(typed);
    });
    await hears(page, 'alert', 'The server does not answer.');
    await page.unroute(path);
  }
  await send(server, 'PATCH', '/admin/skus/6/', { body: { caption: 'Of another user' } });
  await stock.fill('4153');
  await save.click();
  await conflict.getByRole('row', { name: /^Caption/ }).waitFor();
  assert.is(await conflict.getByRole('row').count(), 2);
  await conflict.getByRole('button', { name: 'Save the chosen version' }).click();
  await hears(page, 'status', 'is saved.');
  const { stock: now, caption } = await read(server, '/admin/skus/6/');
  assert.equal([now, caption], [4153, 'Of another user']);
  assert.equal(faults(visitor, [/ERR_FAILED/, /412/]), []);
});

testInBrowser('a value that is typed back after a lost response is saved', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const stock = page.getByLabel('Stock');
  const save = page.getByRole('button', { name: 'Save', exact: true });
  await page.goto(at('/skus/8'));
  const before = await stock.inputValue();
  await stock.fill('4201');
  await loseResponse(page, '**/admin/skus/8/', 'PATCH');
  await save.click();
  await hears(page, 'alert', 'The server does not answer.');
  await stock.fill(before);
  // It is not known what the server has.
  await page.getByText('Unsaved changes').waitFor();
  await save.click();
  await hears(page, 'status', 'is saved.');
  await page.getByText('Unsaved changes').waitFor({ state: 'hidden' });
  assert.is((await read(server, '/admin/skus/8/')).stock, Number(before));
  assert.equal(faults(visitor, [/ERR_FAILED/, /412/]), []);
});

testInBrowser('a number of a list is typed anew after a lost response', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/skus?q=kettle'));
  const value = page.getByRole('row').nth(1).getByTitle('Change').last();
  const field = page.getByRole('textbox', { name: 'Stock', exact: true });
  const before = await value.innerText();
  const [{ id }] = await read(server, '/admin/skus/?q=kettle');
  const stock = async () => (await read(server, `/admin/skus/${id}/`)).stock;
  const saveInVain = async (typed: string) => {
    await value.click();
    await field.fill(typed);
    await loseResponse(page, '**/admin/skus/*/', 'PATCH');
    await field.press('Enter');
    await hears(page, 'alert', 'The server does not answer.');
    assert.is(await stock(), Number(typed));
    await page.unroute('**/admin/skus/*/');
  };
  const save = async (typed: string) => {
    await field.fill(typed);
    await field.press('Enter');
    await hears(page, 'status', `Stock is now ${typed}.`);
    await field.waitFor({ state: 'hidden' });
    assert.is(await stock(), Number(typed));
  };
  await saveInVain('711');
  await save(before);
  await saveInVain('712');
  await save('713');
  // What was saved of what is dropped is shown.
  await saveInVain('714');
  await field.press('Escape');
  await until('the list is read again', async () => (await value.innerText()) === '714');
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

testInBrowser(
  'what was typed after several lost responses is no conflict with the user',
  async () => {
    const { server, at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    const sku = async () => (await read(server, '/admin/skus/9/')).stock;
    /** The first value reaches the server, the second one does not. */
    const saveInVainTwice = async (save: (value: string) => Promise<void>, ...typed: string[]) => {
      let reached = false;
      await page.route('**/admin/skus/9/', async (route) => {
        if (route.request().method() !== 'PATCH') return route.continue();
        if (!reached) await route.fetch();
        reached = true;
        await route.abort();
      });
      for (const value of typed) {
        const failed = page.waitForEvent('requestfailed');
        await save(value);
        await failed;
      }
      await page.unroute('**/admin/skus/9/');
      assert.is(await sku(), Number(typed[0]));
    };
    const saveForm = async (value: string) => {
      await page.getByLabel('Stock').fill(value);
      await page.getByRole('button', { name: 'Save', exact: true }).click();
    };
    await page.goto(at('/skus/9'));
    await saveInVainTwice(saveForm, '5101', '5102');
    await saveForm('5103');
    await hears(page, 'status', 'is saved.');
    assert.is(await sku(), 5103);
    const field = page.getByRole('textbox', { name: 'Stock', exact: true });
    const saveCell = async (value: string) => {
      await field.fill(value);
      await field.press('Enter');
    };
    await page.goto(at('/skus'));
    await page.getByRole('button', { name: '5,103', exact: true }).click();
    await saveInVainTwice(saveCell, '5104', '5105');
    await saveCell('5106');
    await hears(page, 'status', 'Stock is now 5,106.');
    assert.is(await sku(), 5106);
    assert.equal(faults(visitor, [/ERR_FAILED/, /412/]), []);
  },
);

testInBrowser('what was typed after a lost response and a reload is saved', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const price = page.getByLabel('Price', { exact: true });
  const save = page.getByRole('button', { name: 'Save', exact: true });
  await page.goto(at('/skus/11'));
  const saved = async () => (await read(server, '/admin/skus/11/')).price;
  page.on('dialog', (dialog) => void dialog.accept());
  const saveInVain = async (typed: string) => {
    await price.fill(typed);
    await loseResponse(page, '**/admin/skus/11/', 'PATCH');
    await save.click();
    await hears(page, 'alert', 'The server does not answer.');
    await page.unroute('**/admin/skus/11/');
    assert.is(await saved(), Number(typed) * 100);
  };
  await saveInVain('6101.00');
  await page.reload();
  await page.getByText('Your unsaved changes were restored.').waitFor();
  await page.getByRole('button', { name: 'Deutsch' }).click();
  await page.getByLabel('Bestand').fill('6');
  await page.getByLabel('Preis', { exact: true }).fill('6102,00');
  await page.getByRole('button', { name: 'Speichern' }).click();
  await hears(page, 'status', 'ist gespeichert.');
  assert.is(await saved(), 610_200);
  await page.getByRole('button', { name: 'English' }).click();
  await saveInVain('6103.00');
  await price.fill('6102.00');
  await page.reload();
  await page.getByText('Your unsaved changes were restored.').waitFor();
  assert.is(await price.inputValue(), '6102.00');
  await save.click();
  await hears(page, 'status', 'is saved.');
  assert.is(await saved(), 610_200);
  assert.equal(faults(visitor, [/ERR_FAILED/, /412/]), []);
});

testInBrowser('a switch of a list shows what the server has after a lost response', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const launched = async () => (await read(server, '/admin/skus/10/')).is_launched;
  const before = await launched();
  await page.goto(at('/skus'));
  const control = page
    .getByRole('row')
    .filter({ has: page.locator('a[href$="/skus/10"]') })
    .getByRole('switch');
  await loseResponse(page, '**/admin/skus/10/', 'PATCH');
  await control.click();
  await hears(page, 'alert', 'The server does not answer.');
  assert.is(await launched(), !before);
  await until('the list shows it', async () => (await control.isChecked()) === !before);
  assert.is(await page.getByRole('alert').count(), 1, 'the failure is still said');
  await control.click();
  await hears(page, 'status', 'On sale is now');
  assert.is(await launched(), before);
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

testInBrowser('a switch that could not be sent leaves no failure of the list', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/skus'));
  const control = page.getByRole('switch').nth(1);
  await control.waitFor();
  await page.route('**/admin/skus/**', (route) => route.abort());
  await control.click();
  await hears(page, 'alert', 'The server does not answer.');
  await page.unroute('**/admin/skus/**');
  await control.click();
  await hears(page, 'status', 'On sale is now');
  assert.is(await page.getByRole('button', { name: 'Try again' }).count(), 0);
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

testInBrowser('a list shows a bulk edit that is left after a lost response', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/skus?spu_id=4'));
  await page.getByLabel('Select all on this page').check();
  await page.getByRole('button', { name: 'Edit…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('What to do').selectOption({ label: 'Stock: set' });
  await dialog.getByLabel('Stock', { exact: true }).fill('4801');
  await dialog.getByRole('button', { name: 'Show what changes' }).click();
  await loseResponse(page, '**/admin/skus/bulk/', 'PATCH');
  await dialog.getByRole('button', { name: /^Change \d+ items?$/ }).click();
  await dialog.getByText('The server does not answer.').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('button', { name: '4,801', exact: true }).first().waitFor();
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

testInBrowser('a list that is read after a lost write leaves the message about it', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/skus?spu_id=4'));
  await page.getByLabel('Select all on this page').check();
  await page.getByRole('button', { name: 'Edit…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('What to do').selectOption({ label: 'Take off sale' });
  await dialog.getByRole('button', { name: 'Show what changes' }).click();
  const left = Promise.withResolvers<void>();
  await page.route('**/admin/skus/bulk/', async (route) => {
    await left.promise;
    await route.abort();
  });
  await dialog.getByRole('button', { name: /^Change \d+ items?$/ }).click();
  await dialog.getByText('Saving…').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Leave' }).click();
  await dialog.waitFor({ state: 'detached' });
  const list = page.waitForResponse('**/admin/skus/?*');
  left.resolve();
  await list;
  const failure = page.getByText('The server does not answer.');
  await failure.waitFor();
  // It ends with the answer to another write.
  await page.getByRole('switch').first().click();
  await hears(page, 'status', 'On sale is now');
  assert.is(await failure.count(), 0);
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

testInBrowser('the name of an option is typed back after a lost response', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/goods/2'));
  const option = page.locator('.chips .value').first();
  const field = page.getByRole('textbox', { name: 'Value', exact: true });
  const before = await option.innerText();
  await option.click();
  await field.fill('Renamed in vain');
  await loseResponse(page, '**/admin/options/*/', 'PATCH');
  await field.press('Enter');
  await hears(page, 'alert', 'The server does not answer.');
  assert.is((await read(server, '/admin/options/?q=vain')).length, 1);
  await field.fill(before);
  await field.press('Enter');
  await field.waitFor({ state: 'hidden' });
  assert.is(await option.innerText(), before);
  assert.equal(await read(server, '/admin/options/?q=vain'), []);
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

testInBrowser(
  'a value that is typed back is saved after a conflict with another user',
  async () => {
    const { server, at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    const stock = page.getByLabel('Stock');
    const save = page.getByRole('button', { name: 'Save', exact: true });
    await page.goto(at('/skus/8'));
    const before = await stock.inputValue();
    await stock.fill('4301');
    await loseResponse(page, '**/admin/skus/8/', 'PATCH');
    await save.click();
    await hears(page, 'alert', 'The server does not answer.');
    await page.unroute('**/admin/skus/8/');
    await send(server, 'PATCH', '/admin/skus/8/', { body: { caption: 'Theirs' } });
    await stock.fill(before);
    await save.click();
    const dialog = page.getByRole('alertdialog', { name: 'This item has been changed meanwhile' });
    await dialog.waitFor();
    const caption = dialog.getByRole('row', { name: /^Caption/ });
    assert.ok(await caption.getByLabel('Theirs').isChecked());
    assert.is(await dialog.getByRole('row').count(), 2, 'the header, and what others have changed');
    await dialog.getByRole('button', { name: 'Save the chosen version' }).click();
    await hears(page, 'status', 'is saved.');
    const sku = await read(server, '/admin/skus/8/');
    assert.equal([sku.stock, sku.caption], [Number(before), 'Theirs']);
    assert.equal(faults(visitor, [/ERR_FAILED/, /412/]), []);
  },
);

testInBrowser('an item that never reached the server, and is refused, is corrected', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const sent: string[] = [];
  await page.route('**/admin/brands/', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    sent.push(JSON.parse(route.request().postData() ?? '').name);
    if (sent.length === 1) return route.abort();
    if (sent.length > 2) return route.continue();
    return route.fulfill({ status: 422, json: { error: 'is refused by the test' } });
  });
  await page.goto(at('/brands/new'));
  await page.getByLabel('Name').fill('Not yet corrected');
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'alert', 'The server does not answer.');
  await page.getByLabel('Name').fill('Corrected');
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'status', 'Corrected is saved.');
  assert.equal(sent, ['Not yet corrected', 'Not yet corrected', 'Corrected']);
  assert.is((await read(server, '/admin/brands/?q=corrected')).length, 1);
  assert.equal(faults(visitor, [/ERR_FAILED/, /422/]), []);
});

testInBrowser('a form that is left while its creation is repeated changes no item', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/brands/new'));
  await page.getByLabel('Name').fill('Left later');
  await page.getByLabel('Logo').fill('left-later.png');
  await loseResponse(page, '**/admin/brands/', 'POST');
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'alert', 'The server does not answer.');
  await page.getByLabel('Name').fill('Left now');
  await page.unroute('**/admin/brands/');
  const release = await hold(page, '**/admin/brands/', 'POST');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saving…').waitFor();
  await page.getByRole('link', { name: 'Books', exact: true }).click();
  await page.getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('table', { name: 'Books' }).waitFor();
  release();
  await hears(page, 'status', 'Left later is saved.');
  const [{ name, logo }] = await read(server, '/admin/brands/?q=Left');
  assert.equal([name, logo], ['Left later', 'left-later.png']);
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

testInBrowser('missing SKUs are created once if a price is changed afterwards', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/goods/1'));
  const { missing, count } = await missingSkus(page);
  const skus = () => read(server, '/admin/skus/?spu_id=1&per_page=100&sortby=id&order=desc');
  const before = (await skus()).length;
  await missing.click();
  const dialog = page.getByRole('dialog');
  await fillPrices(dialog);
  await loseResponse(page, '**/admin/skus/bulk/', 'POST');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByText('The server does not answer.').waitFor();
  await dialog.getByLabel('Price', { exact: true }).fill('799');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.waitFor({ state: 'hidden' });
  const now: { price: number }[] = await skus();
  assert.is(now.length, before + count);
  assert.ok(now.slice(0, count).every(({ price }) => price === 79_900));
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

testInBrowser('missing SKUs are those that are chosen after a lost response', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const spu = await make(server, '/admin/goods/', {
    ...(await read(server, '/admin/goods/1/')),
    name: 'Four combinations',
  });
  for (const name of ['Size', 'Tone']) {
    const spec = await make(server, '/admin/specs/', { name, spu_id: spu.id });
    for (const value of ['1', '2']) {
      await make(server, '/admin/options/', { value, spec_id: spec.id });
    }
  }
  await page.goto(at(`/goods/${spu.id}`));
  const { missing, count } = await missingSkus(page);
  assert.is(count, 4);
  await missing.click();
  const dialog = page.getByRole('dialog');
  const choice = (label: string) => dialog.getByRole('checkbox', { name: label });
  await choice('1, 1').uncheck();
  await fillPrices(dialog);
  await loseResponse(page, '**/admin/skus/bulk/', 'POST');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByText('The server does not answer.').waitFor();
  await choice('1, 1').check();
  await choice('2, 2').uncheck();
  await dialog.getByLabel('Stock').fill('5');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await hears(page, 'status', '3 SKUs were created.');
  const made: { name: string; stock: number }[] = await read(
    server,
    `/admin/skus/?spu_id=${spu.id}&sortby=name`,
  );
  assert.equal(
    made.map(({ name, stock }) => `${name}: ${stock}`),
    ['1, 1', '1, 2', '2, 1'].map((each) => `Four combinations, ${each}: 5`),
  );
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

testInBrowser('missing SKUs are those that are chosen after several lost responses', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const spu = await make(server, '/admin/goods/', {
    ...(await read(server, '/admin/goods/1/')),
    name: 'Five sizes',
  });
  const spec = await make(server, '/admin/specs/', { name: 'Size', spu_id: spu.id });
  const sizes = ['A', 'B', 'C', 'D', 'E'];
  for (const value of sizes) await make(server, '/admin/options/', { value, spec_id: spec.id });
  await page.goto(at(`/goods/${spu.id}`));
  await (await missingSkus(page)).missing.click();
  const dialog = page.getByRole('dialog');
  await fillPrices(dialog);
  // Each attempt repeats the requests before it. Only the last one of an attempt has no response.
  let answered = 0;
  await page.route('**/admin/skus/bulk/', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    const response = await route.fetch();
    if (answered-- > 0) return route.fulfill({ response });
    await route.abort();
  });
  const attempts = ['AB', 'BC', 'ACD', 'ADE'];
  for (const [nth, wanted] of attempts.entries()) {
    answered = nth;
    for (const size of sizes) {
      await dialog
        .getByRole('checkbox', { name: size, exact: true })
        .setChecked(wanted.includes(size));
    }
    if (nth === attempts.length - 1) await page.unroute('**/admin/skus/bulk/');
    await dialog.getByLabel('Stock').fill(String(nth + 1));
    await dialog.getByRole('button', { name: 'Create' }).click();
    if (nth < attempts.length - 1) await dialog.getByText('The server does not answer.').waitFor();
  }
  await dialog.waitFor({ state: 'hidden' });
  const made: { name: string; stock: number }[] = await read(
    server,
    `/admin/skus/?spu_id=${spu.id}&sortby=name`,
  );
  assert.equal(
    made.map(({ name, stock }) => `${name}: ${stock}`),
    ['A', 'D', 'E'].map((size) => `Five sizes, ${size}: 4`),
  );
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

testInBrowser('a brand of a dialog is created once if it is changed afterwards', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/goods/1'));
  const brand = page.getByRole('combobox', { name: 'Brand' });
  await brand.fill('Dialogue');
  await page.getByRole('option', { name: 'Create “Dialogue”…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('First letter').fill('D');
  await loseResponse(page, '**/admin/brands/', 'POST');
  const create = dialog.getByRole('button', { name: 'Create' });
  await create.click();
  await dialog.getByText('The server does not answer.').waitFor();
  await dialog.getByLabel('Name').fill('Dialogue & Sons');
  // The brand exists; that it is to be changed does not reach the server.
  await page.route('**/admin/brands/*/', (route) => route.abort(), { times: 1 });
  await create.click();
  await dialog.getByText('The server does not answer.').waitFor();
  await create.click();
  await dialog.waitFor({ state: 'hidden' });
  assert.is(await brand.inputValue(), 'Dialogue & Sons');
  const found: { name: string }[] = await read(server, '/admin/brands/?q=Dialogue');
  assert.equal(
    found.map(({ name }) => name),
    ['Dialogue & Sons'],
  );
  // It is no draft of a form of its own.
  await page.goto(at('/brands/new'));
  assert.is(await page.getByLabel('Name').inputValue(), '');
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

testInBrowser('an option is added once if it is changed afterwards', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  for (const path of ['/goods/1', '/skus/1']) {
    await page.goto(at(path));
    if (path === '/skus/1') await page.getByRole('button', { name: 'Add another…' }).last().click();
    const option = page.getByLabel('New option of Storage');
    await option.fill(`7 TB of ${path}`);
    await loseResponse(page, '**/admin/options/', 'POST');
    await option.press('Enter');
    await hears(page, 'alert', 'The server does not answer.');
    await option.fill(`8 TB of ${path}`);
    await option.press('Enter');
    await page.getByText(`8 TB of ${path}`, { exact: true }).first().waitFor({ state: 'attached' });
    const found: { value: string }[] = await read(server, `/admin/options/?q=${path}`);
    assert.equal(
      found.map(({ value }) => value),
      [`8 TB of ${path}`],
    );
    await page.unrouteAll();
  }
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

testInBrowser('an import without a response is not prepared anew', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/import'));
  const buffer = Buffer.from('name\nImported once\n');
  await page.getByLabel('File').setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer });
  await page.getByLabel('Into').selectOption('brands');
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('button', { name: 'Check', exact: true }).click();
  await page.getByText('Nothing is written yet').waitFor();
  await loseResponse(page, '**/admin/brands/imports/**', 'POST');
  const back = page.getByRole('button', { name: 'Back', exact: true });
  assert.is(await back.count(), 1);
  const apply = page.getByRole('button', { name: 'Apply 1 change' });
  await apply.click();
  await page.getByRole('heading', { name: 'It is not known whether the file was' }).waitFor();
  assert.is(await back.count(), 0);
  assert.is(await page.getByText('Nothing is written yet').count(), 0);
  await page.getByRole('link', { name: 'Books', exact: true }).click();
  await page.getByRole('button', { name: 'Stay' }).click();
  await apply.click();
  await page.getByRole('heading', { name: 'Imported' }).waitFor();
  assert.is((await read(server, '/admin/brands/?q=Imported')).length, 1);
  await page.getByRole('link', { name: 'Books', exact: true }).click();
  await page.getByRole('table', { name: 'Books' }).waitFor();
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

test.run();
