/** spec 11.6: near the limit of memory the service rejects only writes that add data. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError } from '../../src/errors.ts';
import { send } from '../support/client.ts';
import { closeServices, openService } from '../support/service.ts';

test.after(closeServices);

test('if memory is short, writes that add data are 503 with Retry-After; reads and deletions work', async () => {
  let scarce = false;
  const service = await openService({
    requireRoom: () => {
      if (scarce) throw new CatalogError('busy', 'no room', { headers: { 'Retry-After': '10' } });
    },
  });
  const brand = { name: 'Acme' };
  const { id } = (await send(service, 'POST', '/admin/brands/', { body: brand })).json;
  const path = `/admin/brands/${id}/`;
  scarce = true;
  const writes = [
    ['POST', '/admin/brands/', brand],
    ['PUT', path, brand],
    ['PATCH', path, brand],
    ['POST', '/books/', { name: 'Emma', pub_date: '1815-12-23' }],
    ['POST', '/admin/brands/bulk/', [brand]],
    ['PATCH', '/admin/brands/bulk/', [{ id, ...brand }]],
    ['POST', '/admin/brands/imports/', [brand]],
    ['POST', '/admin/audits/1/reversal/', {}],
    ['POST', '/admin/webhooks/', { url: 'https://receiver.example/', active: false }],
  ] as const;
  for (const [method, target, body] of writes) {
    const { status, headers, json } = await send(service, method, target, { body });
    assert.is(status, 503, `${method} ${target}`);
    assert.is(headers.get('retry-after'), '10');
    assert.is(json.error, 'no room');
    assert.is(json.request_id, headers.get('x-request-id'));
  }
  assert.is((await send(service, 'GET', path)).status, 200);
  assert.is((await send(service, 'DELETE', path)).status, 204);
  assert.equal(service.log, [], 'it is no fault');
  scarce = false;
  assert.is((await send(service, 'POST', '/admin/brands/', { body: brand })).status, 201);
});

test.run();
