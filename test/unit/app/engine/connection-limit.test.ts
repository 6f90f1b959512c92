/** spec 11.5: the connections of a process leave file descriptors for everything else. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { connectionLimit } from '../../../../src/app/engine/connection-limit.ts';
import { MAX_HTTP_REQUESTS } from '../../../../src/app/engine/http-client.ts';

const LIMITS: readonly (readonly [openFiles: number, connections: number])[] = [
  [Number.POSITIVE_INFINITY, 10_000],
  [10_512, 10_000],
  [10_511, 9999],
  [4096, 3584],
  [1024, 512],
  [256, 64],
  [255, 63],
];

for (const [openFiles, connections] of LIMITS) {
  test(`with ${openFiles} open files, 10,000 connections become ${connections}`, () => {
    assert.is(connectionLimit(10_000, openFiles, 1), connections);
  });
}

test('a lower --max-connections applies', () => {
  assert.is(connectionLimit(100, 4096, 1), 100);
  assert.is(connectionLimit(100, 4096, 2), 100);
});

test('each worker keeps a descriptor for a request that each of its connections passes on, and the owner one for each of these', () => {
  for (const openFiles of [1024, 4096, 8703, 8704, 8705, 16_384, 65_536]) {
    for (const workers of [2, 3, 4, 64]) {
      const what = `${openFiles} open files, ${workers} workers`;
      const connections = connectionLimit(10_000, openFiles, workers);
      // More do not leave the HTTP client of a worker at a time.
      const passedOn = Math.min(connections, MAX_HTTP_REQUESTS);
      assert.ok(connections + passedOn + 512 <= openFiles, what);
      assert.ok(workers * passedOn + 512 <= openFiles, what);
    }
  }
});

test('workers together take as many connections as one process, or as many as --max-connections says', () => {
  assert.is(connectionLimit(10_000, 1024, 2), 256);
  assert.is(connectionLimit(10_000, 1024, 4), 128);
  assert.is(connectionLimit(10_000, 1024, 3), 170);
  assert.is(connectionLimit(10_000, 16_384, 3), 10_000);
  assert.is(connectionLimit(10_000, Number.POSITIVE_INFINITY, 64), 10_000);
});

test('workers do not share the descriptors if there are enough for all requests that they can pass on', () => {
  const most = 512 + 3 * MAX_HTTP_REQUESTS;
  assert.is(connectionLimit(100_000, most, 3), 2 * MAX_HTTP_REQUESTS);
  assert.is(connectionLimit(100_000, most - 1, 3), MAX_HTTP_REQUESTS - 1);
});

test('a worker takes a connection however few descriptors there are', () => {
  assert.is(connectionLimit(10_000, 100, 64), 1);
});

test.run();
