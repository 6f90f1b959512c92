/** How deep a body may be nested, and how long its arrays may be (spec 11.3). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { send } from '../support/client.ts';
import {
  closeServices,
  openService,
  type Service,
  type ServiceOptions,
} from '../support/service.ts';
import { turn } from '../support/turns.ts';

test.after(closeServices);

async function withService(
  options: ServiceOptions,
  run: (server: Service) => Promise<void>,
): Promise<void> {
  const server = await openService(options);
  await run(server);
  await server.stop();
}

test('--max-json-depth: a body at the limit is accepted; one level more is 422', () =>
  withService({ maxJsonDepth: 8 }, async (server) => {
    const nested = (depth: number) => {
      const x = `${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}`;
      return `{"name":"Emma","pub_date":"1815-12-23","x":${x}}`;
    };
    assert.is((await send(server, 'POST', '/books/', { body: nested(8) })).status, 201);
    const refused = await send(server, 'POST', '/books/', { body: nested(9) });
    assert.is(refused.status, 422);
    assert.is(refused.json.error, 'the body is nested more than 8 levels deep');
    const closed = `${'{"a":'.repeat(9)}1${'}'.repeat(9)}`;
    assert.is((await send(server, 'POST', '/books/', { body: closed })).status, 422);
    const open = '['.repeat(100_000);
    assert.is((await send(server, 'POST', '/books/', { body: open })).status, 400);
    assert.is((await send(server, 'GET', '/books/')).json.length, 1);
  }));

test('--max-json-elements: a longer array is 413, at any place in the body', () =>
  withService({ maxJsonElements: 3 }, async (server) => {
    const brands = (count: number) => Array.from({ length: count }, () => ({ name: 'Brand' }));
    assert.is((await send(server, 'POST', '/admin/brands/bulk/', { body: brands(3) })).status, 201);
    const refused = await send(server, 'POST', '/admin/brands/bulk/', { body: brands(4) });
    assert.is(refused.status, 413);
    assert.is(refused.json.error, 'an array of the body has more than 3 elements');
    const hidden = { name: 'Brand', x: { y: [1, 2, 3, 4] } };
    assert.is((await send(server, 'POST', '/admin/brands/', { body: hidden })).status, 413);
    assert.is((await send(server, 'GET', '/admin/brands/')).json.length, 3);
  }));

test('large bodies without a token hold up one with a token for no longer than one of them', () =>
  withService({ demo: true }, async (server) => {
    const members = Array.from({ length: 8000 }, (_, n) => `"m${n}":${n}`);
    const body = `{"name":"","x":{${members.join()}}}`;
    assert.ok(body.length > 64 * 1024);
    let answered = 0;
    const many = Array.from({ length: 40 }, async () => {
      assert.is((await send(server, 'POST', '/books/', { body, token: null })).status, 422);
      answered += 1;
    });
    // The first ones are in the queue.
    await turn();
    const own = await send(server, 'POST', '/admin/brands/', { body });
    assert.is(own.status, 422);
    assert.ok(answered <= 4, `${answered} others were answered first`);
    await Promise.all(many);
  }));

test.run();
