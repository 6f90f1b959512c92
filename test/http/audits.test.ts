/** The audit trail: which writes leave entries, who may read them, and how they are listed. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { machineDisk } from '../../src/disk/disk.ts';
import {
  usersDisable,
  usersEnable,
  usersRemove,
  usersRole,
} from '../../src/cli/commands/access/users.ts';
import { changeAccess } from '../../src/auth/access.ts';
import { addAccount } from '../../src/auth/accounts.ts';
import { checkStore } from '../../src/store/check.ts';
import {
  type Catalog,
  createCatalog,
  type Fields,
  make,
  read,
  skuFields,
  spuFields,
} from '../support/catalog.ts';
import { linksOf, type Received, type Sent, send, tokenFor } from '../support/client.ts';
import { accountOf } from '../support/credentials.ts';
import { quickDisk } from '../support/disk.ts';
import { closeServices, contextOf, openService, type Service } from '../support/service.ts';

const AUDITS = '/admin/audits/';
const BRANDS = '/admin/brands/';
const SKUS = '/admin/skus/';

let server: Service;
let catalog: Catalog;

test.before(async () => {
  server = await openService();
  catalog = await createCatalog(server);
});

test.after(closeServices);

interface Entry {
  readonly id: number;
  readonly time: string;
  readonly subject: string | null;
  readonly action: string;
  readonly resource: string;
  readonly resource_id: number;
  readonly before: Fields | null;
  readonly after: Fields | null;
}

/** The whole trail, the oldest entry first. */
const trail = (at: Service = server): Promise<Entry[]> => read(at, `${AUDITS}?per_page=1000`);

/** Sends a request that responds with this status. @returns the entries that it leaves. */
async function leftBy(
  status: number,
  method: string,
  path: string,
  sent: Sent = {},
): Promise<Entry[]> {
  const { length } = await trail();
  const answer = await send(server, method, path, sent);
  assert.is(answer.status, status, answer.text);
  return (await trail()).slice(length);
}

const sequenceOf = ({ headers }: Received) => Number(headers.get('catalog-sequence'));

const told = (entries: readonly Entry[]) =>
  entries.map(({ action, resource, resource_id }) => `${action} ${resource} ${resource_id}`);

test('an entry has id, time, subject, action, resource, resource_id, before and after, nothing else', async () => {
  const token = await tokenFor('editor', { sub: 'ann' });
  const begun = new Date().toISOString();
  const [created, ...none] = await leftBy(201, 'POST', BRANDS, { token, body: { name: 'Ondine' } });
  const ended = new Date().toISOString();
  assert.equal(none, []);
  const { id, time, resource_id, ...rest } = created as Entry;
  const row = { id: resource_id, name: 'Ondine', logo: '', first_letter: '' };
  const wanted = { subject: 'ann', action: 'create', resource: 'brands', before: null, after: row };
  assert.equal(rest, wanted);
  assert.ok(begun <= time && time <= ended, time);
  assert.is(time, new Date(time).toISOString());
  assert.equal(Object.keys(created as Entry), [
    'id',
    'time',
    'subject',
    'action',
    'resource',
    'resource_id',
    'before',
    'after',
  ]);
  assert.equal(await read(server, `${AUDITS}${id}/`), created);

  const path = `${BRANDS}${resource_id}/`;
  const [changed] = await leftBy(200, 'PATCH', path, { token, body: { logo: 'o.png' } });
  const now = { ...row, logo: 'o.png' };
  assert.equal([changed?.action, changed?.before, changed?.after], ['update', row, now]);
  const [replaced] = await leftBy(200, 'PUT', path, { body: { name: 'Pallas' } });
  assert.equal([replaced?.before, replaced?.after], [now, { ...row, name: 'Pallas' }]);
  assert.is(replaced?.subject, 'tester');
  const [gone] = await leftBy(204, 'DELETE', path, { token });
  assert.equal(
    [gone?.action, gone?.before, gone?.after],
    ['delete', { ...row, name: 'Pallas' }, null],
  );
  const ids = [created, changed, replaced, gone].map((entry) => entry?.id);
  assert.equal(ids, [id, id + 1, id + 2, id + 3]);
});

