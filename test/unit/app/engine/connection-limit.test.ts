/** spec 11.5: the connections of a process leave file descriptors for everything else. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { connectionLimit } from '../../../../src/app/engine/connection-limit.ts';

const LIMITS: readonly (readonly [openFiles: number, connections: number])[] = [
  [Number.POSITIVE_INFINITY, 10_000],
  [10_512, 10_000],
  [10_511, 9999],
  [4096, 3584],
  [1024, 512],
  [256, 64],
];

for (const [openFiles, connections] of LIMITS) {
  test(`with ${openFiles} open files, 10,000 connections become ${connections}`, () => {
    assert.is(connectionLimit(10_000, openFiles), connections);
  });
}

test('a lower --max-connections applies', () => {
  assert.is(connectionLimit(100, 4096), 100);
});

test.run();
