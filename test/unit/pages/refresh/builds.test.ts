/** The failures that a build of pages keeps, and when it is shown. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Build, FOLDER } from '../../../../src/pages/refresh/builds.ts';
import type { Catalog } from '../../../../src/pages/shop/catalog.ts';
import { skuPage } from '../../../../src/pages/shop/names.ts';
import { PageBuilds } from '../../../../src/pages/refresh/page-builds.ts';
import type { PageQueue } from '../../../../src/pages/refresh/queue.ts';
import type { PageList } from '../../../../src/pages/shop/page-list.ts';
import { failureOf } from '../../../../src/pages/writer/page-failure.ts';
import type { PageMaker } from '../../../../src/pages/writer/page-writer.ts';

test('a build counts all failures, and keeps the first 100 and that of the folder', () => {
  const scope = { stale: false, skus: null };
  const build = new Build(scope, {} as PageList, {} as Catalog, {} as PageMaker);
  const failure = failureOf(new Error('it cannot be written'));
  for (let id = 1; id <= 101; id += 1) build.fail(skuPage(id), failure);
  assert.equal([build.failures.size, build.counts.failed, build.unlisted], [100, 101, null]);
  build.fail(FOLDER, failure);
  assert.is(build.failures.get(FOLDER), failure);
  assert.is.not(build.unlisted, null);
});

test('a build is shown when its pages are counted, which goes on while others are served', async () => {
  const listed: number[] = [];
  const list = {
    *count() {
      for (let nth = 0; nth < 3; nth += 1) {
        listed.push(builds.all().length);
        yield;
      }
      return 7;
    },
  } as unknown as PageList;
  const queue = {
    build: (scope: Build['scope']) => ({
      build: new Build(scope, list, {} as Catalog, {} as PageMaker),
      ended: Promise.resolve(),
    }),
  } as unknown as PageQueue;
  const builds = new PageBuilds(queue, { has: () => true, prepareIndexes: () => undefined });
  const build = await builds.start({ stale: false, skus: null });
  assert.is(build.total, 7);
  assert.equal(listed, [0, 0, 0]);
  assert.equal([builds.all(), builds.find(build.id)?.total], [[build], 7]);
});

test.run();
