/** The store on real directories: what it promises at opening, to readers and to writers. */
import { spawnSync } from 'node:child_process';
import fs, {
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  renameSync,
  mkdirSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DATA_FILES } from '../../../src/data-files.ts';
import { type Disk, machineDisk } from '../../../src/disk/disk.ts';
import { CatalogError } from '../../../src/errors.ts';
import { KIND_NAMES, type KindName, type Row } from '../../../src/model/kind.ts';
import type { Transaction } from '../../../src/store/writer/draft.ts';
import type { Change } from '../../../src/model/change.ts';
import type { ReadableStore } from '../../../src/store/readable-store.ts';
import { readSnapshot } from '../../../src/store/directory.ts';
import { type Store } from '../../../src/store/store.ts';
import { addBook, bookRow } from '../../support/books.ts';
import { leftInDisorder, openStore, storeDirectory } from '../../support/checked.ts';
import { publishWith } from '../../support/disk.ts';
import { codeOf, failureOf } from '../../support/failure.ts';
import { digestOf, reseal } from '../../support/reseal.ts';
import { turn } from '../../support/turns.ts';

function open(directory: string, disk: Disk = machineDisk, create = true): Promise<Store> {
  return openStore(directory, { disk, create });
}

const rename = (id: number, name: string) => (transaction: Transaction) =>
  transaction.put<KindName>('books', bookRow(id, name));
const remove = (id: number) => (transaction: Transaction) => transaction.delete('books', id);

/** Everything that a reader can see. */
const stateOf = (store: ReadableStore) =>
  KIND_NAMES.map((kind) => ({
    kind,
    lastId: store.lastId(kind),
    rows: [...store.ids(kind)].map((id) => store.get(kind, id)),
  }));

const names = (store: ReadableStore) =>
  [...store.ids('books')].map((id) => store.get('books', id)?.['name']);

const changeSet = (directory: string, sequence: number) =>
  join(directory, 'changes', `${String(sequence).padStart(12, '0')}.json`);
const changeSets = (directory: string) => readdirSync(join(directory, 'changes')).sort();

/** A directory with a closed store: one change set for each transaction. */
async function written(...transactions: ((transaction: Transaction) => unknown)[]) {
  const directory = storeDirectory();
  const store = await open(directory);
  for (const transaction of transactions) await store.transact(transaction);
  await store.close();
  return directory;
}

// Time stands still: a group of transactions also ends after 5 ms, however few have run.
const { now } = performance;
test.before.each(() => {
  const time = performance.now();
  performance.now = () => time;
});
test.after.each(() => {
  performance.now = now;
});

test('a store is created if there is none, and only if that is requested', async () => {
  const directory = join(storeDirectory(), 'deep', 'er');
  const { code, message } = await failureOf(open(directory, machineDisk, false));
  assert.is(code, 'store_missing');
  assert.ok(message.includes(`catalog-server migrate --data ${directory}`), message);
  assert.not.ok(existsSync(dirname(directory)), 'a mistyped name leaves no directory behind');
  const store = await open(directory);
  assert.is(store.created, true);
  assert.equal(names(store), []);
  await store.close();
  const again = await open(directory, machineDisk, false);
  assert.is(again.created, false);
  await again.close();
});

test('after reopening, every committed row and value is there', async () => {
  const directory = storeDirectory();
  const store = await open(directory);
  const strings = ['__proto__', '\u{1f600}\uffff\u0000\u2028', '"\\\n', 'constructor'];
  for (const name of strings) await store.transact(addBook(name));
  await store.transact((transaction) => {
    const id = transaction.nextId('brands');
    transaction.put<KindName>('brands', { id, name: 'Brand', logo: '', first_letter: '' });
    transaction.put<KindName>('books', {
      ...bookRow(1, '__proto__'),
      readcount: Number.MAX_SAFE_INTEGER,
    });
    transaction.put<KindName>('books', { ...bookRow(2, strings[1] ?? ''), image: '\ud800' });
  });
  await store.transact(remove(3));
  const before = stateOf(store);
  await store.close();
  assert.equal(stateOf(readSnapshot(directory)), before);
  const again = await open(directory);
  assert.equal(stateOf(again), before);
  await again.close();
});

