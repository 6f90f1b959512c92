/** What survives a kill of the server: whole bulk requests, and idempotency keys. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { machineDisk } from '../../../src/disk/disk.ts';
import { checkStore } from '../../../src/store/check.ts';
import {
  type Catalog,
  createCatalog,
  type Fields,
  read,
  skuFields,
} from '../../support/catalog.ts';
import { type Received, send } from '../../support/client.ts';
import { numbersTo } from '../../support/numbers.ts';
import { killServers, startServer } from '../../support/server.ts';

const BRANDS = '/admin/brands/';
const SKUS = '/admin/skus/';

test.after(killServers);

test('a bulk request of 10,000 SKUs is one change set, and survives a kill', async () => {
  const count = 10_000;
  const priceList = (of: Pick<Catalog, 'spu' | 'chain'>) =>
    numbersTo(count).map((index) => skuFields(of, { name: `Item ${index}`, price: index }));
  const first = await startServer({ args: ['--max-body', '8MiB'] });
  const of = await createCatalog(first);
  const changeSets = () => readdirSync(join(first.data, 'changes')).length;
  const before = changeSets();
  const created = await send(first, 'POST', `${SKUS}bulk/`, { body: priceList(of) });
  assert.is(created.status, 201, created.text.slice(0, 200));
  assert.is(changeSets(), before + 1);
  const ids = created.json.map(({ id }: Fields) => id);
  assert.equal(
    ids,
    numbersTo(count).map((index) => of.sku + 1 + index),
  );
  assert.is(created.json[9999].price, 9999);

  const changed = await send(first, 'PATCH', `${SKUS}bulk/`, {
    body: ids.map((id: number) => ({ id, price: id * 100 })),
  });
  assert.is(changed.status, 200, changed.text.slice(0, 200));
  assert.is(changed.json.length, count);
  assert.ok(changed.json.every(({ id, price }: Fields) => price === Number(id) * 100));
  await first.kill();

  const again = await startServer({ data: first.data });
  const list = await send(again, 'GET', `${SKUS}?per_page=1&page=${count + 1}`);
  assert.is(list.headers.get('x-total-count'), String(count + 1));
  assert.equal(list.json, [changed.json[count - 1]]);
  await again.kill();
  assert.equal(checkStore(machineDisk, first.data).findings, []);
});

test('retries with idempotency keys after a kill create every row exactly once', async () => {
  let own = await startServer();
  const keysAndBodies = numbersTo(30).map(
    (index) => [`key-${index}`, { name: `${index}` }] as const,
  );
  const post = (key: string, body: Fields) =>
    send(own, 'POST', BRANDS, { body, headers: { 'idempotency-key': key } });
  const outcomes: (Received | null)[] = [];
  // At the kill some requests are answered, some written and some not yet read.
  const sending = keysAndBodies.map(([key, body], index) =>
    post(key, body).then(
      (answer) => (outcomes[index] = answer),
      () => (outcomes[index] = null),
    ),
  );
  await Promise.race(sending);
  await own.kill();
  await Promise.all(sending);
  own = await startServer({ data: own.data });
  for (const [index, [key, body]] of keysAndBodies.entries()) {
    const answer = await post(key, body);
    assert.is(answer.status, 201);
    const before = outcomes[index];
    if (!before) continue;
    assert.is(answer.text, before.text, `${index}`);
    assert.is(answer.headers.get('idempotent-replayed'), 'true', `${index}`);
  }
  const list: Fields[] = await read(own, `${BRANDS}?limit=1000`);
  const names = list.map(({ name }) => String(name)).toSorted();
  assert.equal(names, keysAndBodies.map(([, { name }]) => name).toSorted());
  await own.stop();
  assert.equal(checkStore(machineDisk, own.data).findings, []);
});

test.run();
