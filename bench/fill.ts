/**
 * Fills an empty directory with a store of N SKUs and the SPUs that they need, or SPUS of them:
 * `bun bench/fill.ts DIRECTORY N [SPUS]`.
 */
import { Store } from '../src/store/store.ts';
import type { Transaction } from '../src/store/writer/draft.ts';
import {
  BOOKS,
  categories,
  categoriesOf,
  choicesOf,
  nameOf,
  priceOf,
  specificationsOf,
  spuName,
  spuOf,
  spusFor,
} from './shape.ts';

const ROWS_A_COMMIT = 10_000;

function fail(error: unknown): never {
  throw error;
}

function addBook(draft: Transaction): void {
  const id = draft.nextId('books');
  const counts = { commentcount: 0, readcount: 0, image: '' };
  draft.put('books', { id, name: `Benchmark book ${id}`, pub_date: '2001-02-03', ...counts });
}

function addSpu(draft: Transaction): void {
  const id = draft.nextId('goods');
  const [category1_id, category2_id, category3_id] = categoriesOf(id);
  draft.put('goods', {
    id,
    name: spuName(id),
    brand_id: 1,
    category1_id,
    category2_id,
    category3_id,
    sales: 0,
    comments: 0,
    desc_detail: 'Made for measuring.',
    desc_pack: 'Nothing.',
    desc_service: 'None.',
  });
  for (const { name, options } of specificationsOf(id)) {
    const spec = draft.nextId('specs');
    draft.put('specs', { id: spec, name, goods_id: id });
    for (const { value } of options) {
      draft.put('options', { id: draft.nextId('options'), value, spec_id: spec });
    }
  }
}

function addSku(draft: Transaction, spus: number): void {
  const id = draft.nextId('skus');
  const spu = spuOf(id, spus);
  const price = priceOf(id);
  draft.put('skus', {
    id,
    name: nameOf(id),
    goods_id: spu,
    caption: 'Made for measuring',
    category_id: categoriesOf(spu)[2],
    price,
    cost_price: Math.floor(price / 2),
    market_price: Math.floor(price * 1.1),
    stock: id % 1000,
    sales: 0,
    is_launched: true,
    code: null,
  });
  for (const { spec, option } of choicesOf(id, spu)) {
    const record = draft.nextId('sku_specs');
    draft.put('sku_specs', { id: record, sku_id: id, spec_id: spec, option_id: option });
  }
}

async function main(directory: string, skus: number, spus: number): Promise<void> {
  const store = await Store.open({
    directory,
    command: 'bench',
    create: true,
    onError: fail,
    onFatal: fail,
  });
  const repeat = async (count: number, add: (draft: Transaction) => void) => {
    for (let done = 0; done < count; done += ROWS_A_COMMIT) {
      await store.transact((draft) => {
        for (let nth = done; nth < Math.min(count, done + ROWS_A_COMMIT); nth += 1) add(draft);
      });
    }
  };
  await store.transact((draft) => {
    draft.put('brands', { id: draft.nextId('brands'), name: 'Brand', logo: '', first_letter: 'B' });
    for (const { name, parent } of categories()) {
      draft.put('categories', { id: draft.nextId('categories'), name, parent_id: parent });
    }
  });
  await repeat(BOOKS, addBook);
  await repeat(spus, addSpu);
  await repeat(skus, (draft) => addSku(draft, spus));
  await store.close();
}

const [directory, skus, spus] = process.argv.slice(2);
if (directory === undefined || skus === undefined) {
  process.stderr.write('usage: bun bench/fill.ts DIRECTORY N [SPUS]\n');
  process.exit(2);
}
void main(directory, Number(skus), Number(spus ?? spusFor(Number(skus))));
