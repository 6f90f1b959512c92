/** Checkpoints: a new base is written in the background, and its change sets are removed. */
import { spawn } from 'node:child_process';
import fs, { cpSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DATA_FILES } from '../../../../src/data-files.ts';
import type { Disk } from '../../../../src/disk/disk.ts';
import { KIND_NAMES, type KindName, type Row } from '../../../../src/model/kind.ts';
import type { Transaction } from '../../../../src/store/writer/draft.ts';
import type { ReadableStore } from '../../../../src/store/readable-store.ts';
import { readSnapshot } from '../../../../src/store/directory.ts';
import { FileLog } from '../../../../src/store/files/file-log.ts';
import { databaseOver } from '../../../../src/store/lowdb.ts';
import { type Store } from '../../../../src/store/store.ts';
import { Committer } from '../../../../src/store/writer/committer.ts';
import { baseOf } from '../../../support/bases.ts';
import { findingsOf, openStore, storeDirectory } from '../../../support/checked.ts';
import { publishWith, quickDisk } from '../../../support/disk.ts';
import { until } from '../../../support/until.ts';
import { ROOT } from '../../../support/paths.ts';
import { turn } from '../../../support/turns.ts';

function open(
  directory: string,
  disk: Disk = quickDisk,
  more: { smallestCheckpoint?: number } = {},
): Promise<Store> {
  return openStore(directory, { disk, ...more });
}

const bookRow = (id: number, readcount: number, image = ''): Row => ({
  id,
  name: `Book ${id}`,
  pub_date: '1815-12-23',
  commentcount: 0,
  readcount,
  image,
});

const addBook =
  (image = '') =>
  (transaction: Transaction): number => {
    const id = transaction.nextId('books');
    transaction.put<KindName>('books', bookRow(id, 0, image));
    return id;
  };

/** The least that a change set counts, in bytes. */
const BLOCK = 4096;

/** The text of a large change set: four of them make a checkpoint due if the base is small. */
const LARGE = 'x'.repeat(1_100_000);

const stateOf = (store: ReadableStore) =>
  KIND_NAMES.map((kind) => ({
    lastId: store.lastId(kind),
    rows: [...store.ids(kind)].map((id) => store.get(kind, id)),
  }));

const changeSets = (directory: string) => readdirSync(join(directory, 'changes')).sort();
const sequenceOfBase = (directory: string) => baseOf(directory).sequence;
const numbered = (sequence: number) => `${String(sequence).padStart(12, '0')}.json`;

test('1200 small commits are merged into a base by a checkpoint, and no row is lost', async () => {
  const directory = storeDirectory();
  const store = await open(directory);
  const commits = 1200;
  for (let nth = 1; nth <= commits; nth += 1) {
    if (nth % 5 === 0) await store.transact((transaction) => transaction.delete('books', nth / 5));
    else await store.transact(addBook());
  }
  const before = stateOf(store);
  await store.close();

  const base = sequenceOfBase(directory);
  assert.ok(base > 1000 && base < commits, `the base is as of ${base}`);
  assert.equal(
    changeSets(directory),
    Array.from({ length: commits - base }, (_, i) => numbered(base + 1 + i)),
  );
  assert.equal(stateOf(readSnapshot(directory)), before);
  const again = await open(directory);
  assert.equal(stateOf(again), before);
  assert.is(await again.transact(addBook()), 961);
  await again.close();
  assert.is(readSnapshot(directory).lastId('books'), 961);
});

test('the id of a deleted row is not used again after a checkpoint and a restart', async () => {
  const directory = storeDirectory();
  const store = await open(directory);
  const id = await store.transact((transaction) => {
    const next = transaction.nextId('brands');
    transaction.put<KindName>('brands', { id: next, name: 'Brand', logo: '', first_letter: '' });
    return next;
  });
  await store.transact((transaction) => transaction.delete('brands', id));
  for (let nth = 1; nth <= 5; nth += 1) await store.transact(addBook(LARGE));
  await store.close();
  assert.ok(sequenceOfBase(directory) > 2, 'there was no checkpoint');
  const again = await open(directory);
  assert.is(again.lastId('brands'), id);
  assert.is(await again.transact((transaction) => transaction.nextId('brands')), id + 1);
  await again.close();
});

test('no base is written while the change sets are small', async () => {
  const directory = storeDirectory();
  const store = await open(directory);
  for (let nth = 1; nth <= 100; nth += 1) await store.transact(addBook());
  await store.close();
  assert.is(sequenceOfBase(directory), 0);
  assert.is(changeSets(directory).length, 100);
});

