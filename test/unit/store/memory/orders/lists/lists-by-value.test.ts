/** Lists of ids that are packed by value equal the lists of a map. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Scalar } from '../../../../../../src/model/kind.ts';
import { idsIn, MAX_SHORT_LIST } from '../../../../../../src/store/memory/orders/lists/list.ts';
import { ListsByValue } from '../../../../../../src/store/memory/orders/lists/lists-by-value.ts';
import { OrderedIds } from '../../../../../../src/store/memory/orders/ordered-ids.ts';

/** Few different values, so that lists get long; some are adjacent, some far apart. */
const VALUE: fc.Arbitrary<Scalar> = fc.oneof(
  fc.integer({ min: 0, max: 5 }),
  fc.constantFrom(62, 63, 64, 65, 2 ** 32, 2 ** 53 - 1, -1, 0.5),
  fc.constantFrom('', 'a', 'b', 'a long name', '1'),
  fc.constantFrom(true, false, null),
);

/** Ids that fit into 32 bits, and ids that do not. */
const ID = fc.oneof(
  fc.integer({ min: 1, max: 300 }),
  fc.constantFrom(2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1),
);

const MOVE = fc.record({
  id: ID,
  to: fc.option(VALUE, { nil: undefined }),
  /** Whether whole lists are replaced, or one id is removed and inserted. */
  whole: fc.boolean(),
});

/** Lists in which each id has at most one value, and a map of the same ids and values. */
class Model {
  readonly lists = new ListsByValue();
  readonly values = new Map<number, Scalar>();
  readonly valueOf = (id: number): Scalar | undefined => this.values.get(id);

  ids(value: Scalar): number[] {
    const ids = [...this.values].filter(([, of]) => of === value).map(([id]) => id);
    return ids.sort((a, b) => a - b);
  }

  move(id: number, to: Scalar | undefined): void {
    const from = this.values.get(id);
    if (from !== undefined) {
      const before = this.lists.get(from, this.valueOf);
      const after = this.ids(from).filter((each) => each !== id);
      this.lists.replace(from, before, after.length === 0 ? undefined : after);
    }
    this.values.delete(id);
    if (to === undefined) return;
    const before = this.lists.get(to, this.valueOf);
    this.values.set(id, to);
    this.lists.replace(to, before, this.ids(to));
  }

  /** The same as {@link Model.move}, with one id instead of whole lists. */
  moveOne(id: number, to: Scalar | undefined): void {
    const from = this.values.get(id);
    if (from !== undefined) this.lists.remove(from, id, this.valueOf);
    this.values.delete(id);
    if (to === undefined) return;
    this.values.set(id, to);
    this.lists.insert(to, id, this.valueOf);
  }

  assertSame(): void {
    const values = new Set(this.values.values());
    assert.equal(new Set(this.lists.values(this.valueOf)), values);
    for (const value of [...values, 'nobody', 7, 66, -2]) {
      const list = this.lists.get(value, this.valueOf);
      assert.equal([...idsIn(list)], this.ids(value));
      assert.ok(list instanceof OrderedIds || idsIn(list).length <= MAX_SHORT_LIST);
    }
  }
}

test('every value has the ids that it has in a map, whichever ids move between values', () => {
  fc.assert(
    fc.property(fc.array(MOVE, { maxLength: 120 }), (moves) => {
      const model = new Model();
      for (const { id, to, whole } of moves) {
        if (whole) model.move(id, to);
        else model.moveOne(id, to);
      }
      model.assertSame();
    }),
    { numRuns: 300 },
  );
});

test('the list of a value is replaced by one of other ids, as a planned commit does', () => {
  for (const value of ['a', 7, null]) {
    const model = new Model();
    model.move(1, value);
    model.lists.replace(value, 1, 2);
    model.values.delete(1);
    model.values.set(2, value);
    model.assertSame();
    model.move(2, undefined);
    model.assertSame();
  }
});

test('a value whose list was long has none once all its ids were removed one by one', () => {
  for (const value of ['a', 7, null]) {
    const model = new Model();
    const ids = Array.from({ length: MAX_SHORT_LIST + 1 }, (_, index) => index + 1);
    for (const id of ids) model.moveOne(id, value);
    for (const id of ids) model.moveOne(id, undefined);
    model.assertSame();
  }
});

test('ids that are appended in parts are in the lists that a map has', () => {
  const run = fc.record({ value: VALUE, count: fc.integer({ min: 1, max: 40 }) });
  fc.assert(
    fc.property(fc.array(fc.array(run, { maxLength: 8 }), { maxLength: 5 }), (parts) => {
      const model = new Model();
      let id = 0;
      for (const part of parts) {
        const [ids, values]: [number[], Scalar[]] = [[], []];
        for (const { value, count } of part) {
          for (let added = 0; added < count; added += 1) {
            id += 1;
            ids.push(id);
            values.push(value);
            model.values.set(id, value);
          }
        }
        model.lists.append(ids, values, model.valueOf);
      }
      model.assertSame();
    }),
    { numRuns: 300 },
  );
});

test('lists of adjacent numbers are found if they were appended in one run', () => {
  const model = new Model();
  const ids = Array.from({ length: 4000 }, (_, index) => index + 1);
  const valueOf = (id: number) => (id * 7) % 1000;
  const partOf = (id: number) => Math.floor(valueOf(id) / 64);
  for (const id of ids) model.values.set(id, valueOf(id));
  for (let at = 0; at < ids.length; at += 1000) {
    // Runs of one part, unsorted within it.
    const part = ids.slice(at, at + 1000).sort((a, b) => partOf(a) - partOf(b));
    model.lists.append(part, part.map(valueOf), model.valueOf);
  }
  model.assertSame();
});

test.run();
