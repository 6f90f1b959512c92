/** The failures that a build of pages keeps. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Build, FOLDER } from '../../../../src/pages/refresh/builds.ts';
import type { Catalog } from '../../../../src/pages/shop/catalog.ts';
import { skuPage } from '../../../../src/pages/shop/names.ts';
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

test.run();
