/** What a proxy before another host answers itself (spec 15.11), over real connections. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { HttpPrimary } from '../../../src/hosts/following/primary-client.ts';
import { Forwarder } from '../../../src/hosts/forwarding/forwarder.ts';
import { codeOf, failureOf } from '../../support/failure.ts';
import { requestWith } from '../../support/request.ts';

/** A host that answers 403, or a proxy before it that does, or that answers another status. */
class Refusing {
  isProxy = true;
  status = 403;
  readonly #server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () =>
      new Response('', {
        status: this.status,
        headers: this.isProxy ? {} : { 'Catalog-Sequence': '7' },
      }),
  });
  readonly origin = this.#server.url.origin;

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true);
  }
}

test('a 403 of a proxy before the primary is logged once, and is 503 for the client', async () => {
  await using host = new Refusing();
  const warnings: string[] = [];
  const forwarder = new Forwarder({
    maxOpen: 1,
    warn: (message) => warnings.push(message),
  });
  const forward = (method: string) =>
    forwarder.forward(requestWith({ method, path: '/books/' }), host.origin);
  for (const method of ['DELETE', 'GET']) {
    const { code, message } = await failureOf(forward(method));
    assert.is(code, 'primary_unreachable');
    assert.match(message, 'a proxy before the primary refuses the requests of this host');
  }
  assert.is(forwarder.open, 0);
  const warning = `a proxy before ${host.origin} refuses the requests of this host (403): add the address of this host to the networks that the proxy allows`;
  assert.equal(warnings, [warning]);
  host.isProxy = false;
  assert.is((await forward('DELETE')).status, 403, 'that of the primary is passed on');
  host.isProxy = true;
  await failureOf(forward('DELETE'));
  assert.equal(warnings, [warning, warning]);
});

test('if a proxy gets no answer from the primary, the client gets 503, and a write may be done', async () => {
  await using host = new Refusing();
  const forwarder = new Forwarder({ maxOpen: 1 });
  const forward = (method: string) =>
    forwarder.forward(requestWith({ method, path: '/books/' }), host.origin);
  for (const status of [502, 504]) {
    host.status = status;
    assert.is(await codeOf(forward('DELETE')), 'write_unknown');
    assert.is(await codeOf(forward('GET')), 'primary_unreachable');
  }
  assert.is(forwarder.open, 0);
});

test('a host that may not follow says whether a proxy or the primary refuses it', async () => {
  await using host = new Refusing();
  const primary = new HttpPrimary({
    address: { origin: host.origin, basePath: '' },
    token: () => 'token',
    version: '1',
  });
  assert.match(
    (await failureOf(primary.state(null))).message,
    'the networks that the proxy allows',
  );
  host.isProxy = false;
  assert.match((await failureOf(primary.state(null))).message, 'it has to run with --followers');
});

test.run();
