/** Which requests a replica forwards to the primary (spec 15.11). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ALONE, type Membership } from '../../src/app/hosts/membership.ts';
import { CatalogError } from '../../src/errors.ts';
import type { Forward } from '../../src/http/application.ts';
import { send } from '../support/client.ts';
import { closeServices, openService } from '../support/service.ts';

test.after.each(closeServices);

/** A host whose writes another one carries out. */
function forwarding(forward: Forward): Membership {
  return { ...ALONE, forwarding: () => forward };
}

/** A primary and a replica, which forwards to the primary and records it in `passed`. */
async function pair() {
  const passed: string[] = [];
  const primary = await openService({ demo: true });
  const replica = await openService({
    demo: true,
    membership: forwarding(async (request) => {
      passed.push(`${request.method} ${request.path}`);
      return primary.application(request);
    }),
  });
  return { primary, replica, passed };
}

test('a replica answers reads itself, and forwards writes to the primary', async () => {
  const { replica, primary, passed } = await pair();
  const read = ['/books/1/', '/admin/skus/', '/admin/changes/?since=0', '/pages/skus/1.html'];
  for (const path of read) assert.is((await send(replica, 'GET', path)).status, 200, path);
  assert.is((await send(replica, 'OPTIONS', '/books/')).status, 200);
  assert.equal(passed, []);
  const sent = await send(replica, 'PATCH', '/admin/brands/1/', { body: { name: 'Renamed' } });
  assert.is(sent.status, 200);
  assert.equal(passed, ['PATCH /admin/brands/1/']);
  assert.is((await send(primary, 'GET', '/admin/brands/1/')).json.name, 'Renamed');
});

test('a replica forwards reads of data that is in no change set: accounts and imports', async () => {
  const { replica, passed } = await pair();
  for (const path of ['/admin/users/', '/admin/imports/']) {
    assert.is((await send(replica, 'GET', path)).status, 200, path);
  }
  assert.equal(passed, ['GET /admin/users/', 'GET /admin/imports/']);
});

test('a replica answers page builds, previews, unknown paths and unknown methods itself', async () => {
  const { replica, passed } = await pair();
  assert.is(
    (await send(replica, 'POST', '/admin/page-builds/', { body: { stale: true } })).status,
    202,
  );
  assert.is((await send(replica, 'POST', '/admin/skus/preview/', { body: { id: 1 } })).status, 200);
  assert.is((await send(replica, 'POST', '/nowhere/', { body: {} })).status, 404);
  for (const path of ['/admin/users/../', '/admin/users/%2e%2E/', '/admin/users/./tokens/']) {
    assert.is((await send(replica, 'DELETE', path)).status, 404, path);
  }
  assert.is((await send(replica, 'POST', '/books/1/', { body: {} })).status, 405);
  assert.equal(passed, []);
});

test('if forwarding fails, the response is 503 with Retry-After and the message of the error', async () => {
  for (const code of ['primary_unreachable', 'write_unknown', 'not_primary'] as const) {
    const replica = await openService({
      membership: forwarding(() =>
        Promise.reject(new CatalogError(code, 'the words for the client')),
      ),
    });
    const failed = await send(replica, 'DELETE', '/books/1/');
    assert.is(failed.status, 503, code);
    assert.is(failed.headers.get('Retry-After'), '1');
    assert.is(failed.json.error, 'the words for the client');
    assert.ok(failed.headers.has('Catalog-Sequence'));
    assert.equal(replica.log, [], 'it is no fault of this host');
  }
});

test.run();
