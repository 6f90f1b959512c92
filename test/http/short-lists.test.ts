/** Lists of the last hundred: imports, page builds, deliveries (spec 4.2, 5.4). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { read } from '../support/catalog.ts';
import { linksOf, type Received, send } from '../support/client.ts';
import { importInto } from '../support/imports.ts';
import { closeServices, openService, type Service } from '../support/service.ts';
import { until } from '../support/until.ts';

const IMPORTS = '/admin/imports/';
const BUILDS = '/admin/page-builds/';
const WEBHOOKS = '/admin/webhooks/';
const LENGTH = 3;

let server: Service;
let deliveries: string;

test.before(async () => {
  server = await openService();
  for (let each = 1; each <= LENGTH; each++) {
    await importInto(server, 'brands', `name\r\nBrand ${each}\r\n`);
    const { json } = await send(server, 'POST', BUILDS, { body: {} });
    await until('the build is finished', async () => {
      return (await read(server, `${BUILDS}${json.id}/`)).state === 'finished';
    });
  }
  const { json } = await send(server, 'POST', WEBHOOKS, {
    body: { url: 'https://example.com/', resources: ['books'], is_active: false },
  });
  deliveries = `${WEBHOOKS}${json.id}/deliveries/`;
});

test.after(closeServices);

const idsOf = ({ json }: Received): number[] => json.map(({ id }: { id: number }) => id);

test('all imports and builds are listed, the latest first, unless a page is requested', async () => {
  for (const path of [IMPORTS, BUILDS]) {
    const all = await send(server, 'GET', path);
    assert.is(all.headers.get('x-total-count'), String(LENGTH), path);
    assert.equal(
      idsOf(all),
      idsOf(all).toSorted((a, b) => b - a),
    );
    assert.is(all.json.length, LENGTH);

    const second = await send(server, 'GET', `${path}?page=2&per_page=2`);
    assert.equal(idsOf(second), idsOf(all).slice(2), path);
    assert.is(second.headers.get('x-total-count'), String(LENGTH));
    const { prev } = Object.fromEntries(linksOf(second));
    assert.equal(idsOf(await send(server, 'GET', prev ?? '')), idsOf(all).slice(0, 2), path);
    const offset = await send(server, 'GET', `${path}?offset=1&limit=1`);
    assert.equal(idsOf(offset), idsOf(all).slice(1, 2), path);
  }
  const none = await send(server, 'GET', `${deliveries}?page=1`);
  assert.equal(none.json, []);
  assert.is(none.headers.get('x-total-count'), '0');
});

test('an unknown, invalid, contradictory or repeated parameter is 400', async () => {
  for (const path of [IMPORTS, BUILDS, deliveries]) {
    for (const query of ['colour=red', 'page=0', 'page=1&offset=1', 'page=1&page=1']) {
      const refused = await send(server, 'GET', `${path}?${query}`);
      assert.is(refused.status, 400, `${path}?${query}`);
    }
  }
});

test('an import and a build have an entity tag, and If-None-Match with it is 304', async () => {
  for (const path of [IMPORTS, BUILDS]) {
    const [{ id }] = await read(server, path);
    const etag = (await send(server, 'GET', `${path}${id}/`)).headers.get('etag') ?? '';
    assert.match(etag, /^"[^"]+"$/);
    const again = await send(server, 'GET', `${path}${id}/`, {
      headers: { 'if-none-match': etag },
    });
    assert.is(again.status, 304, path);
  }
});

test.run();