test('a create in any collection under /admin/ leaves one entry with the attributes as stored', async () => {
  const { brand, chain, spu, silver } = catalog;
  const bodies: Readonly<Record<string, Fields>> = {
    brands: { name: 'B' },
    categories: { name: 'C', parent_id: chain[1] },
    goods: spuFields({ brand, chain }),
    specs: { name: 'S', spu_id: spu },
    options: { value: 'O', spec_id: silver.spec_id },
    skus: skuFields({ spu, chain }),
    [`skus/${catalog.sku}/specs`]: { ...silver },
  };
  for (const [segment, body] of Object.entries(bodies)) {
    const path = `/admin/${segment}/`;
    const left = await leftBy(201, 'POST', path, { body });
    assert.is(left.length, 1, path);
    const [{ resource, resource_id, after }] = left as [Entry];
    assert.is(resource, segment.includes('/') ? 'sku_specs' : segment);
    const shown = await read(server, `${path}${resource_id}/`);
    const { spu_id, ...others } = body as { spu_id?: number };
    assert.equal(after, {
      id: resource_id,
      // Names of other rows and the records of a SKU are not stored in the row.
      ...Object.fromEntries(Object.keys(after ?? {}).map((name) => [name, shown[name]])),
      ...(spu_id === undefined ? {} : { goods_id: spu_id }),
      ...(resource === 'sku_specs' ? { sku_id: catalog.sku } : {}),
      ...others,
    });
  }
});

test('a SKU and each of its records have separate entries, even if they are deleted together', async () => {
  const { silver, large } = catalog;
  const body = skuFields(catalog, { specs: [silver, large] });
  const created = await leftBy(201, 'POST', SKUS, { body });
  const [sku = 0, first = 0] = created.map(({ resource_id }) => resource_id);
  assert.equal(told(created), [
    `create skus ${sku}`,
    `create sku_specs ${first}`,
    `create sku_specs ${first + 1}`,
  ]);
  assert.equal(created[1]?.after, { id: first, sku_id: sku, ...silver });
  const [one] = new Set(created.map(({ time, subject }) => `${time} ${subject}`));
  assert.is(one, `${created[0]?.time} tester`);

  const put = await leftBy(200, 'PUT', `${SKUS}${sku}/`, { body: { ...body, specs: [silver] } });
  assert.equal(told(put), [`update skus ${sku}`, `create sku_specs ${first + 2}`]);
  assert.equal(put[0]?.before, put[0]?.after, 'the SKU itself was written as it was');
  const path = `${SKUS}${sku}/specs/${first}/`;
  assert.equal(told(await leftBy(204, 'DELETE', path)), [`delete sku_specs ${first}`]);

  const gone = await leftBy(204, 'DELETE', `${SKUS}${sku}/`);
  assert.equal(told(gone), [
    `delete skus ${sku}`,
    `delete sku_specs ${first + 1}`,
    `delete sku_specs ${first + 2}`,
  ]);
  assert.equal(gone[1]?.before, { id: first + 1, sku_id: sku, ...large });
  assert.ok(gone.every(({ after }) => after === null));
});

test('a bulk write leaves an entry for each element, in the order of the elements', async () => {
  const names = ['A', 'B', 'C'].map((name) => ({ name }));
  const created = await leftBy(201, 'POST', `${BRANDS}bulk/`, { body: names });
  const ids = created.map(({ resource_id }) => resource_id);
  assert.equal(
    created.map(({ after }) => after?.['name']),
    ['A', 'B', 'C'],
  );
  const turned = ids.toReversed();
  const body = turned.map((id) => ({ id, logo: `${id}.png` }));
  const changed = await leftBy(200, 'PATCH', `${BRANDS}bulk/`, { body });
  assert.equal(
    told(changed),
    turned.map((id) => `update brands ${id}`),
  );
  const subjects = [...created, ...changed].map(({ subject }) => subject);
  assert.equal(new Set(subjects), new Set(['tester']));
});

