/** spec 11.6: what the server does near the limit of its memory. */
import { heapStats } from 'bun:jsc';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { defaultMemoryLimit, MemoryWatch } from '../../../../src/app/engine/memory.ts';
import { machineMemory } from '../../../../src/disk/machine-memory.ts';
import { CatalogError } from '../../../../src/errors.ts';

const MEBIBYTE = 1024 * 1024;

/** A watch with a limit of 1000 bytes over a memory that the test sets. */
function watched() {
  const memory = { resident: 0, collections: 0, collectionTakes: 0, readings: 0, now: 0 };
  const watch = new MemoryWatch(1000, {
    resident: () => {
      memory.readings += 1;
      return memory.resident;
    },
    now: () => memory.now,
    collect: () => {
      memory.collections += 1;
      memory.now += memory.collectionTakes;
    },
  });
  /** Whether memory is scarce at the next reading. */
  const at = (resident: number) => {
    memory.resident = resident;
    memory.now += 100;
    return watch.isScarce();
  };
  return { watch, memory, at };
}

test('without --max-memory the limit is three quarters of the memory of the machine', () => {
  assert.is(defaultMemoryLimit(), Math.floor((machineMemory() / 4) * 3));
});

test('memory is scarce from 90 % of the limit until it is below 80 %', () => {
  const { at } = watched();
  const readings = [899, 900, 899, 800, 799, 899, 900, 5000, 0];
  assert.equal(readings.map(at), [false, true, true, true, false, false, true, true, false]);
});

test('while memory is scarce, new data is refused with 503 and the server is not ready', () => {
  const { watch, at } = watched();
  at(500);
  watch.requireRoom();
  assert.is(watch.reason(), null);
  at(950);
  assert.is(watch.reason(), 'the server is short of memory');
  try {
    watch.requireRoom();
    assert.unreachable('there is no room');
  } catch (error) {
    assert.instance(error, CatalogError);
    const { status, headers } = error as CatalogError;
    assert.is(status, 503);
    assert.is(headers['Retry-After'], '10');
  }
  at(100);
  watch.requireRoom();
});

test('requests at the same moment share one reading of the memory', () => {
  const { watch, memory, at } = watched();
  at(0);
  for (let request = 0; request < 1000; request += 1) watch.isScarce();
  assert.is(memory.readings, 1);
});

test('scarce memory triggers at most one garbage collection a second', () => {
  const { memory, at } = watched();
  at(100);
  assert.is(memory.collections, 0);
  for (let step = 0; step < 10; step += 1) at(950);
  assert.is(memory.collections, 1);
  at(950);
  assert.is(memory.collections, 2);
});

test('garbage collections take at most a twentieth of the time', () => {
  const { memory, at } = watched();
  memory.collectionTakes = 300;
  at(950);
  const begun = memory.now - 300;
  while (memory.collections === 1) at(950);
  assert.is(memory.now - 300 - begun, 6000);
});

test('if memory cannot be read, the last result is kept', () => {
  let readable = true;
  let now = 0;
  const watch = new MemoryWatch(100, {
    resident: () => {
      if (!readable) throw new Error('Failed to get memory usage');
      return 95;
    },
    now: () => (now += 1000),
    collect() {},
  });
  readable = false;
  assert.is(watch.isScarce(), false);
  readable = true;
  assert.is(watch.isScarce(), true);
  readable = false;
  assert.is(watch.isScarce(), true);
});

test('the garbage collection for scarce memory includes old objects', () => {
  const old = Array.from({ length: 32 }, () => new Uint8Array(MEBIBYTE).fill(1));
  // Objects that have survived a collection are old: a collection of young objects skips them.
  Bun.gc(true);
  const before = heapStats().extraMemorySize;
  // A reference to the array may be left on the stack, and would keep all of them alive.
  old.length = 0;
  assert.ok(new MemoryWatch(1).isScarce());
  const freed = before - heapStats().extraMemorySize;
  assert.ok(freed > 16 * MEBIBYTE, `${freed} bytes were freed`);
});

test.run();
