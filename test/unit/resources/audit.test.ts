/** The audit trail compared with the writes: neither exists without the other. */
import { cpSync } from 'node:fs';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Disk } from '../../../src/disk/disk.ts';
import { CatalogError } from '../../../src/errors.ts';
import { KIND_NAMES, type KindName, type Row } from '../../../src/model/kind.ts';
import { KINDS } from '../../../src/model/kinds.ts';
import type { Address } from '../../../src/resources/address.ts';
import { AuditedStore } from '../../../src/resources/audit/audited-store.ts';
import { Undo } from '../../../src/resources/audit/undo.ts';
import { Records } from '../../../src/resources/records.ts';
import { checkStore } from '../../../src/store/check.ts';
import { recover } from '../../../src/store/files/recovery.ts';
import { Store } from '../../../src/store/store.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { quickDisk, refusableDisk } from '../../support/disk.ts';
import { codeOf } from '../../support/failure.ts';
import { openQuickStore } from '../../support/quick-store.ts';

const TIME = Date.UTC(2026, 0, 1);

/** The kinds whose writes get entries. */
const AUDITED = KIND_NAMES.filter((name) => KINDS[name].audited);

interface Opened {
  readonly store: Store;
  readonly audited: AuditedStore;
  readonly records: Records;
  readonly directory: string;
}

interface Options {
  readonly directory?: string;
  readonly disk?: Disk;
  readonly auditBytes?: number;
  readonly smallestCheckpoint?: number;
}

async function open({ auditBytes, ...more }: Options = {}): Promise<Opened> {
  const directory = more.directory ?? temporaryDirectory();
  const store = await openQuickStore(directory, more);
  const audited = new AuditedStore(store, {
    now: () => TIME,
    ...(auditBytes !== undefined && { auditBytes }),
  });
  return { store, directory, audited, records: new Records(audited) };
}

async function close({ store, directory }: Opened): Promise<void> {
  await store.close();
  assert.equal(checkStore(quickDisk, directory).findings, []);
}

const at = (kind: KindName): Address => ({ kind: KINDS[kind], parent: null });
const ann = { subject: 'ann', key: null };

const rowsOf = ({ store }: Opened, kind: KindName) =>
  [...store.ids(kind)].map((id) => store.get(kind, id) as Row);

const trail = (opened: Opened) => rowsOf(opened, 'audits');

/** The rows that result from applying all entries of a trail, by kind and id. */
function toldBy(entries: readonly Row[]): Record<string, Row> {
  const rows: Record<string, Row> = {};
  for (const { resource, resource_id, action, before, after } of entries) {
    const name = `${resource} ${resource_id}`;
    const was = before === null ? undefined : JSON.parse(before as string);
    assert.equal(was, rows[name], `${name} before it`);
    assert.is(action, before === null ? 'create' : after === null ? 'delete' : 'update');
    if (after === null) delete rows[name];
    else rows[name] = JSON.parse(after as string);
  }
  return rows;
}

function stored(opened: Opened): Record<string, Row> {
  return Object.fromEntries(
    AUDITED.flatMap((kind) => rowsOf(opened, kind).map((row) => [`${kind} ${row.id}`, row])),
  );
}

test('writes of every kind except books, idempotency keys and audit entries get entries', () => {
  const silent = KIND_NAMES.filter((name) => !AUDITED.includes(name));
  assert.equal(silent, ['books', 'idempotency_keys', 'audits']);
});

/** One request; the ids are small numbers, so that some of them exist. */
interface Step {
  readonly does: 'create' | 'many' | 'change' | 'change all' | 'remove' | 'again';
  readonly kind: 'brands' | 'categories' | 'goods' | 'specs' | 'options' | 'skus' | 'books';
  readonly picks: readonly [number, number, number];
}

const aStep: fc.Arbitrary<Step> = fc.record({
  does: fc.constantFrom('create', 'create', 'many', 'change', 'change all', 'remove', 'again'),
  kind: fc.constantFrom('brands', 'categories', 'goods', 'specs', 'options', 'skus', 'books'),
  picks: fc.tuple(fc.integer({ min: 1, max: 4 }), fc.nat(3), fc.nat(3)),
});

