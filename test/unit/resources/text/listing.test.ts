/** The text of lists: whole if short, otherwise in pieces, as of the moment of the request. */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { KINDS } from '../../../../src/model/kinds.ts';
import { type ListText, listText } from '../../../../src/resources/text/listing.ts';
import { PooledBuffer } from '../../../../src/resources/text/pooled-buffer.ts';
import { parseQuery } from '../../../../src/resources/query.ts';
import { AuditedStore } from '../../../../src/resources/audit/audited-store.ts';
import { Records } from '../../../../src/resources/records.ts';
import { openStore, storeDirectory } from '../../../support/checked.ts';
import { countingTurns } from '../../../support/turns.ts';

const PIECE_UNITS = 64 * 1024;

async function piecesOf(text: ListText): Promise<string[]> {
  if (typeof text === 'string') return [text];
  if (!(text instanceof PooledBuffer)) return Array.fromAsync(text);
  const whole = Buffer.from(text.bytes).toString();
  text.release();
  return [whole];
}

/** Rows that are their own texts. */
function copyText(text: string, target: Buffer, at: number): number {
  return Buffer.byteLength(text) <= target.length - at ? target.write(text, at) : 0;
}

const same = (texts: Iterable<string>) => ({
  *[Symbol.iterator]() {
    for (const text of texts) yield [text];
  },
});

test('a list is sent whole up to 64 KiB, and otherwise in pieces that are cut between characters', async () => {
  const row = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.tuple(fc.nat(200_000), fc.constantFrom('x', '\u{1f600}', 'é')).map(([n, c]) => c.repeat(n)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 8 }), async (rows) => {
      const texts = rows.map((each) => JSON.stringify(each));
      const text = listText(texts, copyText, same);
      const pieces = await piecesOf(text);
      assert.is(pieces.join(''), `[${texts.join(',')}]`);
      const length = Buffer.byteLength(pieces.join(''));
      assert.is(text instanceof PooledBuffer, length <= PIECE_UNITS, `${length} bytes`);
      if (text instanceof PooledBuffer) return;
      for (const piece of pieces) {
        assert.ok(piece.length <= PIECE_UNITS && piece.length > 0, `${piece.length} units`);
        assert.not.match(piece, /[\ud800-\udbff]$/u, 'a surrogate pair is cut');
      }
    }),
    { numRuns: 60 },
  );
});

test('a list of 64 KiB is sent whole, and one of a byte more in pieces, each with its end', async () => {
  for (const [length, isWhole] of [
    [PIECE_UNITS - 1, true],
    [PIECE_UNITS, true],
    [PIECE_UNITS + 1, false],
    [PIECE_UNITS + 2, false],
  ] as const) {
    for (const first of [[], ['"first"']]) {
      const begun = `[${first.map((row) => `${row},`).join('')}`;
      const last = JSON.stringify('x'.repeat(length - begun.length - '""]'.length));
      const text = listText([...first, last], copyText, same);
      assert.is(text instanceof PooledBuffer, isWhole, `${length} bytes`);
      assert.ok((await piecesOf(text)).join('') === `${begun}${last}]`, `${length} bytes`);
    }
  }
});

test('the memory of a list that is too long for it is used for the next list', () => {
  const first = new PooledBuffer();
  const { buffer } = first;
  first.release();
  listText(['x'.repeat(2 * PIECE_UNITS)], copyText, same);
  const next = new PooledBuffer();
  assert.is(next.buffer, buffer);
  next.release();
});

test('rows are read only as their pieces are requested, and not after the reader has closed', async () => {
  let read = 0;
  function* rows() {
    for (; read < 1_000_000; read += 1) yield 'x'.repeat(1000);
  }
  const text = listText(rows(), copyText, same);
  assert.not.ok(text instanceof PooledBuffer);
  assert.ok(read < 70, `${read} rows for the first piece`);
  const iterator = (text as AsyncIterable<string>)[Symbol.asyncIterator]();
  for (let piece = 1; piece <= 3; piece += 1) {
    await iterator.next();
    assert.ok(read < 70 * (piece + 1), `${read} rows after ${piece} pieces`);
  }
  await iterator.return?.();
  const before = read;
  assert.is((await iterator.next()).done, true);
  assert.is(read, before);
});

