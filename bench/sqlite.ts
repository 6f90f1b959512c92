/**
 * A peer: Bun.serve over bun:sqlite, with the same rows, tuned as both recommend, and durable at each
 * commit. It has only what the benchmark calls: no checks except the database's, no pages, no audit
 * trail.
 *
 *     bun bench/sqlite.ts DIRECTORY SKUS SECRET
 */
import { Database } from 'bun:sqlite';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import {
  BOOKS,
  categories,
  categoriesOf,
  choicesOf,
  nameOf,
  priceOf,
  spuName,
  spuOf,
  spusFor,
} from './shape.ts';

const [directory = '.', skus = '1000', secret = ''] = process.argv.slice(2);

const database = new Database(join(directory, 'catalog.db'));
for (const pragma of [
  'journal_mode = WAL',
  // The write-ahead log is synced at each commit.
  'synchronous = FULL',
  'foreign_keys = ON',
  'cache_size = -131072',
  'mmap_size = 268435456',
  'temp_store = MEMORY',
]) {
  database.run(`PRAGMA ${pragma}`);
}

function fill(count: number): void {
  for (const table of [
    'category (id INTEGER PRIMARY KEY, name TEXT NOT NULL)',
    'spu (id INTEGER PRIMARY KEY, name TEXT NOT NULL)',
    'sku (id INTEGER PRIMARY KEY, name TEXT NOT NULL, spu_id INTEGER NOT NULL REFERENCES spu, caption TEXT NOT NULL, category_id INTEGER NOT NULL REFERENCES category, price INTEGER NOT NULL, cost_price INTEGER NOT NULL, market_price INTEGER NOT NULL, stock INTEGER NOT NULL, sales INTEGER NOT NULL, is_launched INTEGER NOT NULL)',
    'sku_spec (id INTEGER PRIMARY KEY, sku_id INTEGER NOT NULL REFERENCES sku, spec_id INTEGER NOT NULL, option_id INTEGER NOT NULL)',
    'book (id INTEGER PRIMARY KEY, name TEXT NOT NULL, pub_date TEXT, commentcount INTEGER NOT NULL, readcount INTEGER NOT NULL, image TEXT)',
  ]) {
    database.run(`CREATE TABLE ${table}`);
  }
  const insert = (table: string, columns: number) =>
    database.prepare(`INSERT INTO ${table} VALUES (${Array(columns).fill('?').join(', ')})`);
  const rows = [
    insert('category', 2),
    insert('spu', 2),
    insert('sku', 11),
    insert('sku_spec', 4),
    insert('book', 6),
  ] as const;
  const [category, spu, sku, record, book] = rows;
  const spus = spusFor(count);
  database.transaction(() => {
    for (const { id, name } of categories()) category.run(id, name);
    for (let id = 1; id <= spus; id += 1) spu.run(id, spuName(id));
    for (let id = 1; id <= BOOKS; id += 1) book.run(id, `Book ${id}`, '2001-02-03', 0, 0, null);
    for (let id = 1; id <= count; id += 1) {
      const of = spuOf(id, spus);
      const price = priceOf(id);
      const prices = [price, Math.floor(price / 2), Math.floor(price * 1.1)];
      const third = categoriesOf(of)[2];
      sku.run(id, nameOf(id), of, 'Made for measuring', third, ...prices, id % 1000, 0, 1);
      for (const { spec, option } of choicesOf(id, of)) record.run(null, id, spec, option);
    }
  })();
  for (const index of ['sku_name ON sku (name)', 'sku_price ON sku (price, id)']) {
    database.run(`CREATE INDEX ${index}`);
  }
  database.run('CREATE INDEX sku_spec_sku ON sku_spec (sku_id)');
}

const isFilled = database.query("SELECT 1 FROM sqlite_master WHERE name = 'book'").get() !== null;
if (!isFilled) fill(Number(skus));

const COLUMNS =
  's.id, s.name, p.name AS goods, s.spu_id AS goods_id, s.caption, s.category_id, c.name AS category, s.price, s.cost_price, s.market_price, s.stock, s.sales, s.is_launched';
/** CROSS JOIN fixes the order of the tables: otherwise the planner scans all SKUs for a page. */
const JOINED = 'CROSS JOIN spu p ON p.id = s.spu_id CROSS JOIN category c ON c.id = s.category_id';

