/** spec 4.1: the `Link` values of a page, in tables and by following them. */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { pageLinks } from '../../../../src/http/rules/links.ts';
import type { Kind } from '../../../../src/model/kind.ts';
import { KINDS } from '../../../../src/model/kinds.ts';
import { parseQuery } from '../../../../src/resources/query.ts';

/** Targets by relation. */
function linksOf(search: string, total: number, kind: Kind = KINDS.skus): Record<string, string> {
  const links = pageLinks('/p/', parseQuery(kind, search), total).map((link) => {
    const [, target = '', rel = ''] = /^<([^<>\s]*)>; rel="(\w+)"$/.exec(link) ?? [];
    assert.ok(rel, link);
    return [rel, target] as const;
  });
  return Object.fromEntries(links);
}

const CASES: readonly (readonly [search: string, total: number, links: Record<string, string>])[] =
  [
    [
      'page=2&per_page=10',
      35,
      {
        first: '/p/?page=1&per_page=10',
        prev: '/p/?page=1&per_page=10',
        next: '/p/?page=3&per_page=10',
        last: '/p/?page=4&per_page=10',
      },
    ],
    [
      'limit=10&offset=10',
      30,
      {
        first: '/p/?limit=10&offset=0',
        prev: '/p/?limit=10&offset=0',
        next: '/p/?limit=10&offset=20',
        last: '/p/?limit=10&offset=20',
      },
    ],
    ['', 20, { first: '/p/?page=1&per_page=20', last: '/p/?page=1&per_page=20' }],
    [
      '',
      21,
      {
        first: '/p/?page=1&per_page=20',
        next: '/p/?page=2&per_page=20',
        last: '/p/?page=2&per_page=20',
      },
    ],
    ['', 0, { first: '/p/?page=1&per_page=20', last: '/p/?page=1&per_page=20' }],
    [
      'offset=3',
      4,
      {
        first: '/p/?limit=20&offset=0',
        prev: '/p/?limit=20&offset=0',
        last: '/p/?limit=20&offset=0',
      },
    ],
    [
      'page=4&per_page=10',
      35,
      {
        first: '/p/?page=1&per_page=10',
        prev: '/p/?page=3&per_page=10',
        last: '/p/?page=4&per_page=10',
      },
    ],
    [
      'page=400&per_page=10',
      35,
      {
        first: '/p/?page=1&per_page=10',
        prev: '/p/?page=4&per_page=10',
        last: '/p/?page=4&per_page=10',
      },
    ],
    [
      'limit=10&offset=35',
      35,
      {
        first: '/p/?limit=10&offset=0',
        prev: '/p/?limit=10&offset=25',
        last: '/p/?limit=10&offset=30',
      },
    ],
    [
      'page=9&per_page=5',
      0,
      {
        first: '/p/?page=1&per_page=5',
        prev: '/p/?page=1&per_page=5',
        last: '/p/?page=1&per_page=5',
      },
    ],
  ];
for (const [search, total, wanted] of CASES) {
  test(`?${search} of ${total} rows has the links of spec 4.1`, () => {
    assert.equal(linksOf(search, total), wanted);
  });
}

/** The offset of each page that is linked to. */
function offsetsOf(search: string, total: number): Record<string, number> {
  const offsets = Object.entries(linksOf(search, total)).map(
    ([rel, target]) => [rel, parseQuery(KINDS.skus, target.slice(4)).selection.offset] as const,
  );
  return Object.fromEntries(offsets);
}

const UNALIGNED: readonly (readonly [string, number, Record<string, number>])[] = [
  ['limit=10&offset=5', 36, { first: 0, prev: 0, next: 15, last: 30 }],
  ['limit=10&offset=25', 36, { first: 0, prev: 15, next: 35, last: 30 }],
  ['limit=10&offset=26', 36, { first: 0, prev: 16, last: 30 }],
  ['limit=10&offset=35', 36, { first: 0, prev: 25, last: 30 }],
  ['limit=10&offset=36', 36, { first: 0, prev: 26, last: 30 }],
  ['limit=10&offset=99', 36, { first: 0, prev: 30, last: 30 }],
  ['limit=7&offset=3', 14, { first: 0, prev: 0, next: 10, last: 7 }],
];

for (const [search, total, wanted] of UNALIGNED) {
  test(`?${search} of ${total} rows links to ${JSON.stringify(wanted)}`, () => {
    assert.equal(offsetsOf(search, total), wanted);
  });
}

test('a list without paging has no links to pages', () => {
  assert.equal(linksOf('', 5000, KINDS.books), {});
  assert.equal(linksOf('sortby=name', 5000, KINDS.books), {});
});

