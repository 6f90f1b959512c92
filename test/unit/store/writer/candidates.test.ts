/** The rows of a draft by value are the same, whether the first look-up is early or late. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Candidates } from '../../../../src/store/writer/candidates.ts';

/** More rows than are indexed at once. */
const ROWS = 10_000;

const rowOf = (id: number) => ({ id, sku_id: id % 3, spec_id: 7, option_id: id });

for (const [when, asksAt] of [
  ['after all rows', ROWS],
  ['after the first rows', 1],
  ['between two steps of the index', 4000],
] as const) {
  test(`ids are found by every value if the first look-up is ${when}`, () => {
    const candidates = new Candidates();
    for (let id = 1; id <= ROWS; id += 1) {
      candidates.add('sku_specs', rowOf(id));
      if (id >= asksAt && id % 1000 === 0) {
        assert.equal(candidates.matching('sku_specs', 'option_id', id), [id]);
        assert.is(candidates.matching('sku_specs', 'spec_id', 7).length, id);
      }
    }
    for (const value of [0, 1, 2]) {
      const found = candidates.matching('sku_specs', 'sku_id', value);
      const expected = Array.from({ length: ROWS }, (_, index) => index + 1);
      assert.equal(
        found,
        expected.filter((id) => id % 3 === value),
      );
    }
    candidates.forget('sku_specs');
    assert.equal(candidates.matching('sku_specs', 'spec_id', 7), []);
    candidates.add('sku_specs', rowOf(ROWS + 1));
    assert.equal(candidates.matching('sku_specs', 'spec_id', 7), [ROWS + 1], 'as in a new draft');
  });
}

test.run();