interface Shown {
  readonly id: number;
  is_launched: unknown;
  specs: unknown[];
}

interface SentSku {
  readonly name: string;
  readonly spu_id: number;
  readonly caption: string;
  readonly category_id: number;
  readonly price: number;
  readonly cost_price: number;
  readonly market_price: number;
  readonly stock: number;
  readonly is_launched: boolean;
  readonly specs: readonly { readonly spec_id: number; readonly option_id: number }[];
}

const one = database.prepare<Shown, [number]>(
  `SELECT ${COLUMNS} FROM sku s ${JOINED} WHERE s.id = ?`,
);
const records = database.prepare<{ spec_id: number; option_id: number }, [number]>(
  'SELECT spec_id, option_id FROM sku_spec WHERE sku_id = ? ORDER BY id',
);
/** First the ids of the page from one index, then the rows of these. */
const pageBy = (order: string, where = '') =>
  database.prepare<Shown, (string | number)[]>(
    `SELECT ${COLUMNS} FROM (SELECT id FROM sku ${where} ORDER BY ${order} LIMIT 20 OFFSET ?) k CROSS JOIN sku s ON s.id = k.id ${JOINED}`,
  );
const byId = pageBy('id');
const byPrice = pageBy('price DESC, id DESC');
const byName = pageBy('id', 'WHERE name = ?');
const book = database.prepare('SELECT * FROM book WHERE id = ?');
const addBook = database.prepare('INSERT INTO book VALUES (NULL, ?, ?, 0, 0, ?) RETURNING *');
const change = database.prepare(
  'UPDATE sku SET name=?, spu_id=?, caption=?, category_id=?, price=?, cost_price=?, market_price=?, stock=?, is_launched=? WHERE id=?',
);
const addRecord = database.prepare('INSERT INTO sku_spec VALUES (NULL, ?, ?, ?)');

function shown(row: Shown): Shown {
  row.is_launched = row.is_launched === 1;
  row.specs = records.all(row.id);
  return row;
}

const put = database.transaction((id: number, sent: SentSku) => {
  const { name, spu_id, caption, category_id, price, cost_price, market_price, stock } = sent;
  const own = [name, spu_id, caption, category_id, price, cost_price, market_price, stock] as const;
  change.run(...own, sent.is_launched ? 1 : 0, id);
  for (const { spec_id, option_id } of sent.specs) addRecord.run(id, spec_id, option_id);
  return one.get(id);
});

/** A cache of verified tokens, as libraries for tokens have one. */
const verified = new Set<string>();

function isAllowed(request: Request): boolean {
  const token = request.headers.get('authorization')?.slice('Bearer '.length) ?? '';
  if (verified.has(token)) return true;
  const [header, payload, signature = ''] = token.split('.');
  const key = Buffer.from(secret);
  const expected = createHmac('sha256', key).update(`${header}.${payload}`).digest();
  const given = Buffer.from(signature, 'base64url');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return false;
  verified.add(token);
  return true;
}

const refused = () => Response.json({ error: 'a valid token is required' }, { status: 401 });

function list(url: string): Shown[] {
  const query = new URL(url).searchParams;
  const keyword = query.get('keyword');
  const skip = (Number(query.get('page') ?? 1) - 1) * 20;
  if (keyword !== null) return byName.all(keyword, skip).map(shown);
  return (query.get('sortby') === 'price' ? byPrice : byId).all(skip).map(shown);
}

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  routes: {
    '/books/:id/': (request) => Response.json(book.get(Number(request.params.id))),
    '/books/': {
      POST: async (request) => {
        const { name, pub_date } = (await request.json()) as { name: string; pub_date: string };
        return Response.json(addBook.get(name, pub_date, null), { status: 201 });
      },
    },
    '/admin/skus/': (request) =>
      isAllowed(request) ? Response.json(list(request.url)) : refused(),
    '/admin/skus/:id/': {
      GET(request) {
        if (!isAllowed(request)) return refused();
        const row = one.get(Number(request.params.id));
        return row === null ? new Response(null, { status: 404 }) : Response.json(shown(row));
      },
      async PUT(request) {
        if (!isAllowed(request)) return refused();
        const row = put.immediate(Number(request.params.id), (await request.json()) as SentSku);
        return row === null ? new Response(null, { status: 404 }) : Response.json(shown(row));
      },
    },
  },
});
process.stdout.write(`listening on ${server.url.origin}\n`);
