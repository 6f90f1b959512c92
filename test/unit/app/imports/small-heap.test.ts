/** During an import the heap stays close to the size of its live objects (docs/performance.md). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Collector,
  SmallHeap,
  withSmallHeap,
} from '../../../../src/app/imports/small-heap.ts';

const MEBIBYTE = 1024 * 1024;

/** A heap of which a collection of all objects leaves `lived`, and one of young objects `heap`. */
class Heap implements Collector {
  lived = 100 * MEBIBYTE;
  heap = 100 * MEBIBYTE;
  readonly collected: ('young' | 'all')[] = [];

  readonly survived = () => this.heap;

  /** Called with every collection of young objects. */
  onYoung = (): void => undefined;

  readonly young = () => {
    this.collected.push('young');
    this.onYoung();
    return this.heap;
  };

  readonly all = () => {
    this.collected.push('all');
    this.heap = this.lived;
    return this.lived;
  };
}

test('while little survives, only young objects are collected', () => {
  const collector = new Heap();
  const heap = new SmallHeap(collector);
  assert.equal(collector.collected, [], 'an import that ends at once costs no collection');
  collector.heap = 120 * MEBIBYTE;
  heap.collect();
  heap.collect();
  assert.equal(collector.collected, ['young', 'young']);
});

test('the whole heap is collected if it has grown by 15 % and 12 MiB', () => {
  const collector = new Heap();
  const heap = new SmallHeap(collector);
  collector.heap = 126 * MEBIBYTE;
  heap.collect();
  assert.equal(collector.collected, ['young'], '100 MiB may grow to 127 MiB');
  collector.heap = 128 * MEBIBYTE;
  heap.collect();
  assert.equal(collector.collected, ['young', 'young', 'all']);
});

test('the allowed growth of the heap depends on the size of its live objects', () => {
  const collector = new Heap();
  const heap = new SmallHeap(collector);
  collector.heap = 1000 * MEBIBYTE;
  collector.lived = 900 * MEBIBYTE;
  heap.collect();
  collector.heap = 1046 * MEBIBYTE;
  heap.collect();
  assert.equal(collector.collected, ['young', 'all', 'young'], '900 MiB may grow to 1047 MiB');
  collector.heap = 1048 * MEBIBYTE;
  heap.collect();
  assert.equal(collector.collected, ['young', 'all', 'young', 'young', 'all']);
});

test('garbage is collected while the work runs, and the result of the work is returned', async () => {
  const collector = new Heap();
  const twice = Promise.withResolvers<string>();
  collector.onYoung = () => {
    if (collector.collected.length === 2) twice.resolve('done');
  };
  assert.is(await withSmallHeap(() => twice.promise, collector), 'done');
  assert.ok(collector.collected.length >= 2);
});

test('an error of the work is thrown, and nothing is collected afterwards', async () => {
  const collector = new Heap();
  const once = Promise.withResolvers<never>();
  collector.onYoung = () => once.reject(new Error('refused'));
  let thrown: unknown;
  await withSmallHeap(() => once.promise, collector).catch((error: unknown) => {
    thrown = error;
  });
  assert.instance(thrown, Error);
  // Both have the same period: a timer that was left would have collected by now.
  const later = new Heap();
  const thrice = Promise.withResolvers<void>();
  later.onYoung = () => {
    if (later.collected.length === 3) thrice.resolve();
  };
  await withSmallHeap(() => thrice.promise, later);
  assert.equal(collector.collected, ['young']);
});

test("the engine's collector frees an unreferenced object while the work runs", async () => {
  let garbage: WeakRef<object> | null = null;
  const taken = Promise.withResolvers<void>();
  await withSmallHeap(async () => {
    const look = setInterval(() => {
      garbage ??= new WeakRef({});
      if (garbage.deref() !== undefined) return;
      clearInterval(look);
      taken.resolve();
    }, 1);
    await taken.promise;
  });
});

test.run();