test('an id is never used again, not even after a delete and after reopening', async () => {
  const directory = await written(addBook('First'), addBook('Second'), remove(2), remove(1));
  const store = await open(directory);
  assert.is(store.lastId('books'), 2);
  assert.is(await store.transact(addBook('Third')), 3);
  await store.transact(remove(3));
  assert.is(await store.transact(addBook('Fourth')), 4);
  await store.close();
});

test('an answered id is not used again, even if its row was deleted in the same group', async () => {
  const gate = new Gate();
  const directory = storeDirectory();
  const store = await open(directory, gate.disk);
  gate.close();
  const first = store.transact(addBook('First'));
  const created = store.transact(addBook('Second'));
  const removed = store.transact(remove(2));
  gate.open();
  await Promise.all([first, removed]);
  assert.is(await created, 2);
  assert.is(await store.transact(addBook('Third')), 3);
  await store.close();
});

test('half-written files of a killed process are not damage, and the next start removes them', async () => {
  const directory = await written(addBook('First'));
  const staging = join(directory, '.staging-0123456789abcdef');
  mkdirSync(staging);
  const left = [
    join(directory, '.0123456789abcdef.tmp'),
    join(directory, 'changes', '.fedcba9876543210.tmp'),
    join(staging, '.0123456789abcdef.tmp'),
  ];
  for (const path of left) writeFileSync(path, '{"sequence":2,"prev');
  assert.equal(names(readSnapshot(directory)), ['First']);
  assert.ok(left.every(existsSync), 'a reader that does not own the directory removes nothing');
  const store = await open(directory);
  assert.equal(names(store), ['First']);
  assert.not.ok([...left, staging].some(existsSync));
  await store.close();
});

test('files in the data directory that do not belong to the store are not changed', async () => {
  const directory = await written(addBook('First'));
  const strangers = ['notes.txt', '7.json', join('changes', '.hidden')];
  for (const name of strangers) writeFileSync(join(directory, name), 'mine');
  const store = await open(directory);
  await store.transact(addBook('Second'));
  await store.close();
  for (const name of strangers) assert.is(readFileSync(join(directory, name), 'utf8'), 'mine');
});

test('a file in changes/ that is not a change set is damage, is named, and is not changed', async () => {
  // The last ones have a number, but with 13 digits, or one before the first change set.
  for (const name of [
    'README',
    '7.json',
    '000000000001.json.bak',
    '0000000000001.json',
    '000000000000.json',
  ]) {
    const directory = await written(addBook('First'));
    const path = join(leftInDisorder(directory), 'changes', name);
    writeFileSync(path, 'mine');
    for (const attempt of [() => open(directory), () => readAsync(directory)]) {
      const { code, message } = await failureOf(attempt());
      assert.is(code, 'store_damaged', name);
      assert.ok(message.startsWith(`${path} is not a file of the store: `), message);
    }
    assert.is(readFileSync(path, 'utf8'), 'mine');
  }
});

test('a missing change set is damage, and the message names it', async () => {
  const directory = await written(addBook('1'), addBook('2'), addBook('3'));
  rmSync(changeSet(leftInDisorder(directory), 2));
  for (const attempt of [() => open(directory), () => readAsync(directory)]) {
    const { code, message } = await failureOf(attempt());
    assert.is(code, 'store_damaged');
    assert.match(message, /000000000002\.json/);
  }
});

const readAsync = async (directory: string) => readSnapshot(directory);

test('lost change sets at the end are damage, although no later one reveals the gap', async () => {
  for (const [lost, first] of [
    [[3], 3],
    [[2, 3], 2],
    [[1, 2, 3], 1],
  ] as const) {
    const directory = await written(addBook('1'), addBook('2'), addBook('3'));
    for (const sequence of lost) rmSync(changeSet(leftInDisorder(directory), sequence));
    for (const attempt of [() => open(directory), () => readAsync(directory)]) {
      const { code, message } = await failureOf(attempt());
      assert.is(code, 'store_damaged');
      assert.ok(message.startsWith(`${changeSet(directory, first)} is damaged: `), message);
      assert.match(message, /head\.json says that change set 3 was answered/);
    }
  }
});