function bodyOf(kind: Step['kind'], [first, second, third]: Step['picks']) {
  const chain = { category1_id: 1, category2_id: 2, category3_id: 3 };
  const amounts = { price: second, cost_price: 0, market_price: third, stock: 0 };
  const specs = Array.from({ length: third % 3 }, () => ({ spec_id: 1, option_id: first }));
  const sku = { name: 'SKU', caption: '', category_id: 3, is_launched: true, ...amounts };
  return {
    brands: { name: `Brand ${second}` },
    categories: { name: 'Category', parent_id: second === 0 ? null : second },
    goods: { name: `SPU ${third}`, brand_id: first, ...chain },
    specs: { name: 'Colour', spu_id: first },
    options: { value: `${third}`, spec_id: first },
    skus: { ...sku, spu_id: 1, specs },
    books: { name: 'Emma', pub_date: '1815-12-23' },
  }[kind];
}

/** Carries out a step, which may be refused. */
async function perform({ records }: Opened, { does, kind, picks }: Step): Promise<void> {
  const address = at(kind);
  const body = bodyOf(kind, picks);
  const [id, other] = picks;
  try {
    if (does === 'create') await records.create(address, body, ann);
    else if (does === 'many') await records.createAll(address.kind, [body, body], ann);
    else if (does === 'again') await records.create(address, body, { ...ann, key: `${other}` });
    else if (does === 'change') await records.update(address, id, 'partial', body, null, 'bob');
    else if (does === 'remove') await records.remove(address, id, null, 'bob');
    else {
      const changes = [...new Set([id, other])].map((each) => ({ ...body, id: each }));
      await records.updateAll(address.kind, changes, 'bob');
    }
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error;
  }
}

/** Some rows of each kind, so that most references of later steps exist. */
const FOUNDATION: readonly Step[] = [
  { does: 'many', kind: 'brands', picks: [1, 1, 1] },
  { does: 'create', kind: 'categories', picks: [1, 0, 0] },
  { does: 'create', kind: 'categories', picks: [1, 1, 0] },
  { does: 'create', kind: 'categories', picks: [1, 2, 0] },
  { does: 'create', kind: 'goods', picks: [1, 1, 1] },
  { does: 'create', kind: 'specs', picks: [1, 1, 1] },
  { does: 'many', kind: 'options', picks: [1, 1, 1] },
  { does: 'many', kind: 'skus', picks: [1, 1, 2] },
];

test('after any writes and refusals, applying all entries gives exactly the stored rows', async () => {
  const wholly = fc.asyncProperty(
    fc.array(aStep, { minLength: 5, maxLength: 25 }),
    fc.boolean(),
    async (steps, together) => {
      const opened = await open({ smallestCheckpoint: 8192 });
      for (const step of FOUNDATION) await perform(opened, step);
      if (together) await Promise.all(steps.map((step) => perform(opened, step)));
      else for (const step of steps) await perform(opened, step);
      const rows = stored(opened);
      assert.ok(Object.keys(rows).length > 5);
      assert.equal(toldBy(trail(opened)), rows);
      await close(opened);
      const again = await open({ directory: opened.directory });
      assert.equal(toldBy(trail(again)), rows);
      await close(again);
    },
  );
  await fc.assert(wholly, { numRuns: 60 });
});

test('no write of a group that the disk refused leaves an entry', async () => {
  const refusal = { active: false };
  const disk = refusableDisk(refusal);
  const opened = await open({ disk });
  await opened.records.create(at('brands'), { name: 'First' }, ann);
  refusal.active = true;
  const names = ['A', 'B', 'C'];
  const refused = await Promise.allSettled(
    names.map((name) => opened.records.create(at('brands'), { name }, ann)),
  );
  assert.ok(refused.every(({ status }) => status === 'rejected'));
  assert.is(trail(opened).length, 1);
  refusal.active = false;
  await opened.records.create(at('brands'), { name: 'Second' }, ann);
  assert.equal(
    trail(opened).map(({ id, resource_id }) => [id, resource_id]),
    [
      [1, 1],
      [2, 2],
    ],
  );
  await close(opened);
});

test('after a crash between two commits the entries match the stored rows', async () => {
  const opened = await open();
  const copies: string[] = [];
  for (let nth = 1; nth <= 5; nth += 1) {
    await opened.records.create(at('brands'), { name: `Brand ${nth}` }, ann);
    const copy = temporaryDirectory();
    cpSync(opened.directory, copy, { recursive: true });
    copies.push(copy);
  }
  await close(opened);
  for (const [last, directory] of copies.entries()) {
    const again = await open({ directory });
    assert.is(again.store.count('brands'), last + 1);
    assert.equal(toldBy(trail(again)), stored(again));
    await close(again);
  }
});

test('an entry is in the change set of its write', async () => {
  const opened = await open();
  for (const name of ['One', 'Two', 'Three']) {
    await opened.records.create(at('brands'), { name }, ann);
  }
  await close(opened);
  assert.is(recover(quickDisk, opened.directory)?.files.length, 3);
});

