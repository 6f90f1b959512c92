/** A disk that refuses: the write fails, the state from before stays, the store goes on. */
import { spawnSync } from 'node:child_process';
import fs, { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Disk, machineDisk } from '../../src/disk/disk.ts';
import { CatalogError } from '../../src/errors.ts';
import { BASE } from '../../src/store/adapter.ts';
import type { Transaction } from '../../src/store/draft.ts';
import { readSnapshot, Store } from '../../src/store/store.ts';
import { createCatalog, skuFields } from '../support/catalog.ts';
import { type Received, send } from '../support/client.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { publishWith } from '../support/disk.ts';
import { startServer } from '../support/server.ts';
import { until } from '../support/until.ts';

type Step = 'create' | 'write' | 'fdatasync' | 'rename' | 'fsync' | 'unlink';

/** The machine's disk, on which one step fails when it is told to. */
class RefusingDisk implements Disk {
  /** The step that fails, and of which files; null lets everything pass. */
  refuse: { readonly step: Step; readonly of: 'base' | 'change set' } | null = null;
  /** Steps that were refused so far. */
  refused = 0;
  readonly #directory: string;
  readonly #paths = new Map<number, string>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** @throws the error of a full or broken disk where the step is to fail. */
  #pass(step: Step, path: string): void {
    if (this.refuse?.step !== step) return;
    // What is synced after a rename is the directory itself.
    const place = step === 'fsync' ? path : dirname(path);
    if ((place === this.#directory) !== (this.refuse.of === 'base')) return;
    this.refused += 1;
    const code = step === 'write' || step === 'create' ? 'ENOSPC' : 'EIO';
    throw Object.assign(new Error(`${code}: ${step} of ${basename(path)}`), { code });
  }

  #pathOf(fd: number): string {
    return this.#paths.get(fd) ?? '';
  }

  publish: Disk['publish'] = publishWith({
    openSync: (path, flags, mode) => {
      this.#pass('create', path);
      const fd = fs.openSync(path, flags, mode);
      this.#paths.set(fd, path);
      return fd;
    },
    writeSync: (fd, bytes, offset, length) => {
      // A disk that fills up takes a part first.
      const part = fs.writeSync(fd, bytes, offset, length / 2);
      this.#pass('write', this.#pathOf(fd));
      return part + fs.writeSync(fd, bytes, offset + part, length - part);
    },
    fdatasyncSync: (fd) => {
      this.#pass('fdatasync', this.#pathOf(fd));
      fs.fdatasyncSync(fd);
    },
    renameSync: (from, to) => {
      this.#pass('rename', to);
      fs.renameSync(from, to);
    },
    fsyncSync: (fd) => {
      this.#pass('fsync', this.#pathOf(fd));
      fs.fsyncSync(fd);
    },
    rmSync: (path, options) => {
      this.#pass('unlink', path);
      fs.rmSync(path, options);
    },
  });
  writeNew = machineDisk.writeNew;

  async create(path: string): Promise<number> {
    this.#pass('create', path);
    const fd = await machineDisk.create(path);
    this.#paths.set(fd, path);
    return fd;
  }

  open(path: string): number {
    const fd = machineDisk.open(path);
    this.#paths.set(fd, path);
    return fd;
  }

  write(fd: number, bytes: Uint8Array): void {
    try {
      this.#pass('write', this.#pathOf(fd));
    } catch (error) {
      // A disk that fills up takes a part first.
      machineDisk.write(fd, bytes.subarray(0, bytes.length / 2));
      throw error;
    }
    machineDisk.write(fd, bytes);
  }

  async fdatasync(fd: number): Promise<void> {
    this.#pass('fdatasync', this.#pathOf(fd));
    await machineDisk.fdatasync(fd);
  }

  async fsync(fd: number): Promise<void> {
    this.#pass('fsync', this.#pathOf(fd));
    await machineDisk.fsync(fd);
  }

  async rename(from: string, to: string): Promise<void> {
    this.#pass('rename', to);
    await machineDisk.rename(from, to);
  }

  async unlink(path: string): Promise<void> {
    this.#pass('unlink', path);
    await machineDisk.unlink(path);
  }

  close = machineDisk.close;
  link = machineDisk.link;
  mkdir = machineDisk.mkdir;
  list = machineDisk.list;
  read = machineDisk.read;
}

interface Opened {
  readonly store: Store;
  readonly disk: RefusingDisk;
  readonly directory: string;
  readonly failures: unknown[];
  readonly fatalities: unknown[];
}

async function open(): Promise<Opened> {
  const directory = temporaryDirectory();
  const disk = new RefusingDisk(directory);
  const [failures, fatalities]: unknown[][] = [[], []];
  const store = await Store.open({
    directory,
    command: 'test',
    create: true,
    disk,
    failed: (error) => failures?.push(error),
    fatal: (error) => fatalities?.push(error),
  });
  return { store, disk, directory, failures: failures ?? [], fatalities: fatalities ?? [] };
}

