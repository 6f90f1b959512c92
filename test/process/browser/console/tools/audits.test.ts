/** The audit trail (spec 13.4). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { make, read } from '../../../../support/catalog.ts';
import { send, tokenFor } from '../../../../support/client.ts';
import { testInBrowser } from '../../browser.ts';
import { faults, makeAccount, stage } from '../console.ts';

const scene = stage();

for (const zone of ['Pacific/Auckland', 'America/Los_Angeles']) {
  testInBrowser(`a period of the audit trail is of days where the user is: ${zone}`, async () => {
    const { server, at, visit } = scene();
    const visitor = await visit('admin', { options: { timezoneId: zone } });
    const { page } = visitor;
    await make(server, '/admin/brands/', { name: `Made at a time in ${zone}` });
    const [{ time }] = await read(server, '/admin/audits/?order=desc&per_page=1');
    const dayAt = (offset: number) => {
      const instant = new Date(Date.parse(time) + offset * 86_400_000);
      // Sweden writes dates as ISO 8601 does.
      return new Intl.DateTimeFormat('sv-SE', { timeZone: zone }).format(instant);
    };
    const asked = page.waitForRequest((request) => request.url().includes('/admin/audits/'));
    await page.goto(at(`/audits?since=${dayAt(0)}&until=${dayAt(0)}`));
    await page.getByRole('link', { name: `Made at a time in ${zone}` }).waitFor();
    const sent = new URL((await asked).url()).searchParams;
    const bounds = ['since', 'until'].map((name) => Date.parse(sent.get(name) ?? ''));
    const format = { timeZone: zone, timeStyle: 'medium' } as const;
    const times = bounds.map((bound) => new Intl.DateTimeFormat('sv-SE', format).format(bound));
    assert.equal(times, ['00:00:00', '23:59:59']);
    assert.ok((sent.get('since') ?? '').endsWith('Z'));
    assert.is(await page.getByLabel('From').inputValue(), dayAt(0));
    await page.getByLabel('From').fill(dayAt(1));
    await page.getByLabel('From').press('Tab');
    await page.getByText('No entries.').waitFor();
    await page.getByLabel('From').fill('');
    await page.getByLabel('Until').fill(dayAt(-1));
    await page.getByLabel('Until').press('Tab');
    await page.getByText('No entries.').waitFor();
    assert.equal(faults(visitor), []);
  });
}

testInBrowser('the trail names roles in the language of the user', async () => {
  const { server, at, visit } = scene();
  await makeAccount(server, 'promoted', 'viewer');
  const sent = { body: { role: 'editor' }, token: await tokenFor('admin') };
  assert.is((await send(server, 'PATCH', '/admin/users/promoted/', sent)).status, 200);
  const { page } = await visit('admin', { options: { locale: 'de-DE' } });
  await page.goto(at('/audits'));
  const change = page.getByRole('listitem').filter({ hasText: 'geändert' });
  await change.getByRole('row', { name: 'Rolle Leser Bearbeiter' }).waitFor();
});

testInBrowser('the trail can be limited to accounts', async () => {
  const { server, at, visit } = scene();
  await make(server, '/admin/brands/', { name: 'No account' });
  await makeAccount(server, 'accountable', 'viewer');
  const visitor = await visit('admin');
  const { page } = visitor;
  await page.goto(at('/audits'));
  const shown = (text: string) => page.getByRole('listitem').filter({ hasText: text });
  await shown('No account').waitFor();
  await page.getByLabel('What').selectOption({ label: 'Accounts' });
  await shown('No account').waitFor({ state: 'detached' });
  await shown('accountable').waitFor();
  assert.equal(faults(visitor), []);
});

testInBrowser('a conflict of an undo is explained in German', async () => {
  const { server, at, visit } = scene();
  const token = await tokenFor('editor');
  for (const first_letter of ['Y', 'Z']) {
    await send(server, 'PATCH', '/admin/brands/4/', { body: { first_letter }, token });
  }
  const visitor = await visit('admin', { options: { locale: 'de-DE' } });
  const { page } = visitor;
  await page.goto(at('/audits?resource=brands&resource_id=4'));
  await page
    .getByRole('button', { name: /^Rückgängig/ })
    .nth(1)
    .click();
  await page
    .getByRole('alertdialog')
    .getByText(/^Marke 4 wurde seit Protokolleintrag \d+ geändert: Anfangsbuchstabe$/)
    .waitFor();
  assert.equal(faults(visitor, [/409/]), []);
});

testInBrowser(
  'the trail names webhooks and specifications of SKUs, and can be limited',
  async () => {
    const { server, at, visit } = scene();
    const webhook = { url: 'https://receiver.example/hook', active: false };
    const { id } = await make(server, '/admin/webhooks/', webhook);
    const [record] = await read(server, '/admin/skus/1/specs/');
    const removed = await send(server, 'DELETE', `/admin/skus/1/specs/${record.id}/`);
    assert.is(removed.status, 204);
    const visitor = await visit('admin');
    const { page } = visitor;
    await page.goto(at('/audits'));
    const entries = page.locator('.entry-head');
    for (const [label, title] of [
      ['Webhook', `Webhook ${id}`],
      ['Specification of a SKU', `Specification of a SKU ${record.id}`],
    ] as const) {
      await page.getByLabel('What').selectOption({ label });
      await entries.getByText(title, { exact: true }).waitFor();
      await entries.nth(1).waitFor({ state: 'detached' });
    }
    assert.equal(faults(visitor), []);
  },
);

testInBrowser('the trail names what entries refer to', async () => {
  const { server, at, visit } = scene();
  const records = '/admin/skus/3/specs/';
  const [{ id, spec_id, option_id }] = await read(server, records);
  const { name } = await read(server, '/admin/skus/3/');
  const spec = await read(server, `/admin/specs/${spec_id}/`);
  const option = await read(server, `/admin/options/${option_id}/`);
  const remove = async (path: string) =>
    assert.is((await send(server, 'DELETE', path)).status, 204);
  await remove(`${records}${id}/`);
  const gone = await make(server, '/admin/options/', { value: 'Not for long', spec_id });
  const other = await make(server, records, { spec_id, option_id: gone.id });
  await remove(`${records}${other.id}/`);
  await remove(`/admin/options/${gone.id}/`);
  const visitor = await visit('admin');
  const { page } = visitor;
  const reads: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('per_page=1')) reads.push(request.url());
  });
  const names = [`Specification ${spec.name} –`, `SKU ${name} –`];
  for (const [record, rows] of [
    [id, [...names, `Option ${option.value} –`]],
    // It is deleted.
    [other.id, [...names, 'Option Not for long –']],
  ] as const) {
    await page.goto(at(`/audits?resource=sku_specs&resource_id=${record}`));
    const entry = page.getByRole('listitem').filter({ hasText: 'deleted' });
    await entry.getByText('4 values').waitFor();
    await page.waitForLoadState('networkidle');
    assert.equal(reads.splice(0), [], 'no name is read for an entry that is not opened');
    await entry.getByText('4 values').click();
    for (const row of rows) await entry.getByRole('row', { name: row, exact: true }).waitFor();
    assert.is(reads.splice(0).length, 3);
  }
  await page.goto(at(`/audits?resource=options&resource_id=${gone.id}`));
  const added = page.getByRole('listitem').filter({ hasText: 'created' });
  await added.getByText('3 values').click();
  await added.getByRole('row', { name: `Specification – ${spec.name}`, exact: true }).waitFor();
  assert.equal(faults(visitor), []);
});

test.run();