test('a rejected request leaves no entry', async () => {
  const { brand, spu, sku } = catalog;
  const item = `${BRANDS}${brand}/`;
  const viewer = await tokenFor('viewer');
  const stale = { 'if-match': '"stale"' };
  const refused: readonly (readonly [number, string, string, Sent])[] = [
    [422, 'POST', BRANDS, { body: { name: ' ' } }],
    [422, 'POST', '/admin/specs/', { body: { name: 'S', spu_id: 99999 } }],
    [422, 'POST', `${BRANDS}bulk/`, { body: [{ name: 'Good' }, { name: '' }] }],
    [
      422,
      'POST',
      '/admin/specs/bulk/',
      {
        body: [
          { name: 'S', spu_id: spu },
          { name: 'S', spu_id: 9999 },
        ],
      },
    ],
    [422, 'PATCH', `${BRANDS}bulk/`, { body: [{ id: brand, logo: 'x' }, { id: 99999 }] }],
    [422, 'PATCH', `${SKUS}${sku}/`, { body: { specs: [{ spec_id: 1, option_id: 99999 }] } }],
    [400, 'POST', BRANDS, { body: '{' }],
    [401, 'POST', BRANDS, { body: { name: 'B' }, token: null }],
    [403, 'POST', BRANDS, { body: { name: 'B' }, token: viewer }],
    [404, 'PATCH', `${BRANDS}99999/`, { body: {} }],
    [405, 'DELETE', BRANDS, {}],
    [409, 'DELETE', item, {}],
    [412, 'PATCH', item, { body: { logo: 'x' }, headers: stale }],
    [415, 'POST', BRANDS, { body: '{}', headers: { 'content-type': 'text/plain' } }],
  ];
  for (const [status, method, path, sent] of refused) {
    assert.equal(await leftBy(status, method, path, sent), [], `${status} ${method} ${path}`);
  }
});

test('a read, a write of a book and a replayed request leave no entry', async () => {
  assert.equal(await leftBy(200, 'GET', SKUS), []);
  const book = { name: 'Emma', pub_date: '1815-12-23' };
  assert.equal(await leftBy(201, 'POST', '/books/', { body: book }), []);
  const sent = { body: { name: 'Once' }, headers: { 'idempotency-key': 'once' } };
  assert.is((await leftBy(201, 'POST', BRANDS, sent)).length, 1);
  assert.equal(await leftBy(201, 'POST', BRANDS, sent), []);
});

test('the trail is paged, sorted and linked like any collection', async () => {
  const all = await trail();
  const newest = await send(server, 'GET', `${AUDITS}?order=desc&limit=2`);
  assert.is(newest.headers.get('x-total-count'), String(all.length));
  assert.equal(newest.json, all.slice(-2).toReversed());
  const links = Object.fromEntries(linksOf(newest));
  assert.is(links['next'], `${AUDITS}?order=desc&limit=2&offset=2`);
  assert.is(links['up'], '/');
  assert.is((await read(server, AUDITS)).length, 20);
  const sorted: Entry[] = await read(server, `${AUDITS}?per_page=1000&sortby=resource&order=desc`);
  assert.equal(
    sorted.map(({ id }) => id),
    all
      .toSorted((a, b) => (a.resource < b.resource ? 1 : a.resource > b.resource ? -1 : 0))
      .map(({ id }) => id),
  );
  for (const name of ['before', 'after', 'oldest', 'bytes']) {
    assert.is((await send(server, 'GET', `${AUDITS}?sortby=${name}`)).status, 400, name);
  }
  const item = await send(server, 'GET', `${AUDITS}1/`);
  const headers = { 'if-none-match': item.headers.get('etag') ?? '' };
  assert.is((await send(server, 'GET', `${AUDITS}1/`, { headers })).status, 304);
});

