/** The check of a store: each planted fault is reported, and an undamaged store has no findings. */
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DATA_FILES } from '../../../src/data-files.ts';
import { type Disk, machineDisk } from '../../../src/disk/disk.ts';
import { KIND_NAMES, type KindName } from '../../../src/model/kind.ts';
import { entryOf } from '../../../src/resources/audit.ts';
import { append } from '../../../src/store/bounded.ts';
import { checkStore, stateFault, stateFaults } from '../../../src/store/check.ts';
import { createStore } from '../../../src/store/files/create.ts';
import type { Transaction } from '../../../src/store/writer/draft.ts';
import { changeSetName } from '../../../src/store/files/files.ts';
import { changeOf } from '../../../src/model/change.ts';
import { recover } from '../../../src/store/files/recovery.ts';
import { filesOf } from '../../support/catalog.ts';
import { leftInDisorder, openStore, storeDirectory } from '../../support/checked.ts';
import { quickDisk } from '../../support/disk.ts';
import { type BaseFile, type ChangeSetFile, type Edit, forge } from '../../support/reseal.ts';
import { until } from '../../support/until.ts';
import { ROOT, fixture } from '../../support/paths.ts';

const FIXTURE = fixture(1);

/** At least one row of every kind, and two third-level categories; the SPUs are in one of them. */
function fill(all: Transaction): void {
  const brand = (name: string) => ({ name, logo: '', first_letter: '' });
  for (const name of ['Works', 'Other'])
    all.put('brands', { id: all.nextId('brands'), ...brand(name) });
  for (const parent_id of [null, 1, 2, null, 4, 5]) {
    const id = all.nextId('categories');
    all.put('categories', { id, name: `Category ${id}`, parent_id });
  }
  const texts = { desc_detail: '', desc_pack: '', desc_service: '' };
  const chain = { category1_id: 1, category2_id: 2, category3_id: 3 };
  const counts = { sales: 0, comments: 0 };
  for (const name of ['Phone', 'Case']) {
    all.put('goods', { id: all.nextId('goods'), name, brand_id: 1, ...chain, ...counts, ...texts });
  }
  for (const goods_id of [1, 1, 2]) {
    all.put('specs', { id: all.nextId('specs'), name: 'Colour', goods_id });
  }
  for (const spec_id of [1, 1, 2]) {
    all.put('options', { id: all.nextId('options'), value: 'Silver', spec_id });
  }
  const prices = { price: 3, cost_price: 1, market_price: 4, stock: 0 };
  const sku = { name: 'Phone, silver', goods_id: 1, caption: '', category_id: 3, ...prices };
  all.put('skus', { id: all.nextId('skus'), ...sku, sales: 0, is_launched: true, code: 'A-1' });
  all.put('sku_specs', { id: all.nextId('sku_specs'), sku_id: 1, spec_id: 1, option_id: 1 });
  const answer = { created: 1, etag: '"1"', body: '{"id":1}', time: 0 };
  const key = { key: '[null,"a"]', digest: '', shelf: 'anonymous' };
  append(all, 'idempotency_keys', { ...key, ...answer }, () => false);
  for (const before of [null, { id: 1, name: 'Works' }]) {
    const change = changeOf<KindName>('brands', 1, before, { id: 1, name: 'Other' });
    append(all, 'audits', entryOf(change, { subject: 'ann', time: 0 }), () => false);
  }
  const hook = { url: 'https://receiver.example/', resources: '[]', active: true };
  const since = { created: '2026-01-01T00:00:00.000Z', failing_since: null, origin: 1, key: '' };
  all.put('webhooks', { id: all.nextId('webhooks'), ...hook, ...since });
  for (const name of ['Emma', 'Ulysses']) {
    const book = { name, pub_date: '1815-12-23', commentcount: 0, readcount: 0, image: '' };
    all.put('books', { id: all.nextId('books'), ...book });
  }
}

const renameBrand = (id: number, name: string) => (all: Transaction) =>
  all.put('brands', { id, name, logo: '', first_letter: '' });

