/** Checkpoints: a new base in the background, and the change sets that it contains go. */
import { spawn } from 'node:child_process';
import fs, { cpSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Disk, machineDisk } from '../../src/disk/disk.ts';
import { KIND_NAMES, type Row } from '../../src/model/kind.ts';
import { BASE } from '../../src/store/adapter.ts';
import { decodeBase } from '../../src/store/base.ts';
import type { Transaction } from '../../src/store/draft.ts';
import { type ReadableStore, readSnapshot, Store } from '../../src/store/store.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { publishWith, quickDisk, turn } from '../support/disk.ts';

function open(directory: string, disk: Disk = quickDisk): Promise<Store> {
  const unwanted = (error: unknown) => {
    throw error;
  };
  return Store.open({
    directory,
    command: 'test',
    create: true,
    disk,
    failed: unwanted,
    fatal: unwanted,
  });
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
    transaction.put('books', bookRow(id, 0, image));
    return id;
  };

/** Four of these are more than change sets may have together beside a small base. */
const LARGE = 'x'.repeat(1_100_000);

const stateOf = (store: ReadableStore) =>
  KIND_NAMES.map((kind) => ({
    lastId: store.lastId(kind),
    rows: [...store.ids(kind)].map((id) => store.get(kind, id)),
  }));

const changeSets = (directory: string) => readdirSync(join(directory, 'changes')).sort();
const sequenceOfBase = (directory: string) => {
  const path = join(directory, BASE);
  return decodeBase(path, machineDisk.read(path) ?? Buffer.alloc(0)).sequence;
};
const numbered = (sequence: number) => `${String(sequence).padStart(12, '0')}.json`;

test('many small commits are gathered into a base, and nothing is lost on the way', async () => {
  const directory = temporaryDirectory();
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

test('an id stays used when its row is gone and only the base remembers it', async () => {
  const directory = temporaryDirectory();
  const store = await open(directory);
  const id = await store.transact((transaction) => {
    const next = transaction.nextId('brands');
    transaction.put('brands', { id: next, name: 'Brand', logo: '', first_letter: '' });
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
  const directory = temporaryDirectory();
  const store = await open(directory);
  for (let nth = 1; nth <= 100; nth += 1) await store.transact(addBook());
  await store.close();
  assert.is(sequenceOfBase(directory), 0);
  assert.is(changeSets(directory).length, 100);
});

test('commits that come during a checkpoint are behind its base, and stay', async () => {
  const directory = temporaryDirectory();
  let letThrough: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    letThrough = resolve;
  });
  const bases = new Set<number>();
  let holding = false;
  const disk: Disk = {
    ...quickDisk,
    async create(path) {
      const fd = await quickDisk.create(path);
      if (dirname(path) === directory) bases.add(fd);
      else bases.delete(fd);
      return fd;
    },
    fdatasync: async (fd) => {
      await (holding && bases.has(fd) ? held : turn());
    },
  };
  const store = await open(directory, disk);
  holding = true;
  for (let nth = 1; nth <= 5; nth += 1) await store.transact(addBook(LARGE));
  // The checkpoint waits at its sync; commits go on, ids and deletes included.
  for (let nth = 1; nth <= 30; nth += 1) await store.transact(addBook());
  await store.transact((transaction) => transaction.delete('books', 1));
  assert.is(sequenceOfBase(directory), 0);
  letThrough();
  const before = stateOf(store);
  await store.close();
  assert.is(sequenceOfBase(directory), 4);
  assert.equal(changeSets(directory)[0], numbered(5));
  assert.is(changeSets(directory).length, 32);
  const again = await open(directory);
  assert.equal(stateOf(again), before);
  await again.close();
});

test('a crash at any step of a commit or a checkpoint leaves what was answered, and no half', async () => {
  const directory = temporaryDirectory();
  const copies: { readonly step: string; readonly copy: string; readonly answered: number }[] = [];
  let answered = 0;
  /** What a crash right after the step leaves. */
  const crash = (step: string) => {
    const copy = temporaryDirectory();
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
      writeSync(fd, bytes, offset, length) {
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
  const store = await open(directory, disk);
  const commit = async (image: string) => {
    await store.transact(addBook(image));
    answered += 1;
  };
  for (let nth = 1; nth <= 4; nth += 1) await commit(LARGE);
  watching = true;
  for (let nth = 1; nth <= 2; nth += 1) await commit('');
  await store.close();
  watching = false;

  const steps = new Set(copies.map(({ step }) => step));
  assert.ok(steps.has(`rename ${BASE}`), 'there was no checkpoint');
  assert.ok(steps.has(`unlink ${numbered(1)}`), 'nothing was removed');
  for (const { step, copy, answered: least } of copies) {
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
    assert.is(await again.transact(addBook()), found + 1);
    await again.close();
    assert.is(readSnapshot(copy).count('books'), found + 1);
    rmSync(copy, { recursive: true });
  }
});

/** Reads snapshots until it is told to end; prints how many, and the first that is wrong. */
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

/** Another process that reads all the while. */
function startReader(directory: string, sum: number) {
  const module = join(import.meta.dir, '..', '..', 'src', 'store', 'store.ts');
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
    // It has ended already: what it printed says why.
  });
  return { reading, finished, tell: () => void child.stdin.write('end\n') };
}

test('another process always reads a consistent state, during commits and checkpoints', async () => {
  const directory = temporaryDirectory();
  const store = await open(directory);
  // Every transaction moves a reader from one book to another: the sum stays.
  const books = 10;
  await store.transact((transaction) => {
    for (let nth = 1; nth <= books; nth += 1) {
      transaction.put('books', bookRow(transaction.nextId('books'), 100));
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
      transaction.put('books', bookRow(id, readcount, image));
    }
  };
  // Large ones for many checkpoints, small ones for long lists of change sets.
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