/** @param logo of any length: what makes a change set large. */
const addBrand =
  (name: string, logo = '') =>
  (transaction: Transaction): number => {
    const id = transaction.nextId('brands');
    transaction.put('brands', { id, name, logo, first_letter: '' });
    return id;
  };

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'done';
  } catch (error) {
    return error instanceof CatalogError ? error.code : String(error);
  }
}

function temporaryFiles(directory: string): string[] {
  const names = readdirSync(directory, { recursive: true }) as string[];
  return names.filter((name) => !/(^|\/)(catalog\.json|\d{12}\.json|lock|changes)$/.test(name));
}

const brandsOnDisk = (directory: string) => {
  const snapshot = readSnapshot(directory);
  return [...snapshot.ids('brands')].map((id) => snapshot.get('brands', id)?.['name']);
};

for (const step of ['create', 'write', 'fdatasync', 'rename'] as const) {
  test(`a failing ${step} refuses the write and keeps the state from before`, async () => {
    const { store, disk, directory, failures, fatalities } = await open();
    await store.transact(addBrand('First'));

    disk.refuse = { step, of: 'change set' };
    const both = [store.transact(addBrand('Second')), store.transact(addBrand('Third'))];
    assert.equal(await Promise.all(both.map(codeOf)), ['write_refused', 'write_refused']);
    const change = store.transact((transaction) => {
      transaction.put('brands', { id: 1, name: 'Changed', logo: '', first_letter: '' });
    });
    assert.is(await codeOf(change), 'write_refused');
    const removal = store.transact((transaction) => transaction.delete('brands', 1));
    assert.is(await codeOf(removal), 'write_refused');
    assert.ok(disk.refused >= 3);

    assert.equal([...store.ids('brands')], [1]);
    assert.is(store.get('brands', 1)?.['name'], 'First');
    assert.is(store.lastId('brands'), 1);
    assert.is(store.select('brands', ALL).total, 1);
    assert.equal(brandsOnDisk(directory), ['First']);
    assert.equal(temporaryFiles(directory), []);

    disk.refuse = null;
    assert.is(await store.transact(addBrand('Fourth')), 2);
    await store.close();
    assert.equal(brandsOnDisk(directory), ['First', 'Fourth']);
    assert.equal([failures, fatalities], [[], []]);
  });
}

const ALL = {
  filters: [],
  sortby: 'name',
  order: 'asc',
  offset: 0,
  limit: Number.POSITIVE_INFINITY,
} as const;

test('the refusal says what the disk said', async () => {
  const { store, disk } = await open();
  disk.refuse = { step: 'write', of: 'change set' };
  try {
    await store.transact(addBrand('First'));
    assert.unreachable();
  } catch (error) {
    assert.match((error as Error).message, /^the disk refused the write \(ENOSPC: .+\); nothing/);
  }
  await store.close();
});

test('a directory that cannot be synced is fatal, and the write is never called done', async () => {
  const { store, disk, fatalities } = await open();
  await store.transact(addBrand('First'));
  disk.refuse = { step: 'fsync', of: 'change set' };
  assert.is(await codeOf(store.transact(addBrand('Second'))), 'durability_unknown');
  assert.is(fatalities.length, 1);
  assert.is((fatalities[0] as CatalogError).code, 'durability_unknown');
  // Nobody knows whether it is on the disk: readers do not see it.
  assert.equal([...store.ids('brands')], [1]);
  await store.close();
});

/** Larger than the share of four change sets that a checkpoint waits for. */
const LARGE = 'x'.repeat(1_100_000);

/** Commits until a checkpoint has begun, and until it has ended. */
async function checkpointed({ store, disk }: Opened, step: Step): Promise<void> {
  disk.refuse = { step, of: 'base' };
  for (let nth = 1; nth <= 5; nth += 1) await store.transact(addBrand(`Large ${nth}`, LARGE));
}

for (const step of ['create', 'write', 'fdatasync', 'rename'] as const) {
  test(`a checkpoint with a failing ${step} is reported, and the store goes on`, async () => {
    const opened = await open();
    const { store, disk, directory, failures, fatalities } = opened;
    const base = machineDisk.read(join(directory, BASE));
    await checkpointed(opened, step);
    while (failures.length === 0) await store.transact(addBrand('Meanwhile'));

    assert.is(disk.refused, 1);
    assert.match(String(failures[0]), new RegExp(step));
    assert.equal(machineDisk.read(join(directory, BASE)), base);
    assert.equal(temporaryFiles(directory), []);
    const names = [...store.ids('brands')].map((id) => store.get('brands', id)?.['name']);
    assert.equal(brandsOnDisk(directory), names);

    // It is tried again once the change sets have grown further.
    disk.refuse = null;
    for (let nth = 1; nth <= 5; nth += 1) await store.transact(addBrand(`More ${nth}`, LARGE));
    await store.close();
    assert.is(failures.length, 1);
    assert.equal(fatalities, []);
    assert.not.equal(machineDisk.read(join(directory, BASE)), base);
    assert.is(readSnapshot(directory).count('brands'), names.length + 5);
    // What the refused one would have removed, this one has.
    const { sequence } = JSON.parse(readFileSync(join(directory, BASE), 'utf8'));
    const oldest = readdirSync(join(directory, 'changes')).sort()[0] ?? '';
    assert.is(Number.parseInt(oldest, 10), sequence + 1);
  });
}