const putOption = (id: number, spec_id: number) => (all: Transaction) =>
  all.put('options', { id, value: 'Black', spec_id });

/** Five change sets: the first adds all rows; the others add, change, delete and move rows. */
const HISTORY: readonly ((all: Transaction) => void)[] = [
  fill,
  renameBrand(2, 'Second'),
  (all) => {
    renameBrand(all.nextId('brands'), 'Third')(all);
    all.delete('books', 2);
    putOption(all.nextId('options'), 1)(all);
  },
  (all) => {
    renameBrand(2, 'Fourth')(all);
    putOption(all.nextId('options'), 1)(all);
  },
  (all) => {
    renameBrand(3, 'Fifth')(all);
    putOption(5, 2)(all);
    all.delete('options', 4);
  },
];

/** A store of five change sets after an empty base. */
async function history(): Promise<string> {
  const directory = storeDirectory();
  const store = await openStore(directory, { disk: quickDisk });
  for (const transaction of HISTORY) await store.transact(transaction);
  await store.close();
  return directory;
}

/** The same rows in a base, and no change set after it. */
async function folded(of?: string): Promise<string> {
  const from = recover(machineDisk, of ?? (await history()));
  const directory = storeDirectory();
  if (from === null) throw new Error('there is no store');
  await createStore(quickDisk, directory, from.state.snapshot());
  return directory;
}

/** Findings, with DIR in place of the directory. */
const foundIn = (directory: string, disk: Disk = machineDisk) =>
  checkStore(disk, directory).findings.map((finding) => finding.replaceAll(directory, 'DIR'));

const RESTORE = 'restore the directory from a backup, or see "Damage" in docs/storage.md';
const damage = (file: string, what: string) => `DIR/${file} is damaged: ${what}; ${RESTORE}`;

test('check finds nothing in an undamaged store, whether its rows are in change sets or in a base', async () => {
  for (const [make, behind] of [
    [history, 5],
    [folded, 0],
  ] as const) {
    const directory = await make();
    const { findings, state: document, changeSets } = checkStore(machineDisk, directory);
    assert.equal(findings, []);
    assert.is(changeSets, behind);
    assert.is(document?.sequence, 5);
    for (const kind of KIND_NAMES) assert.ok((document?.rows[kind].size ?? 0) > 0, kind);
    assert.is(document?.rows.brands.get(3)?.['name'], 'Fifth');
  }
});

test('if there is no store, check returns no findings and no state', async () => {
  const directory = storeDirectory();
  const nothing = { findings: [], state: null, changeSets: 0 };
  assert.equal(checkStore(machineDisk, directory), nothing);
  assert.equal(checkStore(machineDisk, join(directory, 'not-there')), nothing);
  mkdirSync(join(directory, DATA_FILES.changes));
  assert.equal(checkStore(machineDisk, directory), nothing);
});

test('check accepts what a crash leaves, ignores files that are not of the store and changes nothing', async () => {
  const source = await history();
  const directory = await folded(source);
  // A crash between the new base and the removal of a change set that it contains.
  cpSync(join(source, changeSetName(5)), join(directory, changeSetName(5)));
  for (const name of ['.0123456789abcdef.tmp', join(DATA_FILES.changes, '.fedcba9876543210.tmp')]) {
    writeFileSync(join(directory, name), '{"half":');
  }
  writeFileSync(join(directory, 'notes.txt'), 'mine');
  mkdirSync(join(directory, 'pages'));
  const before = filesOf(directory);
  assert.equal(foundIn(directory), []);
  assert.equal(filesOf(directory), before);
});

test('check accepts descriptions of any length, because earlier versions accepted them', async () => {
  const directory = await folded();
  const texts = { desc_detail: 'x'.repeat(65_537), desc_service: 'y'.repeat(300_000) };
  forge(directory, { base: row('goods', 1, texts) });
  assert.equal(foundIn(directory), []);
});