test('a missing base is damage if there are change sets', async () => {
  const directory = await written(addBook('1'));
  rmSync(join(leftInDisorder(directory), 'catalog.json'));
  for (const attempt of [() => open(directory), () => readAsync(directory)]) {
    const { code, message } = await failureOf(attempt());
    assert.is(code, 'store_damaged');
    assert.ok(message.startsWith(join(directory, 'catalog.json')), message);
  }
});

test('a change set of another history is damage, even if it is the first one', async () => {
  for (const sequence of [1, 2]) {
    const directory = await written(addBook('1'), addBook('2'));
    const other = await written(addBook('other 1'), addBook('other 2'));
    copyFileSync(changeSet(other, sequence), changeSet(leftInDisorder(directory), sequence));
    const { code, message } = await failureOf(open(directory));
    assert.is(code, 'store_damaged');
    assert.ok(message.startsWith(changeSet(directory, sequence)), message);
    assert.match(message, /history/);
  }
});

test('a change set with the file name of another is damage', async () => {
  const directory = await written(addBook('1'), addBook('2'));
  copyFileSync(changeSet(directory, 1), changeSet(leftInDisorder(directory), 2));
  const { code, message } = await failureOf(open(directory));
  assert.is(code, 'store_damaged');
  assert.ok(message.startsWith(changeSet(directory, 2)), message);
});

test('a changed byte in any file is damage, the file is named, and no file is changed', async () => {
  const directory = await written(addBook('First'), addBook('Second'));
  const files = [
    'catalog.json',
    DATA_FILES.head,
    ...changeSets(directory).map((name) => join('changes', name)),
  ];
  for (const name of files) {
    const path = join(directory, name);
    const bytes = readFileSync(path);
    const changed = Buffer.from(bytes);
    changed[20] = (changed[20] ?? 0) ^ 1;
    writeFileSync(path, changed);
    const before = changeSets(directory);
    for (const attempt of [() => open(directory), () => readAsync(directory)]) {
      const failure = await failureOf(attempt());
      assert.is(failure.code, 'store_damaged', name);
      assert.ok(failure.message.startsWith(path), failure.message);
    }
    assert.equal(changeSets(directory), before);
    assert.equal(readFileSync(path), changed);
    writeFileSync(path, bytes);
  }
  assert.equal(names(readSnapshot(directory)), ['First', 'Second']);
});

test('a failed opening releases the directory', async () => {
  const directory = await written(addBook('1'), addBook('2'));
  const bytes = readFileSync(changeSet(directory, 1));
  rmSync(changeSet(directory, 1));
  assert.is(await codeOf(open(directory)), 'store_damaged');
  writeFileSync(changeSet(directory, 1), bytes);
  const store = await open(directory);
  assert.equal(names(store), ['1', '2']);
  await store.close();
});