test('a checkpoint whose directory cannot be synced is fatal', async () => {
  const opened = await open();
  await checkpointed(opened, 'fsync');
  await opened.store.close();
  assert.equal(
    opened.fatalities.map((error) => (error as CatalogError).code),
    ['durability_unknown'],
  );
  assert.equal(opened.failures, []);
});

test('change sets that cannot be removed after a checkpoint harm nothing', async () => {
  const opened = await open();
  const { store, directory, disk, failures } = opened;
  disk.refuse = { step: 'unlink', of: 'change set' };
  for (let nth = 1; nth <= 5; nth += 1) await store.transact(addBrand(`Large ${nth}`, LARGE));
  while (failures.length === 0) await store.transact(addBrand('Meanwhile'));
  disk.refuse = null;
  const count = store.count('brands');
  await store.close();
  assert.is(readSnapshot(directory).count('brands'), count);
});

/** A file system of one MiB, or null where this machine does not let us make one. */
function smallFileSystem(): { readonly directory: string; unmount(): void } | null {
  const directory = temporaryDirectory();
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', directory]);
  if (mounted.status !== 0) return null;
  return { directory, unmount: () => void spawnSync('umount', ['-l', directory]) };
}

const small = smallFileSystem();
const onFullDisk = small === null ? test.skip : test;

onFullDisk('a full disk refuses writes over HTTP until there is space again', async () => {
  if (small === null) return;
  const server = await startServer({ data: small.directory });
  try {
    const catalog = await createCatalog(server);
    const book = { name: 'Emma', pub_date: '1815-12-23' };
    assert.is((await send(server, 'POST', '/books/', { body: book })).status, 201);
    const read = async () => {
      const paths = [
        '/books/',
        '/admin/skus/',
        '/admin/brands/',
        `/admin/skus/${catalog.sku}/specs/`,
      ];
      return Promise.all(paths.map(async (path) => (await send(server, 'GET', path)).text));
    };
    const before = await read();
    // A page on its way would give its room back.
    const page = join(small.directory, 'pages', 'skus', `${catalog.sku}.html`);
    await until('the page is there', () => existsSync(page));
    const filler = join(small.directory, 'filler');
    // The write that finds no room leaves a file that has taken all of it.
    const fd = fs.openSync(filler, 'w');
    assert.throws(() => {
      for (let block = 0; block < 4096; block += 1) fs.writeSync(fd, Buffer.alloc(512));
    }, /ENOSPC/);
    fs.closeSync(fd);

    const sku = `/admin/skus/${catalog.sku}/`;
    const record = catalog.silver;
    const fields = skuFields(catalog, { specs: [record] });
    const refused: readonly (readonly [string, string, object?])[] = [
      ['POST', '/admin/skus/', fields],
      ['PUT', sku, fields],
      ['PATCH', sku, { price: 1 }],
      ['DELETE', sku],
      ['POST', `${sku}specs/`, record],
    ];
    for (const [method, path, body] of refused) {
      const answer: Received = await send(server, method, path, { body });
      assert.is(answer.status, 422, `${method} ${path}: ${answer.text}`);
      assert.match(answer.json.error, /^database error: /);
    }
    const failed: readonly (readonly [string, string, object?])[] = [
      ['POST', '/books/', book],
      ['PUT', '/books/1/', book],
      ['PATCH', '/books/1/', { name: 'Persuasion' }],
      ['DELETE', '/books/1/'],
      ['PATCH', `/admin/brands/${catalog.brand}/`, { name: 'Other' }],
    ];
    for (const [method, path, body] of failed) {
      const answer: Received = await send(server, method, path, { body });
      assert.is(answer.status, 500, `${method} ${path}: ${answer.text}`);
      assert.type(answer.json.request_id, 'string');
      assert.not.match(answer.text, /ENOSPC|no space|tmp/i);
    }
    assert.equal(await read(), before);

    rmSync(filler);
    assert.is((await send(server, 'DELETE', sku)).status, 204);
    const again = await send(server, 'POST', '/books/', { body: book });
    assert.is(again.status, 201);
    assert.is(again.json.id, 2);
    await server.kill();
    assert.equal([...readSnapshot(small.directory).ids('books')], [1, 2]);
    assert.equal([...readSnapshot(small.directory).ids('skus')], []);
  } finally {
    await server.kill();
    small.unmount();
  }
});

test.run();