interface Planted {
  readonly what: string;
  readonly base?: Edit<BaseFile>;
  readonly changes?: Readonly<Record<number, Edit<ChangeSetFile>>>;
  readonly found: readonly string[];
}

/** Edits a row of the base. */
const row =
  (kind: keyof BaseFile['tables'], id: number, values: Readonly<Record<string, unknown>>) =>
  ({ tables }: BaseFile): void => {
    const found = tables[kind].find((candidate) => candidate['id'] === id);
    if (found === undefined) throw new Error(`there is no row ${id} of ${kind}`);
    for (const [name, value] of Object.entries(values)) {
      // defineProperty, because an assignment to __proto__ adds no member.
      const member = { value, enumerable: true, configurable: true, writable: true };
      if (value === undefined) Reflect.deleteProperty(found, name);
      else Object.defineProperty(found, name, member);
    }
  };

const ROWS: readonly Planted[] = [
  {
    what: 'a boolean instead of a string',
    base: row('brands', 2, { name: true }),
    found: ['brand 2: name: must be a string, not a boolean'],
  },
  {
    what: 'a string instead of an integer',
    base: row('skus', 1, { price: '3' }),
    found: ['SKU 1: price: must be an integer, not a string'],
  },
  {
    what: 'a fraction, and a number below the minimum',
    base: row('skus', 1, { price: 1.5, stock: -1 }),
    found: [
      'SKU 1: price: must be an integer, not a fraction: prices are integers of the smallest currency unit, such as 150 cents for 1.5',
      'SKU 1: stock: must be 0 or more',
    ],
  },
  {
    what: 'a string instead of a boolean',
    base: row('skus', 1, { is_launched: 'yes' }),
    found: ['SKU 1: is_launched: must be true or false, not a string'],
  },
  {
    what: 'an array and an object instead of strings',
    base: row('brands', 2, { name: ['a'], logo: {} }),
    found: [
      'brand 2: name: must be a string, not an array',
      'brand 2: logo: must be a string, not an object',
    ],
  },
  {
    what: 'a date that does not exist',
    base: row('books', 1, { pub_date: '2023-02-30' }),
    found: ['book 1: pub_date: must be a date that exists, written YYYY-MM-DD'],
  },
  {
    what: 'an unpaired surrogate',
    base: row('brands', 2, { name: '\ud800' }),
    found: ['brand 2: name: must not contain an unpaired surrogate'],
  },
  {
    what: 'null in an attribute that does not allow it',
    base: row('goods', 2, { brand_id: null }),
    found: ['SPU 2: brand_id: must be an integer, not null'],
  },
  {
    what: 'attributes of the wrong type that the server sets',
    base: row('books', 1, { readcount: '5', image: null }),
    found: [
      'book 1: readcount: must be an integer, not a string',
      'book 1: image: it must be a string',
    ],
  },
  {
    what: 'counts that are no natural numbers',
    base: row('books', 1, { commentcount: 0.5, readcount: -1 }),
    found: [
      'book 1: commentcount: must be an integer, not a fraction',
      'book 1: readcount: must be 0 or more',
    ],
  },
  {
    what: 'missing attributes',
    base: row('books', 1, { name: undefined, commentcount: undefined }),
    found: ['book 1: name: it is missing', 'book 1: commentcount: it is missing'],
  },
  {
    what: 'unknown attributes',
    base: row('brands', 2, { colour: 'red', constructor: 1, ['__proto__']: 2 }),
    found: ['colour', 'constructor', '__proto__'].map(
      (name) => `brand 2: ${name}: it is not stored here`,
    ),
  },
  {
    what: 'a joined name and child rows that are stored',
    base: row('skus', 1, { goods: 'Phone', specs: [] }),
    found: ['SKU 1: goods: it is not stored here', 'SKU 1: specs: it is not stored here'],
  },
  {
    what: 'a broken reference, by its name in the API',
    base: row('specs', 3, { goods_id: 9 }),
    found: ['specification 3: spu_id: 9 does not exist'],
  },
  {
    what: 'references to a missing row',
    base: ({ tables }) => {
      tables.brands = tables.brands.filter(({ id }) => id !== 1);
    },
    found: ['SPU 1: brand_id: 1 does not exist', 'SPU 2: brand_id: 1 does not exist'],
  },
  {
    what: 'categories of an SPU that are not a chain',
    base: row('goods', 2, { category2_id: 5 }),
    found: ['SPU 2: category2_id: category 5 is not a child of category 1'],
  },
  {
    what: 'a SKU that is not in a third-level category',
    base: row('skus', 1, { category_id: 2 }),
    found: ['SKU 1: category_id: category 2 is not a third-level category'],
  },
  {
    what: 'a category below itself',
    base: row('categories', 4, { parent_id: 6 }),
    found: [
      [4, 6],
      [5, 4],
      [6, 5],
    ].map(
      ([id, parent]) =>
        `category ${id}: parent_id: under category ${parent} it would be on a fourth level or below itself`,
    ),
  },
  {
    what: 'an option of another specification',
    base: row('sku_specs', 1, { option_id: 3 }),
    found: ['specification record 1: option_id: option 3 does not belong to specification 1'],
  },
  {
    what: 'an id above the last id',
    base: ({ last_ids }) => {
      last_ids.brands = 2;
    },
    found: ['brand 3: the last id of brands is 2'],
  },
  {
    what: 'a missing last id',
    base: ({ last_ids }) => {
      delete last_ids.skus;
    },
    found: ['SKU 1: the last id of skus is 0'],
  },
  {
    what: 'an audit trail whose first entry is missing',
    base: ({ tables }) => {
      tables.audits.shift();
    },
    found: ['audit entry 2: oldest: it must be 2'],
  },
  {
    what: 'a wrong sum of bytes in the audit trail',
    base: row('audits', 2, { bytes: 1 }),
    found: ['audit entry 2: bytes: it must be 587'],
  },
  {
    what: 'an audit entry with an invalid time, action and JSON text',
    base: row('audits', 1, { time: 'today', after: '[]', action: 'rename' }),
    found: [
      'audit entry 1: time: must be a moment, written YYYY-MM-DDThh:mm:ss.sssZ',
      'audit entry 1: action: must be create, update or delete',
      'audit entry 1: after: must be the JSON text of an object',
    ],
  },
  {
    what: 'two rows with the same id',
    base: ({ tables }) => {
      tables.brands.push({ id: 2, name: 'Twice', logo: '', first_letter: '' });
    },
    found: [damage(DATA_FILES.base, 'brands has two rows with one id')],
  },
  {
    what: 'a webhook whose origin is after the last change set',
    base: row('webhooks', 1, { origin: 6 }),
    found: ['webhook 1: origin: it is 6, but the last change set is 5'],
  },
];