test('other work runs between two pieces', async () => {
  const text = listText(
    Array.from({ length: 400 }, () => 'x'.repeat(1000)),
    copyText,
    same,
  );
  await countingTurns(async (turns) => {
    const pieces = await piecesOf(text);
    assert.ok(pieces.length > 4);
    assert.ok(turns() >= pieces.length - 2, `${turns()} turns`);
  });
});

const NOBODY = { subject: null, key: null };

test('a long list shows the rows as of the request, whatever is written meanwhile', async () => {
  const store = await openStore(storeDirectory());
  const records = new Records(new AuditedStore(store));
  const make = async (kind: keyof typeof KINDS, body: object): Promise<number> =>
    (await records.create({ kind: KINDS[kind], parent: null }, body, NOBODY)).id ?? 0;
  const chain = [await make('categories', { name: 'One' })];
  for (const name of ['Two', 'Three']) {
    chain.push(await make('categories', { name, parent_id: chain.at(-1) }));
  }
  const [category1_id, category2_id, category3_id] = chain;
  const brand_id = await make('brands', { name: 'Acme' });
  const spu_id = await make('goods', {
    name: 'Phone',
    brand_id,
    category1_id,
    category2_id,
    category3_id,
  });
  const spec_id = await make('specs', { name: 'Colour', spu_id });
  const option_id = await make('options', { value: 'Silver', spec_id });
  const prices = { price: 1, cost_price: 1, market_price: 1, stock: 1, is_launched: true };
  const sku = { name: 'x'.repeat(200), caption: '', spu_id, category_id: category3_id, ...prices };
  const skus = Array.from({ length: 600 }, () => ({ ...sku, specs: [{ spec_id, option_id }] }));
  await records.createAll(KINDS.skus, skus, NOBODY);
  const books = Array.from({ length: 2000 }, () => ({ name: 'Emma', pub_date: '1815-12-23' }));
  await records.createAll(KINDS.books, books, NOBODY);

  for (const [kind, search, count] of [
    [KINDS.skus, 'per_page=600', 600],
    [KINDS.skus, 'per_page=600&sortby=goods&order=desc', 600],
    [KINDS.books, '', 2000],
    [KINDS.books, 'sortby=id&order=desc', 2000],
    [KINDS.books, 'per_page=1000', 1000],
    [KINDS.books, 'per_page=1000&sortby=name', 1000],
  ] as const) {
    const { selection } = parseQuery(kind, search);
    const ask = async () => (await records.list({ kind, parent: null }, selection)).text;
    const wanted = (await piecesOf(await ask())).join('');
    assert.is(JSON.parse(wanted).length, count);
    const text = await ask();
    assert.not.ok(text instanceof PooledBuffer, search);
    let got = '';
    for await (const piece of text as AsyncIterable<string>) {
      if (got === '') {
        const last = JSON.parse(wanted).at(-1).id;
        await records.update(
          { kind: KINDS.goods, parent: null },
          spu_id,
          'partial',
          { name: `P${last}` },
          null,
          null,
        );
        const change = kind === KINDS.skus ? { specs: [{ spec_id, option_id }] } : {};
        await records.update(
          { kind, parent: null },
          last,
          'partial',
          { name: 'New', ...change },
          null,
          null,
        );
        await records.remove({ kind, parent: null }, last - (last > 1 ? 1 : -1), null, null);
      }
      got += piece;
    }
    assert.ok(got === wanted, `${kind.name} ${search}: what is sent is not what was asked for`);
    if (kind === KINDS.skus) await records.create({ kind, parent: null }, sku, NOBODY);
    else await records.create({ kind, parent: null }, books[0], NOBODY);
  }
  await store.close();
});

test.run();
