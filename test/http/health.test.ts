/** `/healthz` and `/readyz` (spec 5.9, 15.7). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { send } from '../support/client.ts';
import { MemoryObjects } from '../support/object-store.ts';
import { closeServices, openService } from '../support/service.ts';
import { until } from '../support/until.ts';

test.after(closeServices);

for (const [path, status] of [
  ['/healthz', 'ok'],
  ['/readyz', 'ready'],
] as const) {
  test(`${path} is 200 without a token, with Cache-Control: no-store, and accepts GET, HEAD and OPTIONS`, async () => {
    const server = await openService();
    const answer = await send(server, 'GET', path, { token: null });
    assert.equal([answer.status, answer.json], [200, { status }]);
    assert.is(answer.headers.get('cache-control'), 'no-store');
    assert.is((await send(server, 'HEAD', path, { token: null })).status, 200);
    const options = await send(server, 'OPTIONS', path, { token: null });
    assert.is(options.headers.get('allow'), 'GET, HEAD, OPTIONS');
    assert.is((await send(server, 'POST', path, { token: null, body: {} })).status, 405);
    assert.is((await send(server, 'GET', `${path}/`, { token: null })).status, 404);
    await server.stop();
  });
}

test('with a base path, /healthz and /readyz exist only below it', async () => {
  const server = await openService({ basePath: '/api' });
  for (const path of ['/healthz', '/readyz']) {
    assert.is((await send(server, 'GET', `/api${path}`)).status, 200);
    assert.is((await send(server, 'GET', path)).status, 404);
  }
  await server.stop();
});

test('/readyz?verbose reports how far the archive is behind, if there is an archive', async () => {
  const plain = await openService();
  const answer = await send(plain, 'GET', '/readyz?verbose', { token: null });
  assert.equal([answer.status, answer.json], [200, { status: 'ready' }]);
  await plain.stop();
  const archiveStore = new MemoryObjects();
  const archive = { kind: 'directory', path: '/archive' } as const;
  const server = await openService({ archive, archiveStore });
  await until('the archive is in step', async () => {
    const { json } = await send(server, 'GET', '/readyz?verbose', { token: null });
    return json.archive.behind_seconds === 0;
  });
  const { json } = await send(server, 'GET', '/readyz?verbose', { token: null });
  const figures = { behind_change_sets: 0, behind_seconds: 0, failing: false };
  assert.equal(json, { status: 'ready', archive: figures });
  assert.equal((await send(server, 'GET', '/readyz', { token: null })).json, { status: 'ready' });
  await server.stop();
  assert.ok(archiveStore.in('bases').length > 0);
});

test.run();
