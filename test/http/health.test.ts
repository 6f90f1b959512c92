/** `/healthz` and `/readyz` (spec 5.9). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { send } from '../support/client.ts';
import { closeServices, openService } from '../support/service.ts';

test.after(closeServices);

for (const [path, status] of [
  ['/healthz', 'ok'],
  ['/readyz', 'ready'],
] as const) {
  test(`${path} is 200 without a token, is not to be kept, and has HEAD and OPTIONS`, async () => {
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

test('with a base path both are below it, and nowhere else', async () => {
  const server = await openService({ basePath: '/api' });
  for (const path of ['/healthz', '/readyz']) {
    assert.is((await send(server, 'GET', `/api${path}`)).status, 200);
    assert.is((await send(server, 'GET', path)).status, 404);
  }
  await server.stop();
});

test.run();