test('the trail can be filtered by subject, resource and resource_id, alone and combined', async () => {
  const token = await tokenFor('editor', { sub: 'Bob & Söhne' });
  await leftBy(200, 'PATCH', `${BRANDS}${catalog.brand}/`, { token, body: { logo: 'b.png' } });
  const all = await trail();
  const asks = async (query: string, wanted: (entry: Entry) => boolean) => {
    const { json, headers } = await send(server, 'GET', `${AUDITS}?per_page=1000&${query}`);
    assert.equal(json, all.filter(wanted), query);
    assert.is(headers.get('x-total-count'), String(json.length));
    assert.ok(json.length < all.length, query);
    return json.length as number;
  };
  const bob = `subject=${encodeURIComponent('Bob & Söhne')}`;
  assert.is(await asks(bob, ({ subject }) => subject === 'Bob & Söhne'), 1);
  assert.ok((await asks('resource=skus', ({ resource }) => resource === 'skus')) > 1);
  assert.ok((await asks('resource_id=1', ({ resource_id }) => resource_id === 1)) > 1);
  const both = await asks(
    `resource=brands&resource_id=${catalog.brand}&${bob}`,
    ({ subject }) => subject === 'Bob & Söhne',
  );
  assert.is(both, 1);
  assert.is(await asks('subject=null', () => false), 0);
  for (const query of ['resource_id=x', 'resource_id=', 'subject=', 'resource=', 'brand_id=1']) {
    assert.is((await send(server, 'GET', `${AUDITS}?${query}`)).status, 400, query);
  }
  // Only the trail has these filters: in other collections they are unknown parameters.
  assert.is((await send(server, 'GET', `${BRANDS}?subject=nobody`)).status, 400);
  assert.is((await send(server, 'GET', `${BRANDS}?resource_id=1`)).status, 400);
});

test('since and until select a period of time that includes both bounds', async () => {
  let now = Date.UTC(2026, 10, 20, 23, 59, 59, 999);
  const timed = await openService({ clock: { now: () => now } });
  const claims = { iat: Date.UTC(2020, 0) / 1000, exp: Date.UTC(2100, 0) / 1000 };
  const token = await tokenFor('admin', claims);
  for (const name of ['Friday', 'Saturday', 'Saturday noon', 'Sunday']) {
    assert.is((await send(timed, 'POST', BRANDS, { token, body: { name } })).status, 201);
    now = name === 'Friday' ? now + 1 : now + 12 * 3600 * 1000;
  }
  const idsFor = async (query: string, path = AUDITS) => {
    const { status, json, headers } = await send(timed, 'GET', `${path}?${query}`, { token });
    assert.is(status, 200, JSON.stringify(json));
    assert.is(headers.get('x-total-count'), String(json.length), query);
    return (json as Entry[]).map(({ id }) => id);
  };
  assert.equal(await idsFor('since=2026-11-21'), [2, 3, 4]);
  assert.equal(await idsFor('until=2026-11-20'), [1]);
  assert.equal(await idsFor('until=2026-11-21&since=2026-11-21'), [2, 3]);
  assert.equal(await idsFor('since=2026-11-21T12:00:00Z&until=2026-11-21T12:00:00Z'), [3]);
  assert.equal(await idsFor('since=2026-11-21T14:00:00.001%2B02:00'), [4]);
  assert.equal(await idsFor('until=2026-11-20T23:59:59.999Z'), [1]);
  assert.equal(await idsFor('since=2026-11-22&until=2026-11-21'), []);
  assert.equal(await idsFor('since=2026-11-21&order=desc&resource=brands&q=create'), [4, 3, 2]);
  assert.equal(await idsFor('since=2026-11-21', `${BRANDS}2/audits/`), [2]);
  await timed.stop();

  for (const value of ['', 'yesterday', '2026-02-30', '2026-11-21T08:00:00', '2026-11-21T25:00Z']) {
    for (const path of [AUDITS, `${BRANDS}${catalog.brand}/audits/`]) {
      for (const name of ['since', 'until']) {
        const refused = await send(server, 'GET', `${path}?${name}=${value}`);
        assert.is(refused.status, 400, `${name}=${value}`);
        assert.match(refused.json.error, `query parameter ${name} must be a date such as`);
      }
    }
  }
  assert.is((await send(server, 'GET', `${BRANDS}?since=2026-11-21`)).status, 400);
});