test('a link keeps the other parameters in their order and percent-encoded, except utm_ ones', () => {
  const { first = '' } = linksOf(
    'keyword=%3E%2C%22%20%26x%C3%A9&page=1&utm_source=a&sortby=name',
    1,
  );
  assert.is(first, '/p/?keyword=%3E%2C%22%20%26x%C3%A9&sortby=name&page=1&per_page=20');
});

test('links of more than 4096 characters are left out, and next is kept before prev, first and last', () => {
  const withKeyword = (length: number) =>
    linksOf(`keyword=${'x'.repeat(length)}&page=2&per_page=10`, 35);
  const { next = '' } = withKeyword(1);
  const longest = 4096 - `<${next}>; rel="next"`.length + 1;
  for (const [length, kept] of [
    [900, ['first', 'prev', 'next', 'last']],
    [1100, ['first', 'prev', 'next']],
    [1800, ['prev', 'next']],
    [longest, ['next']],
    [longest + 1, []],
  ] as const) {
    assert.equal(Object.keys(withKeyword(length)), kept, `${length} characters`);
  }
});

/** The rows of a page as the query selects them. */
function rowsOf(target: string, total: number): number[] {
  const { offset, limit } = parseQuery(KINDS.skus, target.slice(target.indexOf('?') + 1)).selection;
  return Array.from({ length: total }, (_, row) => row).slice(offset, offset + limit);
}

const total = fc.integer({ min: 0, max: 60 });
const size = fc.integer({ min: 1, max: 25 });
const form = fc.constantFrom('per_page', 'limit');

test('following next from the first page visits every row once, and ends on last', () => {
  fc.assert(
    fc.property(total, size, form, (count, limit, parameter) => {
      const visited: number[] = [];
      let target: string | undefined = `/p/?${parameter}=${limit}`;
      const { last, first } = linksOf(`${parameter}=${limit}`, count);
      let latest = first;
      while (target !== undefined) {
        visited.push(...rowsOf(target, count));
        const links = linksOf(target.slice(4), count);
        assert.is(links['last'], last);
        assert.is(links['first'], first);
        latest = links['next'] ?? latest;
        target = links['next'];
      }
      assert.equal(
        visited,
        Array.from({ length: count }, (_, row) => row),
      );
      assert.is(latest, last);
    }),
  );
});

test('following prev from any page visits every row before it, and ends on first', () => {
  const start = fc.integer({ min: 0, max: 200 });
  fc.assert(
    fc.property(total, size, start, (count, limit, offset) => {
      const begin = `/p/?limit=${limit}&offset=${offset}`;
      const visited = new Set(rowsOf(begin, count));
      let target = linksOf(begin.slice(4), count)['prev'];
      let latest = begin;
      for (let steps = 0; target !== undefined; steps += 1) {
        assert.ok(steps <= count, 'it ends');
        for (const row of rowsOf(target, count)) visited.add(row);
        latest = target;
        target = linksOf(target.slice(4), count)['prev'];
      }
      assert.is(latest, offset === 0 ? begin : linksOf(begin.slice(4), count)['first']);
      const before = Array.from({ length: Math.min(offset, count) }, (_, row) => row);
      assert.equal(
        before.filter((row) => !visited.has(row)),
        [],
      );
    }),
  );
});

test('from any offset, last contains the last row, and next and prev skip no rows', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 60 }),
      size,
      fc.integer({ min: 0, max: 80 }),
      (count, limit, offset) => {
        const {
          first,
          prev,
          next,
          last = -1,
        } = offsetsOf(`limit=${limit}&offset=${offset}`, count);
        assert.is(first, 0);
        assert.ok(
          last <= count - 1 && count - 1 < last + limit,
          'the last row is on the last page',
        );
        assert.is(next === undefined, offset + limit >= count, 'next if rows follow');
        if (next !== undefined) assert.is(next, offset + limit);
        assert.is(prev === undefined, offset === 0, 'prev if rows precede');
        if (prev === undefined) return;
        assert.ok(prev < offset);
        assert.ok(prev + limit >= Math.min(offset, count), 'no row between prev and this page');
      },
    ),
  );
});

test('every link is a valid query with the same filters, order and page size', () => {
  fc.assert(
    fc.property(
      total,
      size,
      fc.integer({ min: 1, max: 9 }),
      fc.string(),
      (count, limit, page, word) => {
        const keyword = encodeURIComponent(word.toWellFormed());
        const search = `keyword=${keyword}&per_page=${limit}&page=${page}&order=desc&spu_id=3`;
        const { selection } = parseQuery(KINDS.skus, search);
        for (const target of Object.values(linksOf(search, count))) {
          const linked = parseQuery(KINDS.skus, target.slice(4)).selection;
          assert.equal({ ...linked, offset: 0 }, { ...selection, offset: 0 });
        }
      },
    ),
  );
});

test.run();