test('an entry has the subject of its request, or null, and the time of the write', async () => {
  const opened = await open();
  const { records } = opened;
  await records.createAll(KINDS.brands, [{ name: 'A' }, { name: 'B' }], ann);
  await records.update(at('brands'), 1, 'partial', { logo: 'a' }, null, 'bob');
  await records.update(at('brands'), 1, 'partial', { logo: 'c' }, null, 'bob');
  await records.updateAll(KINDS.brands, [{ id: 2, logo: 'b' }], 'eve');
  await records.remove(at('brands'), 2, null, null);
  assert.equal(
    trail(opened).map(({ subject }) => subject),
    ['ann', 'ann', 'bob', 'bob', 'eve', null],
  );
  assert.ok(trail(opened).every(({ time }) => time === '2026-01-01T00:00:00.000Z'));
  await close(opened);
});

/** The size of an entry according to docs/api.md. */
const weightOf = ({ subject, before, after }: Row) =>
  256 + Buffer.byteLength(`${subject ?? ''}${before ?? ''}${after ?? ''}`);

test('the trail never exceeds its limit, and no more entries are removed than necessary', async () => {
  const auditBytes = 2000;
  const opened = await open({ auditBytes });
  const all: Row[] = [];
  for (let nth = 1; nth <= 30; nth += 1) {
    await opened.records.create(at('brands'), { name: 'ü'.repeat((nth * 37) % 200 || 1) }, ann);
    const kept = trail(opened);
    all.push(kept.at(-1) as Row);
    const weight = kept.reduce((sum, entry) => sum + weightOf(entry), 0);
    assert.ok(weight <= auditBytes, `${weight} bytes`);
    assert.equal(kept, all.slice(-kept.length));
    const next = all.at(-kept.length - 1);
    if (next !== undefined) assert.ok(weight + weightOf(next) > auditBytes, `after ${nth}`);
  }
  assert.ok(trail(opened).length < 10);
  await close(opened);
});

test('entries whose sizes add up to exactly the limit are kept', async () => {
  const opened = await open({ auditBytes: 2 * (256 + 'ann'.length + 47) });
  for (const name of ['A', 'B', 'C']) await opened.records.create(at('brands'), { name }, ann);
  assert.equal(trail(opened).map(weightOf), [306, 306]);
  assert.equal(
    trail(opened).map(({ id }) => id),
    [2, 3],
  );
  await close(opened);
});

test('a bulk write that exceeds the limit leaves only the newest entries, in one commit', async () => {
  const opened = await open({ auditBytes: 1000 });
  const before = opened.store.sequence;
  const names = Array.from({ length: 50 }, (_, index) => ({ name: `Brand ${index}` }));
  await opened.records.createAll(KINDS.brands, names, ann);
  assert.is(opened.store.sequence, before + 1);
  assert.equal(
    trail(opened).map(({ resource_id }) => resource_id),
    [48, 49, 50],
  );
  await close(opened);
});

test('a smaller limit is applied by the next write that gets an entry', async () => {
  const opened = await open();
  for (let nth = 1; nth <= 20; nth += 1) {
    await opened.records.create(at('brands'), { name: `Brand ${nth}` }, ann);
  }
  await close(opened);
  const smaller = await open({ directory: opened.directory, auditBytes: 1000 });
  assert.is(trail(smaller).length, 20);
  await smaller.records.create(at('books'), { name: 'Emma', pub_date: '1815-12-23' }, ann);
  assert.is(trail(smaller).length, 20);
  await smaller.records.create(at('brands'), { name: 'Brand 21' }, ann);
  assert.equal(
    trail(smaller).map(({ resource_id }) => resource_id),
    [19, 20, 21],
  );
  await close(smaller);
});

/** The SKUs and the records that are stored. */
const skusIn = (opened: Opened) =>
  Object.keys(stored(opened)).filter((name) => name.startsWith('sku'));

/** The entry of the creation of a SKU. */
const creationOf = (opened: Opened, id: number) =>
  trail(opened).find((row) => row['resource'] === 'skus' && row['resource_id'] === id)?.id ?? 0;

test('undoing a SKU of a bulk write undoes its records, and not the other SKUs of the request', async () => {
  const opened = await open();
  for (const step of FOUNDATION) await perform(opened, step);
  assert.equal(skusIn(opened), [
    'skus 1',
    'skus 2',
    ...[1, 2, 3, 4].map((id) => `sku_specs ${id}`),
  ]);
  await new Undo(opened.audited).entries([creationOf(opened, 1)], false, 'carl');
  assert.equal(skusIn(opened), ['skus 2', 'sku_specs 3', 'sku_specs 4']);
  await close(opened);
});