test('the size of a store is that of its base, and of the blocks that the change sets after it occupy', async () => {
  const directory = storeDirectory();
  const sizeNow = (changes: number) => ({
    base: statSync(join(directory, DATA_FILES.base)).size,
    changes: changes * BLOCK,
  });
  const store = await open(directory, quickDisk, { smallestCheckpoint: 2 * BLOCK });
  assert.equal(store.size, sizeNow(0));
  for (let nth = 1; nth <= 3; nth += 1) await store.transact(addBook());
  assert.equal(store.size, sizeNow(3));
  // The fourth begins a checkpoint of those before it.
  await store.transact(addBook());
  await until('the base is replaced', () => store.size.changes === BLOCK);
  assert.is(sequenceOfBase(directory), 3);
  assert.equal(store.size, sizeNow(1));
  await store.close();
  const again = await open(directory);
  assert.equal(again.size, sizeNow(1), 'after a start');
  await again.close();
});

test('after a checkpoint that contains every commit, no change set is after the base', async () => {
  const directory = storeDirectory();
  const rethrow = (error: unknown) => {
    throw error;
  };
  const log = new FileLog({ disk: quickDisk, directory, onError: rethrow });
  const low = databaseOver(log);
  await low.read();
  await low.write();
  const committer = new Committer(low, log, { onError: rethrow, onFatal: rethrow });
  for (let nth = 1; nth <= 2; nth += 1) await committer.submit(addBook());
  assert.is(log.size.changes, 2 * BLOCK);
  await low.write();
  assert.is(sequenceOfBase(directory), 2);
  assert.is(log.size.changes, 0);
  await committer.close();
  await log.close();
});

for (const [step, where] of [
  ['create', 'before its first row'],
  ['fdatasync', 'after its last row'],
] as const) {
  test(`commits while a checkpoint is ${where} are not in its base, and their change sets stay`, async () => {
    const directory = storeDirectory();
    let letThrough: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      letThrough = resolve;
    });
    const bases = new Set<number>();
    let holding = false;
    const disk: Disk = {
      ...quickDisk,
      async create(path) {
        const ofBase = dirname(path) === directory;
        if (holding && step === 'create' && ofBase) await held;
        const fd = await quickDisk.create(path);
        if (ofBase) bases.add(fd);
        else bases.delete(fd);
        return fd;
      },
      fdatasync: async (fd) => {
        await (holding && step === 'fdatasync' && bases.has(fd) ? held : turn());
      },
    };
    const store = await open(directory, disk);
    holding = true;
    for (let nth = 1; nth <= 5; nth += 1) await store.transact(addBook(LARGE));
    // The checkpoint waits; meanwhile rows are added, changed and deleted.
    for (let nth = 1; nth <= 30; nth += 1) await store.transact(addBook());
    await store.transact((transaction) => transaction.put<KindName>('books', bookRow(2, 7)));
    await store.transact((transaction) => transaction.delete('books', 1));
    assert.is(sequenceOfBase(directory), 0);
    letThrough();
    const before = stateOf(store);
    await store.close();
    const base = baseOf(directory);
    assert.is(base.sequence, 4);
    assert.is(base.lastIds.books, 4);
    assert.equal(
      [...base.rows.books.values()],
      [1, 2, 3, 4].map((id) => bookRow(id, 0, LARGE)),
    );
    assert.equal(changeSets(directory)[0], numbered(5));
    assert.is(changeSets(directory).length, 33);
    const again = await open(directory);
    assert.equal(stateOf(again), before);
    await again.close();
  });
}