test('the audits path of an item lists the same entries as the trail filtered by that item', async () => {
  const items = [
    ['brands', catalog.brand],
    ['categories', catalog.chain[2]],
    ['goods', catalog.spu],
    ['specs', catalog.silver.spec_id],
    ['options', catalog.silver.option_id],
    ['skus', catalog.sku],
  ] as const;
  for (const [resource, id] of items) {
    await leftBy(200, 'PATCH', `/admin/${resource}/${id}/`, { body: {} });
    const path = `/admin/${resource}/${id}/audits/`;
    for (const query of ['', '?order=desc&limit=1', '?sortby=time&page=1&per_page=1']) {
      const [own, whole] = [
        await send(server, 'GET', `${path}${query}`),
        await send(
          server,
          'GET',
          `${AUDITS}${query || '?'}&resource=${resource}&resource_id=${id}`,
        ),
      ];
      assert.is(own.status, 200, own.text);
      assert.ok(own.json.length > 0, path);
      assert.equal(own.json, whole.json, path);
      assert.is(own.headers.get('x-total-count'), whole.headers.get('x-total-count'));
    }
    const links = Object.fromEntries(linksOf(await send(server, 'GET', `${path}?limit=1`)));
    assert.is(links['up'], `/admin/${resource}/${id}/`);
    assert.is(links['next'], `${path}?limit=1&offset=1`);
    assert.equal(await read(server, `${path}?resource=books`), []);
    const options = await send(server, 'OPTIONS', path, { token: null });
    assert.is(options.headers.get('allow'), 'GET, HEAD, OPTIONS');
  }
});

test('the entries of a deleted item are still listed; an id that was never used is 404', async () => {
  const { id } = await make(server, BRANDS, { name: 'Deleted' });
  await send(server, 'DELETE', `${BRANDS}${id}/`);
  assert.is((await send(server, 'GET', `${BRANDS}${id}/`)).status, 410);
  assert.equal(told(await read(server, `${BRANDS}${id}/audits/`)), [
    `create brands ${id}`,
    `delete brands ${id}`,
  ]);
  for (const unknown of [0, id + 1, '9'.repeat(20)]) {
    const answer = await send(server, 'GET', `${BRANDS}${unknown}/audits/`);
    assert.is(answer.status, 404, String(unknown));
    assert.match(answer.json.error, 'there is no brand');
  }
  assert.is((await send(server, 'GET', '/books/1/audits/')).status, 404);
});

test('entries survive a restart, and their ids continue', async () => {
  const first = await openService();
  await make(first, BRANDS, { name: 'One' });
  const before = await trail(first);
  await first.stop();
  const second = await openService({ data: first.data });
  assert.equal(await trail(second), before);
  await make(second, BRANDS, { name: 'Two' });
  assert.equal(
    (await trail(second)).map(({ id }) => id),
    [1, 2],
  );
  await second.stop();
  assert.equal(checkStore(machineDisk, first.data).findings, []);
});

test('a new demo catalog has an empty trail', async () => {
  const demo = await openService({ demo: true });
  assert.equal(await trail(demo), []);
  assert.is((await send(demo, 'GET', `${AUDITS}1/`)).status, 404);
  await demo.stop();
});