test('undoing a write undoes no write of another subject, even at the same time', async () => {
  const opened = await open();
  for (const step of FOUNDATION) await perform(opened, step);
  const { records } = opened;
  await records.create(at('skus'), bodyOf('skus', [1, 1, 0]), ann);
  const [nesting] = KINDS.sku_specs.nestings;
  assert.ok(nesting);
  const ofSku = { kind: KINDS.sku_specs, parent: { nesting, id: 3 } };
  await records.create(ofSku, { spec_id: 1, option_id: 1 }, { ...ann, subject: 'bob' });
  const undone = new Undo(opened.audited).entries([creationOf(opened, 3)], false, 'carl');
  assert.is(await codeOf(undone), 'changed_since');
  assert.ok(skusIn(opened).includes('skus 3'));
  await close(opened);
});

test('undoing a write of a SKU ignores a change of an account at the same time', async () => {
  const opened = await open();
  for (const step of FOUNDATION) await perform(opened, step);
  await opened.records.create(at('skus'), bodyOf('skus', [1, 1, 0]), ann);
  const account = { action: 'create', resource: 'users', resource_id: 1, before: null } as const;
  await opened.audited.record('ann', { ...account, after: '{}' });
  await new Undo(opened.audited).entries([creationOf(opened, 3)], false, 'carl');
  assert.not(skusIn(opened).includes('skus 3'));
  await close(opened);
});

test('an attribute that an entry of an earlier version does not have stays as it is', async () => {
  const opened = await open();
  await opened.records.create(at('brands'), { name: 'B', logo: 'b.png' }, ann);
  const [before, after] = ['{"id":1,"name":"A"}', '{"id":1,"name":"B"}'];
  const change = { action: 'update', resource: 'brands', resource_id: 1 } as const;
  await opened.audited.record('ann', { ...change, before, after });
  await new Undo(opened.audited).entries([2], true, 'carl');
  const brand = opened.store.get('brands', 1);
  assert.equal([brand?.name, brand?.logo], ['A', 'b.png']);
  await close(opened);
});

test('undoing writes that cancel each other out writes nothing', async () => {
  const opened = await open();
  await opened.records.create(at('brands'), { name: 'A' }, ann);
  for (const name of ['B', 'A']) {
    await opened.records.update(at('brands'), 1, 'partial', { name }, null, 'ann');
  }
  const { sequence } = opened.store;
  await new Undo(opened.audited).entries([2, 3], false, 'carl');
  assert.is(opened.store.sequence, sequence);
  await close(opened);
});

test('undoing any writes from the newest on restores the original rows byte for byte', async () => {
  const wholly = fc.asyncProperty(
    fc.array(aStep, { minLength: 5, maxLength: 20 }),
    async (steps) => {
      const opened = await open();
      for (const step of FOUNDATION) await perform(opened, step);
      const [before, { length }] = [JSON.stringify(stored(opened)), trail(opened)];
      const lastIds = AUDITED.map((kind) => opened.store.lastId(kind));
      for (const step of steps) await perform(opened, step);
      const ids = trail(opened).flatMap(({ id }) => (id > length ? [id] : []));
      const undo = new Undo(opened.audited);
      if (ids.length > 0) await undo.entries(ids, false, 'carl');
      assert.is(JSON.stringify(stored(opened)), before);
      for (const [index, kind] of AUDITED.entries()) {
        assert.ok(opened.store.lastId(kind) >= (lastIds[index] ?? 0));
      }
      assert.equal(toldBy(trail(opened)), stored(opened), 'it leaves entries of its own');
      await close(opened);
    },
  );
  await fc.assert(wholly, { numRuns: 25 });
});

test('undoing a write of a SKU undoes no record that another request of the subject added at the same time', async () => {
  const opened = await open();
  for (const step of FOUNDATION) await perform(opened, step);
  const { records } = opened;
  const before = skusIn(opened);
  await records.update(at('skus'), 1, 'partial', { price: 7 }, null, 'ann');
  const ofPrice = opened.store.lastId('audits');
  const [nesting] = KINDS.sku_specs.nestings;
  assert.ok(nesting);
  const ofSku = { kind: KINDS.sku_specs, parent: { nesting, id: 1 } };
  for (let times = 0; times < 3; times += 1) {
    await records.create(ofSku, { spec_id: 1, option_id: 1 }, ann);
  }
  await new Undo(opened.audited).entries([ofPrice], false, 'carl');
  assert.is(skusIn(opened).length, before.length + 3);
  assert.is(opened.store.get('skus', 1)?.price, 1);
  await close(opened);
});

test.run();