for (const { what, base, found } of ROWS) {
  test(`check finds in a base: ${what}`, async () => {
    const directory = leftInDisorder(await folded());
    forge(directory, { base: base ?? (() => {}) });
    assert.equal(foundIn(directory), found);
  });
}

const CHANGED: readonly Planted[] = [
  {
    what: 'an invalid value in the resulting state',
    changes: {
      4({ put }) {
        put.brands?.push({ id: 1, name: '', logo: '', first_letter: '' });
      },
    },
    found: ['brand 1: name: must not be empty or only white space'],
  },
  {
    what: 'the deletion of a row that others refer to',
    changes: {
      5(changeSet) {
        changeSet.delete = { options: [1] };
      },
    },
    found: ['specification record 1: option_id: 1 does not exist'],
  },
  {
    what: 'a last id that decreases',
    changes: {
      5({ last_ids }) {
        last_ids.brands = 2;
        last_ids.books = 1;
      },
    },
    found: [
      `DIR/${changeSetName(5)}: the last id of books goes back from 2 to 1`,
      `DIR/${changeSetName(5)}: the last id of brands goes back from 3 to 2`,
      'brand 3: the last id of brands is 2',
    ],
  },
  {
    what: 'an id that is used again',
    changes: {
      4({ put }) {
        const counts = { commentcount: 0, readcount: 0, image: '' };
        put.books = [{ id: 2, name: 'Another', pub_date: '1922-02-02', ...counts }];
      },
    },
    found: [`DIR/${changeSetName(4)}: it uses the id of book 2 a second time`],
  },
  {
    what: 'the deletion of a row that never existed, and of one that was deleted before',
    changes: {
      4(changeSet) {
        changeSet.delete = { books: [2], skus: [8] };
      },
    },
    found: [
      `DIR/${changeSetName(4)}: it deletes book 2, which is not there`,
      `DIR/${changeSetName(4)}: it deletes SKU 8, which is not there`,
    ],
  },
  {
    what: 'faults of several change sets, in order',
    changes: {
      2(changeSet) {
        changeSet.delete = { skus: [8] };
      },
      3({ last_ids }) {
        last_ids.brands = 1;
      },
      5({ last_ids }) {
        last_ids.brands = 3;
      },
    },
    found: [
      `DIR/${changeSetName(2)}: it deletes SKU 8, which is not there`,
      `DIR/${changeSetName(3)}: the last id of brands goes back from 2 to 1`,
    ],
  },
  {
    what: 'a file with a valid checksum and an invalid shape',
    changes: {
      4(changeSet) {
        Object.assign(changeSet, { put: { books: 'none' } });
      },
    },
    found: [damage(changeSetName(4), 'must be a list of rows with ids')],
  },
];