test('commands that change accounts leave no entries', async () => {
  const service = await openService();
  const ann = { data: service.data, name: 'ann' };
  await changeAccess(quickDisk, service.data, (draft) => addAccount(draft, accountOf('ann')));
  const change = { body: { role: 'viewer' } };
  assert.is((await send(service, 'PATCH', '/admin/users/ann/', change)).status, 200);
  const before = await trail(service);
  assert.equal(told(before).length, 1, 'a change over HTTP leaves one');
  await usersRole(ann, 'admin', contextOf());
  await usersDisable(ann, contextOf());
  await usersEnable(ann, contextOf());
  assert.is((await read(service, '/admin/users/ann/')).role, 'admin');
  await usersRemove(ann, contextOf());
  assert.equal(await read(service, '/admin/users/'), []);
  await service.stop();
  const again = await openService({ data: service.data });
  assert.equal(await trail(again), before);
  await again.stop();
});

/** An SPU whose entries are a little more than a third of 1 MiB when it is created. */
const large = () =>
  spuFields({ brand: catalog.brand, chain: catalog.chain }, described('€'.repeat(40_000)));

/** The three descriptions of an SPU, which each take up to 65,536 code points. */
const described = (text: string) => ({ desc_detail: text, desc_pack: text, desc_service: text });

test('the commit that adds an entry removes the oldest ones beyond the size; they are then 410', async () => {
  const small = await openService({ auditSize: 1 * 2 ** 20 });
  catalog = await createCatalog(small);
  const { length } = await trail(small);
  for (let nth = 0; nth < 2; nth += 1) await make(small, '/admin/goods/', large());
  assert.is((await trail(small)).length, length + 2, 'it all has room');
  const sequence = sequenceOf(await send(small, 'GET', AUDITS));
  await make(small, '/admin/goods/', large());
  const kept = await send(small, 'GET', AUDITS);
  assert.equal(
    (kept.json as Entry[]).map(({ id }) => id),
    [length + 2, length + 3],
  );
  assert.is(sequenceOf(kept), sequence + 1, 'one commit');
  for (const id of [1, length + 1]) {
    const answer = await send(small, 'GET', `${AUDITS}${id}/`);
    assert.is(answer.status, 410, answer.text);
    assert.equal(answer.json, { error: `audit entry ${id} was deleted` });
  }
  assert.is((await send(small, 'GET', `${AUDITS}${length + 4}/`)).status, 404);
  // An entry that is larger than the limit is kept alone: every write has its entry.
  const body = described('\u{1f315}'.repeat(65_536));
  await send(small, 'PATCH', '/admin/goods/2/', { body });
  const [last, ...more] = await trail(small);
  assert.equal(more, []);
  assert.is(last?.after?.['desc_detail'], body.desc_detail);
  await small.stop();
  assert.equal(checkStore(machineDisk, small.data).findings, []);
});

test('with an audit size of 0 no entries are kept, and the next write removes the earlier ones', async () => {
  const first = await openService();
  await make(first, BRANDS, { name: 'One' });
  await first.stop();
  const none = await openService({ data: first.data, auditSize: 0 });
  assert.is((await trail(none)).length, 1);
  await make(none, '/books/', { name: 'Emma', pub_date: '1815-12-23' });
  assert.is((await trail(none)).length, 1, 'a book is no write that the trail tells of');
  await make(none, BRANDS, { name: 'Two' });
  assert.equal(await trail(none), []);
  await none.stop();
  assert.equal(checkStore(machineDisk, first.data).findings, []);
  const again = await openService({ data: first.data });
  await make(again, BRANDS, { name: 'Three' });
  const [entry, ...more] = await trail(again);
  assert.equal([entry?.id, entry?.resource_id, more.length], [2, 3, 0]);
  await again.stop();
  assert.equal(checkStore(machineDisk, first.data).findings, []);
});

test.run();
