/** The catalog of a server, from its opening until its background work is done. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Catalog } from '../../../../src/app/catalog.ts';
import type { Context } from '../../../../src/app/context.ts';
import { CurrentCatalog } from '../../../../src/app/hosts/current-catalog.ts';
import type { Observability } from '../../../../src/app/observability.ts';
import { Readiness } from '../../../../src/app/readiness.ts';
import type { ServeOptions } from '../../../../src/app/server-options.ts';
import { requestWith } from '../../../support/request.ts';
import { turn } from '../../../support/turns.ts';

/** A server with a catalog whose background work the test ends. */
function serving(basePath = '') {
  const readiness = new Readiness();
  const fatal: unknown[] = [];
  const observability = { readiness, onFatal: (error: unknown) => fatal.push(error) };
  const current = new CurrentCatalog(
    { basePath } as ServeOptions,
    { disk: { prepare() {} } } as Context,
    observability as unknown as Observability,
  );
  const indexes = Promise.withResolvers<void>();
  const copy = Promise.withResolvers<void>();
  const store = { completeIndexes: () => indexes.promise, copyBase: () => copy.promise };
  const catalog = {
    store,
    pages: { compare() {} },
    changes: { endWaits() {} },
  } as unknown as Catalog;
  current.use(catalog);
  current.endWaits();
  return { current, readiness, fatal, indexes, copy };
}

test('a server is ready when its indexes are complete and its base is copied', async () => {
  const { readiness, fatal, indexes, copy } = serving();
  assert.match(readiness.reason() ?? '', 'building its indexes');
  indexes.resolve();
  await turn();
  assert.match(readiness.reason() ?? '', 'building its indexes');
  copy.resolve();
  await turn();
  assert.is(readiness.reason(), null);
  assert.equal(fatal, []);
});

for (const work of ['indexes', 'copy'] as const) {
  test(`a server ends if the ${work} cannot be completed`, async () => {
    const server = serving();
    const failure = new Error('no');
    server[work].reject(failure);
    await turn();
    assert.equal(server.fatal, [failure]);
    assert.match(server.readiness.reason() ?? '', 'building its indexes');
  });
}

test('the background work of a catalog that was replaced changes nothing', async () => {
  const { current, readiness, fatal, copy } = serving();
  readiness.clear('starting');
  current.use(null);
  copy.reject(new Error('no'));
  await turn();
  assert.equal(fatal, []);
  assert.is(readiness.reason(), null);
});

test('a catalog that was replaced does not make the server ready before the new one is', async () => {
  const { current, readiness, indexes, copy } = serving();
  const { promise: pending } = Promise.withResolvers<void>();
  const store = { completeIndexes: () => pending, copyBase: () => pending };
  current.use({ store, changes: { endWaits() {} } } as unknown as Catalog);
  current.endWaits();
  indexes.resolve();
  copy.resolve();
  await turn();
  assert.match(readiness.reason() ?? '', 'building its indexes');
});

test('without a catalog, every response may be neither stored nor taken for another type', async () => {
  const { current } = serving('/shop');
  current.use(null);
  for (const [path, status] of [
    ['/shop/healthz', 200],
    ['/healthz', 503],
    ['/shop/readyz', 503],
    ['/shop/books/1/', 503],
  ] as const) {
    const response = await current.application(requestWith({ path }));
    assert.is(response.status, status, path);
    assert.is(response.headers['X-Content-Type-Options'], 'nosniff', path);
    assert.is(response.headers['Cache-Control'], 'no-store', path);
  }
});

test.run();
