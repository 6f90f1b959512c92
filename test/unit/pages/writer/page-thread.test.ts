/** src/pages/writer/page-thread.ts: a thread that dies. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { grouped } from '../../../../src/pages/shop/facts.ts';
import { Gatherer } from '../../../../src/pages/shop/gather.ts';
import { skuPage } from '../../../../src/pages/shop/names.ts';
import { PageThread } from '../../../../src/pages/writer/page-thread.ts';
import { atOnce } from '../../../../src/slices.ts';
import { directoryWith, temporaryDirectory } from '../../../support/directory.ts';
import { change, MemoryStore } from '../../../support/memory-store.ts';
import { addShop, SETTINGS } from '../../../support/shop.ts';

/** Ends the thread when the SKU of this name is rendered, without an error or with one. */
const FATAL = `
{%- if sku.name == 'exit' %}{{ range.constructor('process.exit()')() }}{% endif %}
{%- if sku.name == 'throw' %}
{{ range.constructor('setTimeout(() => { throw new Error("from the template"); }); return 0')() }}
{% endif %}`;

/** A shop with two SKUs, and the thread that makes its pages. */
class Bench {
  readonly store = new MemoryStore();
  readonly data = temporaryDirectory();
  readonly #settings = { ...SETTINGS, templates: directoryWith({ 'picture.njk': FATAL }) };
  readonly thread = this.restarted();

  constructor() {
    this.store.commit([(transaction) => addShop(transaction, 2)]);
  }

  /** The thread of another start over the same directory. */
  restarted(): PageThread {
    return new PageThread({ dataDirectory: this.data, settings: this.#settings });
  }

  facts(sku: number) {
    return atOnce(new Gatherer(this.store, null).facts(skuPage(sku)));
  }

  rename(sku: number, name: string): void {
    this.store.commit([(transaction) => change(transaction, 'skus', sku, { name })]);
  }

  make(sku: number) {
    return this.thread.make(grouped([this.facts(sku)]), false);
  }

  page(sku: number): string {
    return readFileSync(join(this.data, 'pages', skuPage(sku)), 'utf8');
  }
}

/** Renders a page that ends the thread, and waits for the end. */
async function kill(bench: Bench, how: 'exit' | 'throw'): Promise<string> {
  bench.rename(1, how);
  const calls: Promise<unknown>[] = [bench.thread.render(bench.facts(1))];
  // A call to a thread that is about to die may still be answered, so calls follow until one fails.
  for (;;) {
    const failed = await Promise.all(calls).then(
      () => null,
      (error: Error) => error.message,
    );
    if (failed !== null) {
      bench.rename(1, 'Small');
      return failed;
    }
    calls.push(bench.thread.knows(bench.store));
  }
}

for (const [how, why] of [
  ['exit', 'it has ended'],
  ['throw', 'from the template'],
] as const) {
  test(`calls fail if the thread ends by ${how}, and the next call starts another one`, async () => {
    const bench = new Bench();
    assert.equal(await bench.make(2), ['written']);
    assert.match(await kill(bench, how), why);
    bench.rename(2, 'Larger');
    assert.equal(await bench.make(2), ['written']);
    assert.match(bench.page(2), 'Larger');
    bench.thread.close();
  });
}

test('after the death of a thread no state is marked as made: the next start compares all pages', async () => {
  const bench = new Bench();
  const before = bench.store;
  await bench.thread.save(before);
  assert.is(await bench.thread.knows(before), true);
  // The record of this page is not in the saved manifest.
  assert.equal(await bench.make(2), ['written']);
  await kill(bench, 'exit');
  assert.equal(await bench.make(1), ['written']);
  await bench.thread.save(bench.store);
  bench.thread.close();
  const next = bench.restarted();
  assert.is(await next.knows(bench.store), false);
  next.close();
});

test.run();
