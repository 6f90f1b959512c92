/** A map in parts, compared with a plain map. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ShardedMap } from '../../../../../src/store/memory/maps/sharded-map.ts';

/** Few different keys, so that calls meet the same ones; some are far apart, in other parts. */
const KEY = fc.oneof(
  fc.integer({ min: -2, max: 3 }),
  fc.constantFrom(16_383, 16_384, 2 ** 53 - 1, 0.5),
  fc.constantFrom('', 'a', 'b', 'a long name that ends with b', '0', 'null'),
  fc.constantFrom(true, false, null),
);

const CALL = fc.oneof(
  fc.record({ call: fc.constant('set' as const), key: KEY, value: fc.nat(9) }),
  fc.record({ call: fc.constant('delete' as const), key: KEY }),
);

test('a sharded map equals a map, whatever is set and deleted', () => {
  fc.assert(
    fc.property(fc.array(CALL, { maxLength: 60 }), fc.array(KEY), (calls, asked) => {
      const map = new Map<string | number | boolean | null, number>();
      const sharded = new ShardedMap<string | number | boolean | null, number>();
      for (const each of calls) {
        if (each.call === 'set') {
          map.set(each.key, each.value);
          sharded.set(each.key, each.value);
        } else {
          map.delete(each.key);
          sharded.delete(each.key);
        }
      }
      assert.equal(new Map(sharded.entries()), map);
      assert.equal(new Set(sharded.keys()), new Set(map.keys()));
      const ascending = (values: Iterable<number>) => [...values].toSorted((a, b) => a - b);
      assert.equal(ascending(sharded.values()), ascending(map.values()));
      assert.is(sharded.size, map.size);
      for (const key of asked) {
        assert.is(sharded.get(key), map.get(key));
      }
    }),
  );
});

test('entries can be replaced during an iteration over them', () => {
  const sharded = new ShardedMap<number | string, number>();
  for (const key of [1, 20_000, 'a', 'b']) sharded.set(key, 0);
  for (const [key] of sharded.entries()) sharded.set(key, 1);
  assert.equal(
    [...sharded.entries()].map(([, value]) => value),
    [1, 1, 1, 1],
  );
});

test.run();