test('a crash at any step of a commit or a checkpoint keeps what was answered and no partial commit', async () => {
  const directory = storeDirectory();
  const copies: { readonly step: string; readonly copy: string; readonly answered: number }[] = [];
  let answered = 0;
  /** Copies what a crash right after the step leaves. */
  const crash = (step: string) => {
    const copy = storeDirectory();
    cpSync(directory, copy, { recursive: true });
    copies.push({ step, copy, answered });
  };
  let watching = false;
  const disk: Disk = {
    ...quickDisk,
    publish: publishWith({
      openSync(path, flags, mode) {
        const fd = fs.openSync(path, flags, mode);
        if (watching) crash('create');
        return fd;
      },
      writeSync(fd, bytes, offset, length, position) {
        if (typeof position === 'number') {
          // The head: a crash leaves it whole or untouched, since it is one call.
          const all = fs.writeSync(fd, bytes, offset, length, position);
          if (watching) crash(`overwrite ${DATA_FILES.head}`);
          return all;
        }
        const half = fs.writeSync(fd, bytes, offset, length / 2);
        if (watching) crash('half a write');
        const rest = fs.writeSync(fd, bytes, offset + half, length - half);
        if (watching) crash('write');
        return half + rest;
      },
      fdatasyncSync() {},
      renameSync(from, to) {
        fs.renameSync(from, to);
        if (watching) crash(`rename ${basename(to)}`);
      },
      linkSync(from, to) {
        fs.linkSync(from, to);
        if (watching) crash(`link ${basename(to)}`);
      },
      rmSync(path, options) {
        fs.rmSync(path, options);
        if (watching) crash('unlink temporary');
      },
      fsyncSync() {},
    }),
    async create(path) {
      const fd = await quickDisk.create(path);
      if (watching) crash('create');
      return fd;
    },
    write(fd, bytes) {
      quickDisk.write(fd, bytes.subarray(0, bytes.length / 2));
      if (watching) crash('half a write');
      quickDisk.write(fd, bytes.subarray(bytes.length / 2));
      if (watching) crash('write');
    },
    async rename(from, to) {
      await quickDisk.rename(from, to);
      if (watching) crash(`rename ${basename(to)}`);
    },
    async unlink(path) {
      await quickDisk.unlink(path);
      if (watching) crash(`unlink ${basename(path)}`);
    },
  };
  const store = await open(directory, disk, { smallestCheckpoint: 3 * BLOCK });
  const commit = async () => {
    await store.transact(addBook());
    answered += 1;
  };
  for (let nth = 1; nth <= 4; nth += 1) await commit();
  watching = true;
  for (let nth = 1; nth <= 2; nth += 1) await commit();
  await store.close();
  watching = false;

  const steps = new Set(copies.map(({ step }) => step));
  assert.ok(steps.has(`rename ${DATA_FILES.base}`), 'there was no checkpoint');
  assert.ok(steps.has(`unlink ${numbered(1)}`), 'nothing was removed');
  assert.ok(steps.has(`overwrite ${DATA_FILES.head}`), 'there was no head');
  for (const { step, copy, answered: least } of copies) {
    assert.equal(findingsOf(copy), [], step);
    const found = readSnapshot(copy).count('books');
    assert.ok(found === least || found === least + 1, `${step}: ${found} books, answered ${least}`);
    const again = await open(copy);
    assert.is(again.count('books'), found, step);
    assert.is(again.lastId('books'), found, step);
    const kept = changeSets(copy);
    assert.ok(
      kept.every((name) => name > numbered(sequenceOfBase(copy))),
      `${step}: ${kept.join(' ')}`,
    );
    const hidden = readdirSync(copy, { recursive: true, encoding: 'utf8' });
    assert.equal(
      hidden.filter((name) => basename(name).startsWith('.')),
      [],
      step,
    );
    assert.is(await again.transact(addBook()), found + 1);
    await again.close();
    assert.is(readSnapshot(copy).count('books'), found + 1);
  }
});

test('a checkpoint begins when the change sets are larger than both the limit and the base', async () => {
  const directory = storeDirectory();
  const bases: string[] = [];
  const disk: Disk = {
    ...quickDisk,
    create(path) {
      if (dirname(path) === directory) bases.push(path);
      return quickDisk.create(path);
    },
  };
  /** The number of the commit that finds a checkpoint due. */
  const due = async (image: string) => {
    const store = await open(directory, disk, { smallestCheckpoint: 3 * BLOCK });
    bases.length = 0;
    let id = await store.transact(addBook(image));
    while (bases.length === 0 && id < 100) id = await store.transact(addBook());
    await store.close();
    return id;
  };
  // Three blocks are not more than three.
  assert.is(await due(''), 5);
  assert.is(sequenceOfBase(directory), 4);
  // The fifth change set and the large one are more.
  assert.is(await due('x'.repeat(20 * BLOCK)), 7);
  assert.is(sequenceOfBase(directory), 6);
  // The base has a little more than 20 blocks now, so 21 change sets are needed.
  assert.is(await due(''), 6 + 21 + 1);
  assert.is(sequenceOfBase(directory), 27);
});

