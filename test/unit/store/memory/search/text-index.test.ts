/** The words of an attribute while it is indexed and afterwards, compared with reading every row. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { changeOf } from '../../../../../src/model/change.ts';
import { foldText } from '../../../../../src/model/text-folding.ts';
import { atOnce } from '../../../../../src/slices.ts';
import { RowTable } from '../../../../../src/store/memory/row-table.ts';
import { Bitmap } from '../../../../../src/store/memory/search/bitmap.ts';
import { TextIndex } from '../../../../../src/store/memory/search/text-index.ts';
import { turn } from '../../../../support/turns.ts';

/** More rows than are indexed, or changed, without a pause. */
const ROWS = 160;

const WORDS = ['a', 'ab', 'ba', 'Bé', 'bb'];

const name = fc
  .array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 3 })
  .map((words) => words.join(' '));

/** A change of a row; the name is null if the row is deleted. */
const edit = fc.record({
  id: fc.integer({ min: 1, max: ROWS + 20 }),
  name: fc.option(name, { freq: 4 }),
});
type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never;

/** Each row once. Some commits have more rows than are indexed at once. */
const aCommit = fc.oneof(
  { weight: 3, arbitrary: fc.uniqueArray(edit, { maxLength: 6, selector: ({ id }) => id }) },
  {
    weight: 1,
    arbitrary: name.map((one) =>
      Array.from({ length: 120 }, (_, at) => ({ id: at + 10, name: at % 9 === 0 ? null : one })),
    ),
  },
);

/** Changes the rows, and then the index. */
function commit(rows: RowTable, index: TextIndex, edits: readonly Edit[]): void {
  const changes = edits.flatMap(({ id, name: text }) => {
    const before = rows.get(id) ?? null;
    const after = text === null ? null : { id, name: text };
    if (before === null && after === null) return [];
    if (after === null) rows.delete(id);
    else rows.set(after);
    return [changeOf('brands', id, before as never, after as never)];
  });
  index.change(changes);
}

function found(index: TextIndex, word: string): number[] {
  const ids = new Bitmap();
  atOnce(index.find(word, ids));
  return [...ids];
}

function plainly(rows: RowTable, word: string): number[] {
  const all = [...rows.values()].filter((row) => foldText(String(row['name'])).includes(word));
  return all.map(({ id }) => id).sort((a, b) => a - b);
}

const commits = fc.array(aCommit, { maxLength: 8 });

test('the rows of each word are found, whatever is committed during the build or a search', () => {
  fc.assert(
    fc.property(
      fc.array(name, { minLength: ROWS, maxLength: ROWS }),
      commits,
      commits,
      (names, early, late) => {
        const rows = new RowTable();
        for (const [at, text] of names.entries()) rows.set({ id: at + 1, name: text });
        const index = new TextIndex(rows, 'name');
        const building = index.build();
        for (const edits of early) {
          building.next();
          commit(rows, index, edits);
        }
        atOnce(building);
        for (const word of ['a', 'be', 'bb']) {
          assert.equal(found(index, word), plainly(rows, word), `${word} after the build`);
        }
        for (const edits of late) {
          const searching = index.find('a', new Bitmap());
          searching.next();
          commit(rows, index, edits);
          searching.next();
        }
        for (const word of ['a', 'be', 'bb']) {
          assert.equal(found(index, word), plainly(rows, word), `${word} after all commits`);
        }
      },
    ),
    { numRuns: 60 },
  );
});

const NAMES = Array.from({ length: ROWS }, (_, at) => ({ id: at + 1, name: 'a' }));

/** How often a search pauses. A vocabulary of few words is read without a pause. */
const pausesOf = (index: TextIndex) => [...index.find('a', new Bitmap())].length;

test('a build pauses after every 32 rows', () => {
  const index = new TextIndex(new RowTable(NAMES), 'name');
  assert.is([...index.build()].length, ROWS / 32);
});

test('the words of a large commit are indexed without a search, and only once', async () => {
  const rows = new RowTable();
  const index = new TextIndex(rows, 'name');
  atOnce(index.build());
  for (let round = 0; round < 2; round += 1) {
    commit(rows, index, NAMES);
    // At least 32 rows are indexed in each.
    for (let turns = 0; turns <= ROWS / 32; turns += 1) await turn();
    assert.is(pausesOf(index), 0, 'nothing waits for the search');
    commit(rows, index, NAMES);
    atOnce(index.find('a', new Bitmap()));
    assert.is(pausesOf(index), 0, 'nothing is left for a second search');
  }
});

test.run();