for (const { what, changes, found } of CHANGED) {
  test(`check finds in change sets: ${what}`, async () => {
    const directory = leftInDisorder(await history());
    forge(directory, { changes: changes ?? {} });
    assert.equal(foundIn(directory), found);
  });
}

test('a history that is forged without an edit is unchanged', async () => {
  const directory = await history();
  const before = filesOf(directory);
  forge(directory, {});
  assert.equal(filesOf(directory), before);
});

/** Flips one bit in the middle of a file. */
function flip(path: string): void {
  const bytes = readFileSync(path);
  const at = bytes.length >> 1;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

/** Replaces a file by a directory, or a directory by a file. */
function unreadable(path: string): void {
  const wasDirectory = path.endsWith(DATA_FILES.changes);
  rmSync(path, { recursive: true });
  if (wasDirectory) writeFileSync(path, '');
  else mkdirSync(path);
}

const CHECKSUM = 'its checksum does not match its content';
const CUT_OFF = 'it is cut off, or not a file of the store';
const GAP = 'it is missing, and later change sets are there';
const stranger = (name: string) =>
  `DIR/changes/${name} is not a file of the store: ${name} is not the name of a change set; move it out of DIR/changes`;
const inPlace = (file: string, errno = 'EISDIR: illegal operation on a directory, read') =>
  `DIR/${file} cannot be read (${errno}); there is a directory where a file is expected: move it away`;

const FILES: readonly {
  readonly what: string;
  readonly damage: (path: (name: string) => string) => void;
  readonly found: readonly string[];
}[] = [
  {
    what: 'a flipped bit in the base',
    damage: (path) => flip(path(DATA_FILES.base)),
    found: [damage(DATA_FILES.base, CHECKSUM)],
  },
  {
    what: 'a flipped bit in a change set',
    damage: (path) => flip(path(changeSetName(3))),
    found: [damage(changeSetName(3), CHECKSUM)],
  },
  {
    what: 'a flipped bit in the head',
    damage: (path) => flip(path(DATA_FILES.head)),
    found: [damage(DATA_FILES.head, CHECKSUM)],
  },
  {
    what: 'damage in every file, with a finding for each',
    damage: (path) => {
      truncateSync(path(DATA_FILES.head), 0);
      flip(path(DATA_FILES.base));
      for (const sequence of [1, 3, 5]) flip(path(changeSetName(sequence)));
      for (const sequence of [2, 4]) truncateSync(path(changeSetName(sequence)), 100);
    },
    found: [
      damage(DATA_FILES.head, CUT_OFF),
      damage(DATA_FILES.base, CHECKSUM),
      damage(changeSetName(1), CHECKSUM),
      damage(changeSetName(2), CUT_OFF),
      damage(changeSetName(3), CHECKSUM),
      damage(changeSetName(4), CUT_OFF),
      damage(changeSetName(5), CHECKSUM),
    ],
  },
  {
    what: 'a gap, and damage after it',
    damage: (path) => {
      rmSync(path(changeSetName(2)));
      flip(path(changeSetName(4)));
    },
    found: [damage(changeSetName(2), GAP), damage(changeSetName(4), CHECKSUM)],
  },
  {
    what: 'two gaps, one of them of two change sets',
    damage: (path) => {
      for (const sequence of [1, 2, 4]) rmSync(path(changeSetName(sequence)));
    },
    // Only the first change set of a gap is reported.
    found: [damage(changeSetName(1), GAP), damage(changeSetName(4), GAP)],
  },
  {
    what: 'a missing last change set, which only the head reveals',
    damage: (path) => rmSync(path(changeSetName(5))),
    found: [
      damage(changeSetName(5), 'it is missing, and head.json says that change set 5 was answered'),
    ],
  },
  {
    what: 'a missing base, and damage among the change sets',
    damage: (path) => {
      rmSync(path(DATA_FILES.base));
      flip(path(changeSetName(3)));
    },
    found: [
      damage(DATA_FILES.base, 'it is missing, and change sets are there'),
      damage(changeSetName(3), CHECKSUM),
    ],
  },
  {
    what: 'a missing head, and damage among the change sets',
    damage: (path) => {
      rmSync(path(DATA_FILES.head));
      flip(path(changeSetName(3)));
    },
    found: [
      damage(changeSetName(3), CHECKSUM),
      damage(DATA_FILES.head, `it is missing, and ${DATA_FILES.base} is there`),
    ],
  },
  {
    what: 'change sets with swapped file names',
    damage: (path) => {
      cpSync(path(changeSetName(2)), path('kept'));
      cpSync(path(changeSetName(4)), path(changeSetName(2)));
      cpSync(path('kept'), path(changeSetName(4)));
    },
    found: [
      damage(changeSetName(2), 'it holds change set 4'),
      damage(changeSetName(4), 'it holds change set 2'),
    ],
  },
  {
    what: 'a file and a folder in changes/ that are not change sets, and damage',
    damage: (path) => {
      writeFileSync(path(join(DATA_FILES.changes, 'notes.txt')), 'mine');
      mkdirSync(path(join(DATA_FILES.changes, 'old')));
      flip(path(changeSetName(3)));
    },
    found: [stranger('notes.txt'), stranger('old'), damage(changeSetName(3), CHECKSUM)],
  },
  {
    what: 'a base that cannot be read',
    damage: (path) => unreadable(path(DATA_FILES.base)),
    found: [inPlace(DATA_FILES.base)],
  },
  {
    what: 'a change set that cannot be read, and damage after it',
    damage: (path) => {
      unreadable(path(changeSetName(2)));
      flip(path(changeSetName(4)));
    },
    found: [inPlace(changeSetName(2)), damage(changeSetName(4), CHECKSUM)],
  },
  {
    what: 'a head that cannot be read, and damage in a change set',
    damage: (path) => {
      unreadable(path(DATA_FILES.head));
      flip(path(changeSetName(4)));
    },
    found: [inPlace(DATA_FILES.head), damage(changeSetName(4), CHECKSUM)],
  },
];

for (const { what, damage: make, found } of FILES) {
  test(`check finds among the files: ${what}`, async () => {
    const directory = leftInDisorder(await history());
    make((name) => join(directory, name));
    assert.equal(foundIn(directory).sort(), found.toSorted());
  });
}

test('a file in place of changes/ is reported as unreadable', async () => {
  const directory = leftInDisorder(await history());
  unreadable(join(directory, DATA_FILES.changes));
  const [first, ...more] = foundIn(directory);
  assert.match(first ?? '', /^DIR\/changes cannot be read \(ENOTDIR/);
  for (const finding of more) {
    assert.match(finding, /^DIR\/changes\/\d+\.json cannot be read \(ENOTDIR/);
  }
});

test('change sets of another history are reported where the two histories meet', async () => {
  const [directory, other] = [leftInDisorder(await history()), await history()];
  for (const sequence of [3, 4]) {
    cpSync(join(other, changeSetName(sequence)), join(directory, changeSetName(sequence)));
  }
  const what = 'it does not follow the change set before it; it is from another history';
  // After a change set that cannot be applied, the digest of the one before is not known.
  assert.equal(foundIn(directory), [
    damage(changeSetName(3), what),
    damage(changeSetName(5), what),
  ]);
});

test('an older and a newer schema version are reported, with what to do', async () => {
  const older = leftInDisorder(storeDirectory());
  cpSync(FIXTURE, older, { recursive: true });
  assert.equal(foundIn(older), [
    'DIR has schema version 1, this program has 5; run: catalog-server migrate --data DIR',
  ]);
  // Damage of an older store is reported first.
  flip(join(older, changeSetName(6)));
  assert.equal(foundIn(older), [damage(changeSetName(6), CHECKSUM)]);

  const newer = leftInDisorder(await history());
  forge(newer, { base: (base) => Object.assign(base, { schema: 6, tables: [] }) });
  // The other files of a newer store are not checked.
  flip(join(newer, changeSetName(3)));
  writeFileSync(join(newer, DATA_FILES.changes, 'index'), '');
  assert.equal(foundIn(newer), [
    'DIR/catalog.json has schema version 6, this program has 5; use a newer catalog-server (catalog-server migrate only goes forward)',
  ]);
});

test('at most 1000 findings are reported', async () => {
  const directory = leftInDisorder(await folded());
  forge(directory, {
    base({ tables, last_ids }) {
      last_ids.brands = 5000;
      for (let id = 10; id < 2000; id += 1) {
        // Three faults each: 1000 is not a multiple of 3.
        tables.brands.push({ id, name: '', logo: 1, first_letter: 'ab' });
      }
    },
  });
  assert.is(foundIn(directory).length, 1000);
});

test('at most 1000 findings are reported also if the base is missing', async () => {
  const directory = leftInDisorder(await folded());
  rmSync(join(directory, DATA_FILES.base));
  for (let nth = 0; nth <= 1000; nth += 1) {
    writeFileSync(join(directory, DATA_FILES.changes, `note ${nth}`), '');
  }
  assert.is(foundIn(directory).length, 1000);
});

test('the faults of rows are at most 1000 also if all of them share one value', async () => {
  const directory = leftInDisorder(await folded());
  forge(directory, {
    base({ tables, last_ids }) {
      last_ids.skus = 5000;
      for (let id = 10; id < 2000; id += 1) tables.skus.push({ ...tables.skus[0], id });
    },
  });
  const { state } = checkStore(quickDisk, directory);
  assert.ok(state !== null);
  const faults = stateFaults(state);
  assert.is(faults.length, 1000);
  assert.match(faults.at(-1) ?? '', /^SKU 1009: code: /);
});

test('the fault of a state is the first one, and says how many more there are', async () => {
  for (const [values, fault] of [
    [{}, null],
    [{ name: '' }, 'brand 2: name: must not be empty or only white space'],
    [{ name: '', logo: 1 }, 'brand 2: name: must not be empty or only white space; and 1 more'],
  ] as const) {
    const directory = await folded();
    if (fault !== null) leftInDisorder(directory);
    forge(directory, { base: row('brands', 2, values) });
    const { state } = checkStore(quickDisk, directory);
    assert.is(state && stateFault(state), fault);
  }
});

/** The same store after a checkpoint: the base as of change set 3, and two after it. */
async function checkpointed(): Promise<string> {
  const directory = storeDirectory();
  const store = await openStore(directory, { disk: quickDisk, smallestCheckpoint: 3 * 4096 - 1 });
  for (const transaction of HISTORY) await store.transact(transaction);
  await store.close();
  return directory;
}

for (const [what, make, behind] of [
  ['with change sets after it', checkpointed, 2],
  ['without change sets after it', folded, 0],
] as const) {
  test(`a check that a checkpoint overtakes reads only the new base, ${what}`, async () => {
    const directory = await make();
    assert.is(checkStore(machineDisk, directory).changeSets, behind);

    // What the check reads first: an empty base, and change sets of which the third is removed.
    const before = await history();
    let bases = 0;
    const at = (path: string) => (bases > 1 ? path : path.replace(directory, before));
    const disk: Disk = {
      ...machineDisk,
      list: (path) => machineDisk.list(at(path)),
      read: (path) => machineDisk.read(at(path)),
      pieces(path, memory) {
        if (path === join(directory, DATA_FILES.base)) bases += 1;
        return machineDisk.pieces(at(path), memory);
      },
    };
    rmSync(join(leftInDisorder(before), changeSetName(3)));
    assert.equal(foundIn(directory, disk), []);
    assert.ok(bases > 1, 'it was not overtaken');
  });
}

/** Checks a directory until standard input ends; prints the states that it meets, and the findings. */
const CHECKER = `
  const { checkStore } = await import(process.argv[1]);
  const { machineDisk } = await import(process.argv[2]);
  let going = true;
  process.stdin.on('data', () => {}).on('end', () => { going = false; });
  const sequences = new Set();
  while (going) {
    const { findings, state: document } = checkStore(machineDisk, process.argv[3]);
    if (findings.length > 0) {
      console.log('found: ' + findings.join(', '));
      process.exit(1);
    }
    if (!sequences.has(document.sequence)) console.log(document.sequence);
    sequences.add(document.sequence);
    await new Promise((resolve) => setImmediate(resolve));
  }
`;

test('a check during the commits and checkpoints of another process finds nothing', async () => {
  const directory = storeDirectory();
  const store = await openStore(directory, { smallestCheckpoint: 100_000 });
  await store.transact(fill);
  const source = join(ROOT, 'src');
  const checker = spawn(
    process.execPath,
    ['-e', CHECKER, join(source, 'store', 'check.ts'), join(source, 'disk', 'disk.ts'), directory],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  let output = '';
  checker.stdout.on('data', (chunk) => (output += chunk));
  checker.stdin.on('error', () => {
    // The process has ended already, and its output says why.
  });
  const ended = new Promise<number | null>((resolve) => checker.on('close', resolve));
  await until('it checks', () => output !== '');
  // Rows are added, changed, moved between lists and deleted, until there were checkpoints, and the
  // other process has met some states or a problem.
  const isEnough = (nth: number) =>
    output.includes('found') ||
    (nth > 600 && store.baseSequence > 100 && output.split('\n').length > 3);
  for (let nth = 1; !isEnough(nth) && nth < 100_000; nth += 1) {
    await store.transact((all) => {
      const id = all.nextId('options');
      all.put('options', { id, value: `Option ${id}`, spec_id: 3 });
      if (nth > 1) all.put('options', { id: id - 1, value: `Moved ${id}`, spec_id: 2 });
      if (nth > 2) all.delete('options', id - 2);
    });
  }
  checker.stdin.end();
  assert.is(await ended, 0);
  assert.match(output, /^(?:\d+\n){3,}$/);
  await store.close();
  const { sequence } = JSON.parse(readFileSync(join(directory, DATA_FILES.base), 'utf8'));
  assert.ok(sequence > 100, `the last checkpoint was as of ${sequence}`);
});

test.run();