test('the next checkpoint is due when the change sets are larger than the base of the last one', async () => {
  const directory = storeDirectory();
  const bases: string[] = [];
  let ended = 0;
  const disk: Disk = {
    ...quickDisk,
    create(path) {
      if (dirname(path) === directory) bases.push(path);
      return quickDisk.create(path);
    },
    list(path) {
      // The last step of a checkpoint is to look for files that a migration has kept.
      if (path === directory) ended += 1;
      return quickDisk.list(path);
    },
  };
  const store = await open(directory, disk, { smallestCheckpoint: 3 * BLOCK });
  bases.length = 0;
  const opened = ended;
  await store.transact(addBook('x'.repeat(20 * BLOCK)));
  let id = await store.transact(addBook());
  assert.is(bases.length, 1);
  await until('the checkpoint has ended', () => ended > opened);
  while (bases.length === 1 && id < 100) id = await store.transact(addBook());
  // The base has a little more than 20 blocks: 21 change sets of one block each are more.
  assert.is(id, 1 + 21 + 1);
  await store.close();
  assert.is(sequenceOfBase(directory), 22);
});

test('the time of a base is that of its last change set, and null before the first', async () => {
  const directory = storeDirectory();
  const store = await open(directory, quickDisk, { smallestCheckpoint: 3 * BLOCK });
  assert.is(baseOf(directory).time, null);
  const times: string[] = [];
  for (let nth = 1; nth <= 5; nth += 1) {
    await store.transact(addBook());
    // Read at once, because the checkpoint may remove the file.
    const path = join(directory, 'changes', numbered(nth));
    times.push(JSON.parse(readFileSync(path, 'utf8')).time);
    const now = Date.now();
    await until('the clock goes on', () => Date.now() > now);
  }
  await store.close();
  assert.is(sequenceOfBase(directory), 4);
  assert.is(baseOf(directory).time, times[3]);
  assert.ok(new Set(times).size > 1, 'the times are all the same');
});

/** Reads snapshots until there is input; prints how many, or the first error. */
const READER = `
  const { readSnapshot } = await import(process.argv[1] ?? '');
  let going = true;
  process.stdin.on('data', () => { going = false; });
  let count = 0;
  for (; going; count += 1) {
    try {
      const store = readSnapshot(process.argv[2]);
      const rows = [...store.ids('books')].map((id) => store.get('books', id));
      const sum = rows.reduce((total, row) => total + row.readcount, 0);
      const want = Number(process.argv[3]);
      if (sum !== want) throw new Error('the sum is ' + sum + ' of ' + rows.length + ' books');
    } catch (error) {
      console.log('wrong: ' + error.message);
      process.exit(1);
    }
    if (count === 0) console.log('reading');
    await new Promise((resolve) => setImmediate(resolve));
  }
  console.log('read ' + count);
  process.exit(0);
`;

/** Starts another process that reads snapshots repeatedly. */
function startReader(directory: string, sum: number) {
  const module = join(ROOT, 'src', 'store', 'directory.ts');
  const child = spawn(process.execPath, ['-e', READER, module, directory, `${sum}`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  let begun: () => void = () => {};
  const reading = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const finished = new Promise<string>((resolve) => {
    child.on('close', () => {
      begun();
      resolve(output);
    });
  });
  child.stdout.on('data', (chunk) => {
    output += chunk;
    if (output.includes('reading')) begun();
  });
  child.stdin.on('error', () => {
    // The process has ended already, and its output says why.
  });
  return { reading, finished, tell: () => void child.stdin.write('end\n') };
}

test('another process always reads a consistent state, during commits and checkpoints', async () => {
  const directory = storeDirectory();
  const store = await open(directory);
  // Every transaction moves one from the readcount of a book to that of another: the sum stays.
  const books = 10;
  await store.transact((transaction) => {
    for (let nth = 1; nth <= books; nth += 1) {
      transaction.put<KindName>('books', bookRow(transaction.nextId('books'), 100));
    }
  });
  const reader = startReader(directory, books * 100);
  await reader.reading;
  const move = (nth: number, image: string) => (transaction: Transaction) => {
    const [from, to] = [(nth % books) + 1, ((nth * 7 + 3) % books) + 1];
    for (const [id, by] of [
      [from, -1],
      [to, 1],
    ] as const) {
      const row = transaction.get('books', id) as Row;
      const readcount = (row['readcount'] as number) + by;
      transaction.put<KindName>('books', bookRow(id, readcount, image));
    }
  };
  // Large change sets make many checkpoints; small ones make long lists of change sets.
  for (let nth = 1; nth <= 60; nth += 1) await store.transact(move(nth, LARGE.slice(0, 200_000)));
  for (let nth = 1; nth <= 1500; nth += 1) await store.transact(move(nth, ''));
  for (let nth = 1; nth <= 60; nth += 1) await store.transact(move(nth, LARGE.slice(0, 200_000)));
  reader.tell();
  const output = await reader.finished;
  assert.match(output, /^reading\nread [1-9]\d*\n$/, output);
  await store.close();
  assert.ok(sequenceOfBase(directory) > 0, 'there were no checkpoints');
});

test.run();