test('another schema version is refused, and the message says what to do', async () => {
  for (const [schema, wayOut] of [
    [1, /; run: catalog-server migrate --data \//],
    [2, /; run: catalog-server migrate --data \//],
    [3, /; run: catalog-server migrate --data \//],
    [4, /; run: catalog-server migrate --data \//],
    [6, /; use a newer catalog-server \(catalog-server migrate only goes forward\)$/],
  ] as const) {
    const directory = await written(addBook('1'));
    reseal(join(leftInDisorder(directory), 'catalog.json'), (text) =>
      text.replace('"schema":5', `"schema":${schema}`),
    );
    for (const attempt of [() => open(directory), () => readAsync(directory)]) {
      const { code, message } = await failureOf(attempt());
      assert.is(code, 'schema_version');
      assert.match(message, new RegExp(`schema version ${schema}, this program has 5`));
      assert.match(message, wayOut);
    }
  }
});

test('a schema version that never existed is damage', async () => {
  const directory = await written(addBook('1'));
  const base = join(leftInDisorder(directory), 'catalog.json');
  reseal(base, (text) => text.replace('"schema":5', '"schema":0'));
  const { code, message } = await failureOf(open(directory));
  assert.is(code, 'store_damaged');
  assert.ok(message.startsWith(base), message);
});

test('a newer schema version is reported as such, not as damage, whatever else is unknown', async () => {
  const unknown: readonly ((directory: string) => void)[] = [
    (directory) =>
      reseal(join(directory, 'catalog.json'), (text) =>
        text.replace('"tables":{', '"tables":{"suppliers":[],'),
      ),
    (directory) => writeFileSync(join(directory, 'changes', 'index'), 'of a later version'),
    (directory) => reseal(changeSet(directory, 1), (text) => text.replace('"put"', '"set"')),
    (directory) =>
      reseal(join(directory, DATA_FILES.head), (text) => text.replace('"digest"', '"sha3"')),
    (directory) => rmSync(join(directory, DATA_FILES.head)),
  ];
  for (const [nth, change] of unknown.entries()) {
    const directory = await written(addBook('1'));
    reseal(join(leftInDisorder(directory), 'catalog.json'), (text) =>
      text.replace('"schema":5', '"schema":6'),
    );
    change(directory);
    assert.is(await codeOf(open(directory)), 'schema_version', `${nth}`);
  }
});

test('a store opens from a copy of its files in another directory', async () => {
  const directory = await written(addBook('1'), addBook('2'));
  const copied = storeDirectory();
  cpSync(directory, copied, { recursive: true });
  const store = await open(copied);
  assert.equal(names(store), ['1', '2']);
  await store.close();
});

test('a directory cannot be opened twice at the same time, but snapshots of it can be read', async () => {
  const directory = storeDirectory();
  const store = await open(directory);
  await store.transact(addBook('1'));
  const { code, message } = await failureOf(open(directory));
  assert.is(code, 'store_locked');
  assert.match(message, new RegExp(`process ${process.pid}\\b`));
  assert.equal(names(readSnapshot(directory)), ['1']);
  await store.close();
  await (await open(directory)).close();
});

const jq = spawnSync('jq', ['--version']).status === 0 ? test : test.skip;

jq('the files are JSON that jq reads, and the base has one row on each line', async () => {
  const directory = await written(addBook('__proto__'), addBook('Emma \u{1f600}'));
  const query = (filter: string, path: string) =>
    spawnSync('jq', ['-c', filter, path], { encoding: 'utf8' }).stdout.trim();
  assert.is(query('.put.books[0].name', changeSet(directory, 2)), '"Emma \u{1f600}"');
  assert.is(query('.sequence', changeSet(directory, 2)), '2');

  const base = join(await withBaseOf(directory), 'catalog.json');
  assert.is(query('[.tables.books[].name]', base), '["__proto__","Emma \u{1f600}"]');
  assert.is(query('.schema', base), '5');
  assert.is(query('.sequence', join(directory, DATA_FILES.head)), '2');
  const lines = readFileSync(base, 'utf8').split('\n');
  for (const id of [1, 2]) {
    const line = lines.find((text) => text.startsWith(`{"id":${id},`)) ?? '';
    assert.is(JSON.parse(line.replace(/,$|\]+,?$/, '')).id, id);
  }
});

/** A store whose base holds the rows of another. */
async function withBaseOf(source: string): Promise<string> {
  const rows = stateOf(readSnapshot(source)).find(({ kind }) => kind === 'books')?.rows ?? [];
  const directory = await written();
  reseal(join(directory, 'catalog.json'), (text) =>
    text
      .replace('"books":0', `"books":${rows.length}`)
      .replace('"books":[', `"books":[\n${rows.map((row) => JSON.stringify(row)).join(',\n')}`),
  );
  return directory;
}

/** Holds back the change sets that the disk is to write, until they are let through or refused. */
class Gate {
  #passing: Promise<void> = Promise.resolve();
  #decide: { pass(): void; refuse(error: Error): void } = { pass() {}, refuse() {} };
  /** How many have reached the gate. */
  arrived = 0;

  readonly disk: Disk = {
    ...machineDisk,
    publish: async (job) => {
      this.arrived += 1;
      try {
        await this.#passing;
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        return { code, message, reached: 'nothing' };
      }
      return machineDisk.publish(job);
    },
  };

  close(): void {
    this.#passing = new Promise((pass, refuse) => {
      this.#decide = { pass, refuse };
    });
    // A caller that waits gets the refusal; if no caller waits, it is dropped.
    this.#passing.catch(() => {});
  }

  open(): void {
    this.#decide.pass();
    this.#passing = Promise.resolve();
  }

  /** Refuses those that wait now, and holds back later ones. */
  refuse(): void {
    const { refuse } = this.#decide;
    this.close();
    refuse(Object.assign(new Error('EIO: held back'), { code: 'EIO' }));
  }

  /** Lets the event loop turn until so many have arrived. */
  async reached(count: number): Promise<void> {
    while (this.arrived < count) await turn();
  }
}

const turns = async () => {
  for (let i = 0; i < 20; i += 1) await turn();
};

/** Watches the outcome of a promise. */
function watch(promise: Promise<unknown>): { readonly answer: () => string } {
  let answer = 'none';
  promise.then(
    () => (answer = 'done'),
    (error: unknown) => (answer = error instanceof CatalogError ? error.code : String(error)),
  );
  return { answer: () => answer };
}

test('a row is visible to readers, and its write is answered, only when it is durable', async () => {
  const gate = new Gate();
  const directory = storeDirectory();
  const store = await open(directory, gate.disk);
  await store.transact(addBook('Old'));
  const heard: Change[] = [];
  store.onCommit(({ changes }) => heard.push(...changes));
  const before = stateOf(store);

  gate.close();
  const waiting = gate.arrived;
  const writing = watch(store.transact(rename(1, 'New')));
  const creating = watch(store.transact(addBook('Other')));
  await gate.reached(waiting + 1);
  await turns();
  assert.is(store.get('books', 1)?.['name'], 'Old');
  assert.equal(stateOf(store), before);
  const selection = { filters: [], sortby: 'name', order: 'asc', offset: 0, limit: 10 } as const;
  const [first] = store.selectAll('books', selection).rows;
  assert.is(first?.name, 'Old');
  assert.is(store.lastId('books'), 1);
  assert.equal(stateOf(readSnapshot(directory)), before);
  assert.equal([writing.answer(), creating.answer()], ['none', 'none']);
  assert.equal(heard, []);

  gate.open();
  await store.close();
  await turn();
  assert.equal([writing.answer(), creating.answer()], ['done', 'done']);
  assert.equal(names(store), ['New', 'Other']);
  assert.equal(
    heard.map(({ after }: { after: Row | null }) => after?.['name']),
    ['New', 'Other'],
  );
});

test('a row is visible to readers as soon as its write is answered', async () => {
  const store = await open(storeDirectory());
  for (let id = 1; id <= 20; id += 1) {
    assert.is(await store.transact(addBook(`${id}`)), id);
    assert.is(store.get('books', id)?.['name'], `${id}`);
  }
  await store.close();
});

test('the history has a change set only when readers of rows see it', async () => {
  const workers = Promise.withResolvers<void>();
  const waits: number[] = [];
  const store = await openStore(storeDirectory(), {
    onDurable(sequence) {
      waits.push(sequence);
      return sequence === 2 ? workers.promise : Promise.resolve();
    },
  });
  const history = async () => {
    const sequences: number[] = [];
    for await (const { changeSet: made } of store.encodedSince(0)) sequences.push(made.sequence);
    for await (const { sequence } of store.since(0)) sequences.push(sequence);
    return sequences;
  };
  await store.transact(addBook('One'));
  const second = store.transact(addBook('Two'));
  while (waits.length < 2) await turn();
  assert.is(store.sequence, 1);
  assert.equal(await history(), [1, 1]);
  workers.resolve();
  await second;
  assert.is(store.sequence, 2);
  assert.equal(await history(), [1, 2, 1, 2]);
  await store.close();
});

test('a change set is synced before it is named, and its directory before the answer', async () => {
  const steps: string[] = [];
  const paths = new Map<number, string>();
  const opened = (fd: number, path: string) => {
    paths.set(fd, basename(path));
    return fd;
  };
  const note = (step: string, path: string | undefined) =>
    steps.push(`${step} ${path?.endsWith('.tmp') ? 'temporary' : path}`);
  const disk: Disk = {
    ...machineDisk,
    publish: publishWith({
      openSync: (path, flags, mode) => opened(fs.openSync(path, flags, mode), path),
      writeSync(fd, bytes, offset, length, position) {
        note('write', paths.get(fd));
        return fs.writeSync(fd, bytes, offset, length, position);
      },
      fdatasyncSync(fd) {
        fs.fdatasyncSync(fd);
        note('fdatasync', paths.get(fd));
      },
      renameSync(from, to) {
        fs.renameSync(from, to);
        note('rename', basename(to));
      },
      linkSync(from, to) {
        fs.linkSync(from, to);
        note('link', basename(to));
      },
      rmSync(path, options) {
        fs.rmSync(path, options);
        note('unlink', basename(path));
      },
      fsyncSync(fd) {
        fs.fsyncSync(fd);
        note('fsync', paths.get(fd));
      },
    }),
    create: async (path) => opened(await machineDisk.create(path), path),
    open: (path) => opened(machineDisk.open(path), path),
    openRecord: (path) => opened(machineDisk.openRecord(path), path),
    write(fd, bytes) {
      note('write', paths.get(fd));
      machineDisk.write(fd, bytes);
    },
    async fdatasync(fd) {
      await machineDisk.fdatasync(fd);
      note('fdatasync', paths.get(fd));
    },
    async fsync(fd) {
      await machineDisk.fsync(fd);
      note('fsync', paths.get(fd));
    },
    async rename(from, to) {
      await machineDisk.rename(from, to);
      note('rename', basename(to));
    },
  };
  const directory = storeDirectory();
  const store = await open(directory, disk);
  const whole = (name: string, ...before: readonly string[]) => [
    'fdatasync temporary',
    ...before,
    `rename ${name}`,
    `fsync ${basename(directory)}`,
  ];
  // The base completes the store, so it is last. A start can do without the outline: no sync.
  const made = [...whole(DATA_FILES.head), ...whole('catalog.json', 'rename outline.json')];
  assert.equal(steps.filter((step) => !step.startsWith('write')).slice(-made.length), made);
  steps.length = 0;
  await store.transact(addBook('First'));
  steps.push('answer');
  assert.equal(steps, [
    'write temporary',
    'fdatasync temporary',
    'link 000000000001.json',
    'unlink temporary',
    'fsync changes',
    'write head.json',
    'answer',
  ]);
  await store.close();
});

test('if changes/ is missing, it is created and its parent is synced before the first answer', async () => {
  // A backup of a store without change sets may come back without the empty folder.
  const directory = await written();
  rmSync(join(directory, 'changes'), { recursive: true });
  const steps: string[] = [];
  const parents = new Set<number>();
  const disk: Disk = {
    ...machineDisk,
    open(path) {
      const fd = machineDisk.open(path);
      if (path === directory) parents.add(fd);
      return fd;
    },
    close(fd) {
      machineDisk.close(fd);
      // The next file may get the same descriptor.
      parents.delete(fd);
    },
    mkdir(path) {
      machineDisk.mkdir(path);
      steps.push(`mkdir ${basename(path)}`);
    },
    async fsync(fd) {
      await machineDisk.fsync(fd);
      if (parents.has(fd)) steps.push('fsync of the parent');
    },
  };
  const store = await open(directory, disk);
  await store.transact(addBook('First'));
  steps.push('answer');
  await store.close();
  assert.ok(steps.slice(1, -1).includes('fsync of the parent'), steps.join(', '));
});

test('transactions that arrive during a sync share the next change set', async () => {
  const gate = new Gate();
  const directory = storeDirectory();
  const store = await open(directory, gate.disk);
  gate.close();
  const waiting = gate.arrived;
  const first = store.transact(addBook('0'));
  await gate.reached(waiting + 1);
  const others = Array.from({ length: 50 }, (_, i) => store.transact(addBook(`${i + 1}`)));
  gate.open();
  assert.is(await first, 1);
  assert.equal(
    await Promise.all(others),
    Array.from({ length: 50 }, (_, i) => i + 2),
  );
  assert.is(changeSets(directory).length, 2);
  await store.close();
  assert.is(readSnapshot(directory).count('books'), 51);
});

test('a transaction sees the writes of all earlier ones in the queue, durable or not', async () => {
  const gate = new Gate();
  const store = await open(storeDirectory(), gate.disk);
  await store.transact(addBook('Old'));
  gate.close();
  const seen: unknown[] = [];
  const look = (transaction: Transaction) => seen.push(transaction.get('books', 1)?.['name']);
  const all = [
    store.transact(rename(1, 'New')),
    store.transact(rename(1, 'Newer')),
    store.transact(look),
    store.transact(remove(1)),
    store.transact(look),
  ];
  gate.open();
  await Promise.all(all);
  assert.equal(seen, ['Newer', undefined]);
  await store.close();
});

test('if a group fails, its own transactions fail, and those queued after it do not', async () => {
  const gate = new Gate();
  const directory = storeDirectory();
  const store = await open(directory, gate.disk);
  await store.transact(addBook('Kept'));
  gate.close();
  const waiting = gate.arrived;
  const first = watch(store.transact(addBook('Fails alone')));
  await gate.reached(waiting + 1);
  const group = ['A', 'B'].map((name) => watch(store.transact(addBook(name))));
  gate.refuse();
  await gate.reached(waiting + 2);
  await turns();
  assert.is(first.answer(), 'write_refused');
  assert.equal(
    group.map(({ answer }) => answer()),
    ['none', 'none'],
  );

  const behind = store.transact(addBook('Behind'));
  gate.refuse();
  await gate.reached(waiting + 3);
  await turns();
  assert.equal(
    group.map(({ answer }) => answer()),
    ['write_refused', 'write_refused'],
  );

  gate.open();
  // The ids of failed transactions were never answered, so they are used.
  assert.is(await behind, 2);
  assert.equal(names(store), ['Kept', 'Behind']);
  await store.close();
  assert.equal(names(readSnapshot(directory)), ['Kept', 'Behind']);
});

test('if a group fails, the transactions that wrote fail, and those after them run again', async () => {
  const gate = new Gate();
  const store = await open(storeDirectory(), gate.disk);
  await store.transact(addBook('Kept'));
  gate.close();
  const waiting = gate.arrived;
  const ahead = store.transact(addBook('Ahead'));
  await gate.reached(waiting + 1);
  const nameOf = (id: number) => (transaction: Transaction) =>
    transaction.get('books', id)?.['name'];
  const group = {
    readBefore: store.transact(nameOf(1)),
    threwBefore: watch(store.transact(() => assert.unreachable('its own'))),
    wrote: watch(store.transact(rename(1, 'Changed'))),
    readAfter: watch(store.transact(nameOf(1))),
    threwAfter: watch(
      store.transact((transaction) => assert.unreachable(`it saw ${nameOf(1)(transaction)}`)),
    ),
  };
  // The first group passes, the second is refused.
  const passing = gate.arrived + 1;
  gate.open();
  gate.close();
  await ahead;
  await gate.reached(passing);
  gate.refuse();
  gate.open();
  assert.is(await group.readBefore, 'Kept');
  await turns();
  assert.match(group.threwBefore.answer(), /its own/);
  assert.is(group.wrote.answer(), 'write_refused');
  assert.is(group.readAfter.answer(), 'done');
  assert.match(group.threwAfter.answer(), /it saw Kept/);
  assert.is(store.get('books', 1)?.['name'], 'Kept');
  await store.close();
});

test('a transaction that throws does not affect the others of its group', async () => {
  const gate = new Gate();
  const directory = storeDirectory();
  const store = await open(directory, gate.disk);
  gate.close();
  const waiting = gate.arrived;
  const first = store.transact(addBook('1'));
  await gate.reached(waiting + 1);
  const before = store.transact(addBook('2'));
  const thrown = new Error('changed its mind');
  const throwing = store.transact((transaction) => {
    addBook('never')(transaction);
    transaction.put<KindName>('books', bookRow(1, 'never'));
    transaction.delete('books', 2);
    throw thrown;
  });
  const broken = store.transact((transaction) =>
    transaction.put<KindName>('specs', {
      id: transaction.nextId('specs'),
      name: 'Colour',
      goods_id: 9,
    }),
  );
  const failures = Promise.allSettled([throwing, broken]);
  const after = store.transact(addBook('3'));
  gate.open();
  assert.equal(await Promise.all([first, before, after]), [1, 2, 3]);
  const [own, integrity] = await failures;
  assert.is(own?.status === 'rejected' && own.reason, thrown);
  assert.is(integrity?.status === 'rejected' && integrity.reason.code, 'integrity');
  assert.equal(names(store), ['1', '2', '3']);
  assert.is(store.lastId('specs'), 0);
  await store.close();
  assert.equal(names(readSnapshot(directory)), ['1', '2', '3']);
});

test('a transaction that changes nothing writes nothing', async () => {
  const directory = storeDirectory();
  const store = await open(directory);
  assert.is(await store.transact((transaction) => transaction.get('books', 1)), undefined);
  await store.transact(remove(1));
  assert.equal(changeSets(directory), []);
  await store.close();
});

test('close waits for running transactions, and later ones fail as store_closed', async () => {
  const gate = new Gate();
  const directory = storeDirectory();
  const store = await open(directory, gate.disk);
  gate.close();
  const waiting = gate.arrived;
  const under = ['1', '2', '3'].map((name) => store.transact(addBook(name)));
  await gate.reached(waiting + 1);
  const closing = watch(store.close());
  assert.is(await codeOf(store.transact(addBook('late'))), 'store_closed');
  await turns();
  assert.is(closing.answer(), 'none');
  gate.open();
  assert.equal(await Promise.all(under), [1, 2, 3]);
  while (closing.answer() === 'none') await turn();
  assert.is(await codeOf(store.transact(addBook('late'))), 'store_closed');
  assert.equal(names(readSnapshot(directory)), ['1', '2', '3']);
});

test('a change set that a listing of the directory misses is not damage', async () => {
  // A listing may contain a file that was added while it ran, and miss one that was added earlier.
  const directory = storeDirectory();
  const store = await open(directory);
  for (const name of ['1', '2', '3']) await store.transact(addBook(name));
  let listings = 0;
  const disk: Disk = {
    ...machineDisk,
    list(path) {
      const all = machineDisk.list(path);
      listings += 1;
      return listings === 1 ? all.filter((name) => !name.startsWith('000000000002')) : all;
    },
  };
  assert.equal(names(readSnapshot(directory, disk)), ['1', '2', '3']);
  await store.close();
});

test('a change set that is added while the directory is read is not a gap', async () => {
  // The read does not find it yet; the listing after that contains a later one.
  const directory = storeDirectory();
  const store = await open(directory);
  for (const name of ['1', '2', '3']) await store.transact(addBook(name));
  let looks = 0;
  const disk: Disk = {
    ...machineDisk,
    read(path) {
      if (path !== changeSet(directory, 2)) return machineDisk.read(path);
      looks += 1;
      return looks === 1 ? null : machineDisk.read(path);
    },
  };
  assert.equal(names(readSnapshot(directory, disk)), ['1', '2', '3']);
  assert.is(looks, 2);
  await store.close();
});

test('change sets that the base contains are removed at opening', async () => {
  const directory = await written(addBook('1'), addBook('2'));
  const path = join(directory, 'catalog.json');
  const digest = digestOf(changeSet(directory, 1));
  reseal(path, (text) =>
    text
      .replace(/"sequence":0,"previous":"[0-9a-f]+"/, `"sequence":1,"previous":"${digest}"`)
      .replace('"books":0', '"books":1')
      .replace('"books":[', `"books":[\n${JSON.stringify(bookRow(1, '1'))}`),
  );
  assert.equal(names(readSnapshot(directory)), ['1', '2']);
  assert.is(changeSets(directory).length, 2);
  const store = await open(directory);
  assert.equal(names(store), ['1', '2']);
  assert.equal(changeSets(directory), ['000000000002.json']);
  await store.close();
});

test('if changes/ was replaced, the next commit fails as durability_unknown, which is fatal', async () => {
  const directory = storeDirectory();
  const fatalities: unknown[] = [];
  const store = await openStore(directory, { onFatal: (error) => fatalities.push(error) });
  await store.transact(addBook('First'));
  renameSync(join(directory, 'changes'), join(directory, 'changes-away'));
  mkdirSync(join(directory, 'changes'));
  const { code, message } = await failureOf(store.transact(addBook('Second')));
  assert.is(code, 'durability_unknown');
  assert.match(message, 'changes was replaced after the store was opened');
  assert.is(fatalities.length, 1);
  // The write was not answered, so putting the directory back loses nothing.
  assert.equal(names(store), ['First']);
  rmSync(join(directory, 'changes'), { recursive: true });
  renameSync(join(directory, 'changes-away'), join(directory, 'changes'));
  await store.close();
  assert.equal(names(readSnapshot(directory)), ['First']);
});

test.run();
