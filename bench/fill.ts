/** Fills an empty directory with a store of N SKUs: `bun bench/fill.ts DIRECTORY N`. */
import { Store } from '../src/store/store.ts';

/** SPUs, each with one specification of one option; SKUs are spread over them. */
const SPUS = 1000;
const BOOKS = 1000;
const SKUS_A_COMMIT = 10_000;

function fail(error: unknown): never {
  throw error;
}

async function main(directory: string, skus: number): Promise<void> {
  const store = await Store.open({
    directory,
    command: 'bench',
    create: true,
    onError: fail,
    onFatal: fail,
  });
  await store.transact((draft) => {
    draft.put('brands', { id: draft.nextId('brands'), name: 'Brand', logo: '', first_letter: 'B' });
    for (const [name, parent_id] of [
      ['First level', null],
      ['Second level', 1],
      ['Third level', 2],
    ] as const) {
      draft.put('categories', { id: draft.nextId('categories'), name, parent_id });
    }
    for (let i = 0; i < BOOKS; i += 1) {
      const id = draft.nextId('books');
      const pub_date = '2001-02-03';
      const counts = { commentcount: 0, readcount: 0, image: '' };
      draft.put('books', { id, name: `Benchmark book ${id}`, pub_date, ...counts });
    }
    for (let i = 0; i < SPUS; i += 1) {
      const id = draft.nextId('goods');
      draft.put('goods', {
        id,
        name: `Benchmark SPU ${id}`,
        brand_id: 1,
        category1_id: 1,
        category2_id: 2,
        category3_id: 3,
        sales: 0,
        comments: 0,
        desc_detail: 'Made for measuring.',
        desc_pack: 'Nothing.',
        desc_service: 'None.',
      });
      draft.put('specs', { id: draft.nextId('specs'), name: 'Colour', goods_id: id });
      draft.put('options', { id: draft.nextId('options'), value: 'Silver', spec_id: id });
    }
  });
  for (let first = 1; first <= skus; first += SKUS_A_COMMIT) {
    await store.transact((draft) => {
      const last = Math.min(skus, first + SKUS_A_COMMIT - 1);
      for (let n = first; n <= last; n += 1) {
        const id = draft.nextId('skus');
        const spu = ((n - 1) % SPUS) + 1;
        draft.put('skus', {
          id,
          name: `Benchmark SKU ${id}`,
          goods_id: spu,
          caption: 'Made for measuring',
          category_id: 3,
          price: 499_900,
          cost_price: 399_900,
          market_price: 549_900,
          stock: n % 1000,
          sales: 0,
          is_launched: true,
          code: null,
        });
        const record = draft.nextId('sku_specs');
        draft.put('sku_specs', { id: record, sku_id: id, spec_id: spu, option_id: spu });
      }
    });
  }
  await store.close();
}

const [directory, skus] = process.argv.slice(2);
if (directory === undefined || skus === undefined) {
  process.stderr.write('usage: bun bench/fill.ts DIRECTORY N\n');
  process.exit(2);
}
void main(directory, Number(skus));
