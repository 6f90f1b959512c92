/**
 * A real server on a file system that fails: what its clients get, and that the server recovers
 * with the disk, without a restart.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DATA_FILES } from '../../../src/data-files.ts';
import { machineDisk } from '../../../src/disk/disk.ts';
import { ALL_KINDS } from '../../../src/model/kinds.ts';
import { checkStore } from '../../../src/store/check.ts';
import { changeSetName, listChanges } from '../../../src/store/files/files.ts';
import { readHead } from '../../../src/store/files/head.ts';
import { baseOf } from '../../support/bases.ts';
import {
  type Catalog,
  createCatalog,
  type Fields,
  make,
  makePair,
  pageWith,
  read,
  skuFields,
  spuFields,
  storeFilesOf,
} from '../../support/catalog.ts';
import { type Received, send, tokenFor } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { threadsOf } from '../../support/linux.ts';
import { type Measured, measured, pagesAtRest } from '../../support/metrics.ts';
import { tell } from '../../support/refusing-disk.ts';
import {
  killServers,
  runCommand,
  SECRET,
  type Serving,
  serving,
  startServer,
  type TestServer,
} from '../../support/server.ts';
import {
  canMount,
  canMountDevices,
  FailingDisk,
  readOnly,
  SmallDisk,
  temporariesBelow,
  unmountAll,
} from '../../support/small-disk.ts';
import { until } from '../../support/until.ts';
import { ROOT } from '../../support/paths.ts';

/** Checks for one line that says that the disk is full. @param path the path that it must name. */
function assertSaysFull(said: string, path: string): void {
  assert.match(said, /^catalog-server: .*no space left on device.*\n$/);
  assert.ok(said.includes(path), `it does not name ${path}: ${said}`);
}

/** A test that runs if the machine has what it needs. */
function testWith(what: string, has: boolean, name: string, run: () => Promise<void>): void {
  if (has) test(name, run);
  else test.skip(`${name} (skipped: needs ${what})`, run);
}

const testMounted = (name: string, run: () => Promise<void>) =>
  testWith('the right to mount a tmpfs', canMount, name, run);

/** Collects what the server writes to standard error from here on. */
function listen({ child }: { readonly child: ChildProcess }): () => string {
  let said = '';
  child.stderr?.on('data', (chunk) => (said += chunk));
  return () => said;
}

const linesWith = (text: string, what: string) =>
  text.split('\n').filter((line) => line.includes(what));

const findingsOf = (directory: string) => checkStore(machineDisk, directory).findings;

const sequenceOfBase = (directory: string) => baseOf(directory).sequence;

/** A catalog with one unreferenced row in each collection, so that every write is possible. */
interface Shelf {
  readonly catalog: Catalog;
  readonly sku: string;
  /** Writes of SKUs and their records. */
  readonly ofSkus: readonly Write[];
  /** Writes of every other collection. */
  readonly ofOthers: readonly Write[];
}

type Write = readonly [method: string, path: string, body?: Fields];

async function stock(server: TestServer): Promise<Shelf> {
  const catalog = await createCatalog(server);
  const sku = `/admin/skus/${catalog.sku}/`;
  const record = await make(server, `${sku}specs/`, catalog.silver);
  const spec = { name: 'Weight', spu_id: catalog.spu };
  const bodies: Readonly<Record<string, Fields>> = {
    '/books/': { name: 'Emma', pub_date: '1815-12-23' },
    '/admin/brands/': { name: 'Other Works' },
    '/admin/categories/': { name: 'Other' },
    '/admin/goods/': spuFields(catalog, { name: 'Other' }),
    '/admin/specs/': spec,
    '/admin/options/': { value: 'Red', spec_id: catalog.silver.spec_id },
  };
  const ofOthers: Write[] = [];
  for (const [path, body] of Object.entries(bodies)) {
    const item = `${path}${(await make(server, path, body)).id}/`;
    const label = 'value' in body ? { value: 'New' } : { name: 'New' };
    ofOthers.push(['POST', path, body], ['PUT', item, body], ['PATCH', item, label]);
    ofOthers.push(['DELETE', item]);
  }
  await makePair(server, catalog.silver.spec_id, 'Gold');
  const fields = skuFields(catalog, { specs: [catalog.black, catalog.large] });
  const ofSkus: readonly Write[] = [
    ['POST', '/admin/skus/', fields],
    ['PUT', sku, fields],
    ['PATCH', sku, { price: 1 }],
    ['POST', `${sku}specs/`, catalog.black],
    ['DELETE', `${sku}specs/${record.id}/`],
    ['DELETE', sku],
  ];
  return { catalog, sku, ofSkus, ofOthers };
}

/** Everything that clients can read: the collections, with ETags, and a page. */
async function contentOf(server: TestServer, { catalog, sku }: Shelf): Promise<unknown> {
  const paths = ALL_KINDS.flatMap(({ path }) => (path === null ? [] : [`${path}?per_page=1000`]));
  const answers = await Promise.all(
    [...paths, sku, `${sku}specs/`].map(async (path) => {
      const { status, text, headers } = await send(server, 'GET', path);
      assert.is(status, 200, path);
      return { path, text, tag: headers.get('etag') };
    }),
  );
  return { answers, page: await pageWith(server, catalog.sku, 'Silver') };
}

/** Checks that every write gets the response for a failing disk. */
async function assertRefused(server: TestServer, shelf: Shelf): Promise<void> {
  for (const [method, path, body] of shelf.ofSkus) {
    const answer = await send(server, method, path, { body });
    assert.is(answer.status, 422, `${method} ${path}: ${answer.text}`);
    assert.equal(Object.keys(answer.json), ['error']);
    assert.match(answer.json.error, /^database error: the disk refused the write /);
  }
  for (const [method, path, body] of shelf.ofOthers) {
    const answer = await send(server, method, path, { body });
    assert.is(answer.status, 500, `${method} ${path}: ${answer.text}`);
    assert.type(answer.json.request_id, 'string');
    assert.not.match(answer.text, /ENO|EROFS|EIO|EMFILE|space|read-only|tmp/i);
  }
}

/** Checks that every write succeeds, and that ids continue without a gap. */
async function assertServed(server: TestServer, { ofSkus, ofOthers }: Shelf): Promise<void> {
  for (const [method, path, body] of [...ofOthers, ...ofSkus]) {
    const last = method === 'POST' ? Math.max(...(await idsOf(server, path))) : 0;
    const answer = await send(server, method, path, { body });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
    if (method === 'POST') assert.is(answer.json.id, last + 1, path);
  }
}

async function idsOf(server: TestServer, path: string): Promise<number[]> {
  const items = (await read(server, `${path}?per_page=1000`)) as { id: number }[];
  return items.map(({ id }) => id);
}

/**
 * Checks that the server refuses every write while the disk fails, serves all reads, and recovers.
 *
 * @param refuse makes the disk fail, and returns the function that repairs it.
 */
async function assertOutlives(observed: Measured, refuse: () => () => void): Promise<void> {
  const { server } = observed;
  const shelf = await stock(server);
  // Pages that are still being written would free space later, or have temporary files.
  await pagesAtRest(observed);
  const before = await contentOf(server, shelf);
  const files = storeFilesOf(server.data);

  const repair = refuse();
  await assertRefused(server, shelf);
  const together = Array.from({ length: 20 }, () => send(server, ...bookOf('Refused')));
  assert.equal(new Set((await Promise.all(together)).map(({ status }) => status)), new Set([500]));
  assert.equal(await contentOf(server, shelf), before);
  assert.is(server.child.exitCode, null);

  repair();
  assert.equal(storeFilesOf(server.data), files);
  assert.equal(temporariesBelow(server.data), []);
  assert.equal(findingsOf(server.data), []);
  await assertServed(server, shelf);
  const served = await idsOf(server, '/books/');
  await server.kill();
  assert.equal(findingsOf(server.data), []);
  const again = await startServer({ data: server.data });
  assert.equal(await idsOf(again, '/books/'), served);
  assert.equal(await idsOf(again, '/admin/skus/'), [shelf.catalog.sku + 1]);
  await again.stop();
}

const bookOf = (name: string) =>
  ['POST', '/books/', { body: { name, pub_date: '1815-12-23' } }] as const;

testMounted('a full disk refuses every write until there is space again', async () => {
  const disk = new SmallDisk('size=1m');
  const observed = await measured({ data: disk.directory });
  await assertOutlives(observed, () => {
    disk.fill();
    return () => disk.empty();
  });
});

testMounted('a disk without free inodes refuses every write until one is free', async () => {
  const disk = new SmallDisk('size=2m,nr_inodes=200');
  const observed = await measured({ data: disk.directory });
  await assertOutlives(observed, () => {
    disk.fillWithNames();
    return () => disk.empty();
  });
});

testMounted('a disk that becomes read-only refuses every write until it is writable', async () => {
  const observed = await measured();
  await assertOutlives(observed, () => readOnly(observed.server.data));
});

testMounted(
  'the error for a failed write does not contain the path of the data directory',
  async () => {
    const server = await startServer();
    const { sku } = await stock(server);
    const writable = readOnly(server.data);
    const answer = await send(server, 'PATCH', sku, { body: { price: 1 } });
    writable();
    assert.is(answer.status, 422);
    assert.not.match(answer.text, new RegExp(server.data));
    assert.equal(findingsOf(server.data), []);
    await server.stop();
  },
);

testWith(
  'the right to mount, and mkfs.ext4',
  canMountDevices,
  'a file system that an I/O error made read-only is still read, and is complete after repair',
  async () => {
    const disk = new FailingDisk();
    const server = await startServer({ data: disk.directory });
    const shelf = await stock(server);
    const before = await contentOf(server, shelf);
    disk.fail();
    await assertRefused(server, shelf);
    assert.equal(await contentOf(server, shelf), before);
    assert.is((await server.stop()).status, 0);

    disk.repair();
    assert.equal(findingsOf(disk.directory), []);
    const again = await startServer({ data: disk.directory });
    assert.equal(await contentOf(again, shelf), before);
    await assertServed(again, shelf);
    await again.stop();
    assert.equal(findingsOf(disk.directory), []);
  },
);

testMounted(
  'a page that cannot be written because the disk is full is written once there is space',
  async () => {
    const disk = new SmallDisk('size=1m');
    const observed = await measured({ data: disk.directory });
    const { server } = observed;
    const said = listen(server);
    const { sku, spu } = await createCatalog(server);
    const file = join(disk.directory, 'pages', 'skus', `${sku}.html`);
    const fileSays = (text: string) => readFileSync(file, 'utf8').includes(text);
    // With this text the page needs many blocks, so that it does not fit where a small file would.
    const detail = { desc_detail: 'x'.repeat(60_000) };
    assert.is((await send(server, 'PATCH', `/admin/goods/${spu}/`, { body: detail })).status, 200);
    // Pages written after the disk is full could take or free space.
    await pagesAtRest(observed);
    assert.ok(fileSays(detail.desc_detail));
    // The change set takes the last block, so the page has none.
    disk.fill(4096);
    const name = 'Phone, renamed';
    assert.is((await send(server, 'PATCH', `/admin/skus/${sku}/`, { body: { name } })).status, 200);
    const failure = `a page could not be written; the server will try again: skus/${sku}.html: ENOSPC`;
    await until('the page has failed', () => said().includes(failure));
    const text = readFileSync(file, 'utf8');
    // The file stays whole; a request to the server gets the new page.
    assert.not.match(text, name);
    assert.match(text, /<\/html>\s*$/);
    await pageWith(server, sku, name);
    assert.equal(temporariesBelow(disk.directory), []);
    disk.empty();
    await until('the file follows', () => fileSays(name));
    assert.is((await server.stop()).status, 0);
    assert.equal(temporariesBelow(disk.directory), []);
    assert.equal(findingsOf(disk.directory), []);
  },
);

/**
 * The number of SPUs with long texts whose change sets make a checkpoint due. One fewer would not,
 * so the checkpoint begins with the commit after them.
 */
const LARGE_SPUS = 11;

/** Makes {@link LARGE_SPUS}. */
async function outgrowBase(server: TestServer, catalog: Catalog): Promise<void> {
  // The files hold it twice: in the row and in the audit trail.
  const text = 'x'.repeat(65_536);
  const texts = { desc_detail: text, desc_pack: text, desc_service: text };
  const large = spuFields(catalog, texts);
  for (let nth = 1; nth <= LARGE_SPUS; nth += 1) await make(server, '/admin/goods/', large);
}

testMounted(
  'a checkpoint that fails on a full disk is logged once, loses nothing, and is made later',
  async () => {
    const disk = new SmallDisk('size=40m');
    const observed = await measured({ data: disk.directory, args: ['--history', '0'] });
    const { server } = observed;
    const said = listen(server);
    const told = () => linesWith(said(), 'the store continues despite an error');
    const catalog = await createCatalog(server);
    await outgrowBase(server, catalog);
    const ids = await idsOf(server, '/admin/goods/');
    // Their pages are large: written later, they would take the space that the books need.
    await pagesAtRest(observed);
    disk.fill(1024 * 1024);
    // The next commit that succeeds begins it. A commit may fail, because the unfinished base or
    // the list of pages takes all the space.
    await until('the checkpoint has failed', async () => {
      const begins = await send(server, ...bookOf('Begins'));
      assert.ok([201, 500].includes(begins.status), begins.text);
      return told().length > 0;
    });
    assert.is(sequenceOfBase(disk.directory), 0);
    assert.equal(temporariesBelow(disk.directory), []);
    assert.equal(findingsOf(disk.directory), []);
    for (let nth = 1; nth <= 20; nth += 1) await make(server, '/books/', bookOf('More')[2].body);
    assert.is(told().length, 1, said());
    assert.match(told()[0] ?? '', /ENOSPC/);

    disk.empty();
    await outgrowBase(server, catalog);
    await make(server, '/books/', bookOf('Begins again')[2].body);
    await until('there is a new base', () => sequenceOfBase(disk.directory) > 0);
    const books = await idsOf(server, '/books/');
    assert.is((await server.stop()).status, 0);
    assert.is(told().length, 1, said());
    assert.equal(findingsOf(disk.directory), []);
    const [oldest] = listChanges(machineDisk, disk.directory).sequences;
    assert.is(oldest, sequenceOfBase(disk.directory) + 1);
    const again = await startServer({ data: disk.directory });
    assert.equal(await idsOf(again, '/books/'), books);
    assert.is((await idsOf(again, '/admin/goods/')).length, ids.length + LARGE_SPUS);
    await again.stop();
  },
);

const SIGNED = { env: { CATALOG_JWT_SECRET: SECRET } };

testMounted('a store cannot be created on a full disk, but can once there is space', async () => {
  const disk = new SmallDisk('size=1m');
  const data = disk.directory;
  for (const command of [['serve', '--port', '0'], ['migrate'], ['migrate', '--demo']]) {
    disk.fill();
    const { status, stdout, stderr } = await runCommand([...command, '--data', data], SIGNED);
    assert.equal([status, stdout], [1, ''], stderr);
    assertSaysFull(stderr, data);
    disk.empty();
    assert.not.ok(existsSync(join(data, DATA_FILES.base)));
    assert.equal(findingsOf(data), []);
  }
  const server = await startServer({ data });
  assert.is((await send(server, ...bookOf('Emma'))).status, 201);
  await server.stop();
  assert.equal(findingsOf(data), []);
});

testMounted(
  'migrate --demo on a disk too small for the demo catalog fails and leaves an empty store',
  async () => {
    const disk = new SmallDisk('size=1m');
    const demo = ['migrate', '--demo', '--data', disk.directory];
    // Enough for the base, the head and the lock, but not for the demo catalog.
    disk.fill(16_384);
    const refused = await runCommand(demo, SIGNED);
    assert.is(refused.status, 1, refused.stdout);
    assert.match(refused.stderr, /^catalog-server: .*no space left on device.*\n$/);
    assert.not.match(refused.stdout, /added/);
    assert.equal(findingsOf(disk.directory), []);
    disk.empty();
    const again = await runCommand(demo, SIGNED);
    assert.is(again.status, 0, again.stderr);
    assert.equal(findingsOf(disk.directory), []);
  },
);

testMounted('a store on a full disk is served for reading', async () => {
  const disk = new SmallDisk('size=1m');
  const first = await startServer({ data: disk.directory });
  const shelf = await stock(first);
  const before = await contentOf(first, shelf);
  await first.stop();
  disk.fill();
  const server = await startServer({ data: disk.directory });
  assert.equal(await contentOf(server, shelf), before);
  await assertRefused(server, shelf);
  assert.equal(findingsOf(disk.directory), []);
  disk.empty();
  await assertServed(server, shelf);
  await server.stop();
  assert.equal(findingsOf(disk.directory), []);
});

testMounted(
  'migrate, backup and restore fail on a full disk with an error, and work once there is space',
  async () => {
    const disk = new SmallDisk('size=1m');
    const data = join(disk.directory, 'data');
    cpSync(join(ROOT, 'test', 'fixtures', 'schema-1'), data, { recursive: true });
    const earlier = storeFilesOf(data);
    const backup = join(disk.directory, 'backup.json');
    const restored = join(disk.directory, 'restored');
    const commands = [
      [data, 'migrate', '--data', data],
      [backup, 'backup', backup, '--data', data],
      [restored, 'restore', backup, '--data', restored],
    ] as const;
    for (const [target, command, ...args] of commands) {
      disk.fill();
      const refused = await runCommand([command, ...args]);
      assert.is(refused.status, 1, command);
      assertSaysFull(refused.stderr, target);
      disk.empty();
      if (command === 'migrate') {
        const files = storeFilesOf(data);
        for (const [name, content] of Object.entries(earlier)) {
          assert.is(files[name], content, name);
        }
      }
      assert.not.ok(existsSync(join(restored, DATA_FILES.base)));
      const { status, stderr } = await runCommand([command, ...args]);
      assert.equal([status, stderr], [0, ''], command);
      assert.equal(temporariesBelow(disk.directory), [], command);
    }
    assert.equal(findingsOf(data), []);
    assert.equal(findingsOf(restored), []);
  },
);

/** A connection that stays open, for use when there are no descriptors for another. */
class Connection {
  readonly #socket: Socket;
  #received = '';
  #closed = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => (this.#received += chunk));
    socket.on('close', () => (this.#closed = true));
    // The caller that waits for a response reports the error.
    socket.on('error', () => {});
  }

  static async open({ url }: Serving): Promise<Connection> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    const connection = new Connection(socket);
    await new Promise((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return connection;
  }

  write(text: string): void {
    this.#socket.write(text);
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Sends one request. @returns its response. */
  async send(
    method: string,
    path: string,
    body?: Fields,
  ): Promise<Pick<Received, 'status' | 'json'>> {
    this.#received = '';
    const text = body === undefined ? '' : JSON.stringify(body);
    const headers = [
      `${method} ${path} HTTP/1.1`,
      'Host: test',
      `Authorization: Bearer ${await tokenFor('admin')}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(text)}`,
    ];
    this.write(`${headers.join('\r\n')}\r\n\r\n${text}`);
    let answer: RegExpExecArray | null = null;
    await until(`${method} ${path} is answered`, () => {
      assert.not.ok(this.#closed, `the server closed the connection at ${method} ${path}`);
      answer = /^HTTP\/1\.1 (\d+) [^]*?Content-Length: (\d+)\r\n(?:[^]*?\r\n)?\r\n([^]*)$/i.exec(
        this.#received,
      );
      return answer !== null && Buffer.byteLength(answer[3] ?? '') >= Number(answer[2]);
    });
    const [, status, , content = ''] = answer ?? [];
    return { status: Number(status), json: content === '' ? undefined : JSON.parse(content) };
  }
}

/** Sets the soft limit of file descriptors of a running server. */
function limitFiles({ child }: Serving, limit: string): void {
  const { status } = spawnSync('prlimit', ['--pid', `${child.pid}`, `--nofile=${limit}:`]);
  assert.is(status, 0);
}

/** The hard limit of file descriptors of a running server. */
function mostFiles({ child }: Serving): string {
  const args = ['--pid', `${child.pid}`, '--nofile', '--output=HARD', '--noheadings', '--raw'];
  return spawnSync('prlimit', args, { encoding: 'utf8' }).stdout.trim();
}

/** Takes from a server every descriptor that it has not opened. @returns what gives them back. */
async function exhaust(server: TestServer): Promise<() => void> {
  // A thread that starts needs some.
  await until('every thread has started', () => existsSync(join(server.data, 'pages.manifest')));
  const most = mostFiles(server);
  limitFiles(server, '0');
  return () => limitFiles(server, most);
}

/** Connections of a client that is slow stay open. */
const PATIENT = ['--keep-alive-timeout', '1h'];

const testLimited = (name: string, run: () => Promise<void>) =>
  testWith('prlimit', Bun.which('prlimit') !== null, name, run);

testLimited(
  'a server without a free descriptor refuses writes, still serves reads, and recovers',
  async () => {
    const server = await startServer({ args: PATIENT });
    const said = listen(server);
    const { sku } = await createCatalog(server);
    const path = `/admin/skus/${sku}/`;
    const book = bookOf('Emma')[2].body;
    await make(server, '/books/', book);
    const kept = await Connection.open(server);
    assert.is((await kept.send('GET', path)).status, 200);
    const before = await kept.send('GET', path);
    const files = storeFilesOf(server.data);

    const free = await exhaust(server);
    assert.is((await kept.send('PATCH', path, { price: 1 })).status, 422);
    assert.is((await kept.send('DELETE', path)).status, 422);
    assert.is((await kept.send('POST', '/books/', book)).status, 500);
    assert.is((await kept.send('DELETE', '/books/1/')).status, 500);
    assert.equal(await kept.send('GET', path), before);
    // The log arrives over another pipe than the responses.
    await until('the reason is logged', () => /EMFILE: too many open files/.test(said()));
    free();

    assert.equal(storeFilesOf(server.data), files);
    // A page may still be written; a leftover of a refused write would stay.
    await until('no half-written file is left', () => temporariesBelow(server.data).length === 0);
    assert.is((await kept.send('POST', '/books/', book)).json.id, 2);
    assert.is((await send(server, 'PATCH', path, { body: { price: 1 } })).status, 200);
    await pageWith(server, sku, 'Phone, silver');
    kept.close();
    assert.is((await server.stop()).status, 0);
    assert.equal(findingsOf(server.data), []);
  },
);

testLimited(
  'the first write of a server without a free descriptor is 500, and succeeds later',
  async () => {
    const data = temporaryDirectory();
    assert.is((await runCommand(['migrate', '--data', data])).status, 0);
    const server = await startServer({ data, args: PATIENT });
    const kept = await Connection.open(server);
    const book = bookOf('Emma')[2].body;
    assert.is((await kept.send('GET', '/books/')).status, 200);
    const free = await exhaust(server);
    assert.is((await kept.send('POST', '/books/', book)).status, 500);
    assert.equal((await kept.send('GET', '/books/')).json, []);
    free();
    assert.is((await kept.send('POST', '/books/', book)).json.id, 1);
    kept.close();
    assert.is((await server.stop()).status, 0);
    assert.equal(findingsOf(data), []);
  },
);

/** Whether this process may trace processes that are not its children: CAP_SYS_PTRACE, bit 19. */
function mayTrace(): boolean {
  if (Bun.which('strace') === null || !existsSync('/proc/self/status')) return false;
  const held = /^CapEff:\s+([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return ((BigInt(`0x${held ?? '0'}`) >> 19n) & 1n) === 1n;
}

/** The id of the server's writer thread. */
async function writerOf({ child }: Serving): Promise<string> {
  // The pages' thread has the lowest priority, which is field 19 of stat (proc_pid_stat(5)).
  let found: string[] = [];
  await until('the writer has a thread of its own', () => {
    found = threadsOf(child.pid)
      .filter(({ fields }) => fields[1] === '(Worker)' && fields[18] !== '19')
      .map(({ id }) => id);
    return found.length === 1;
  });
  return found[0] ?? '';
}

/**
 * Replaces the results of the writer thread's system calls by an error.
 *
 * @param injection in the syntax of strace. @returns the function that ends the injection.
 */
async function inject(server: Serving, injection: string): Promise<() => Promise<void>> {
  const [calls = ''] = injection.split(':');
  const tracer = spawn(
    'strace',
    ['-p', await writerOf(server), '-e', `trace=${calls}`, '-e', `inject=${injection}`],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  tracer.stderr.on('data', (chunk) => (said += chunk));
  const ended = new Promise<void>((resolve) => tracer.on('close', () => resolve()));
  await until('strace is attached', () => said.includes('attached'));
  return async () => {
    tracer.kill('SIGINT');
    await ended;
    assert.match(said, /INJECTED/, 'the error was injected');
  };
}

const testTraced = (name: string, run: () => Promise<void>) =>
  testWith('strace, and the right to trace any process', mayTrace(), name, run);

for (const [step, injection] of [
  ['create', 'openat:error=EDQUOT'],
  // Only one call: the thread also writes to report that it is done.
  ['write', 'write:error=EDQUOT:when=1'],
  ['sync', 'fdatasync:error=EIO'],
  ['link', '/^link:error=EDQUOT'],
] as const) {
  testTraced(
    `a write whose ${step} system call fails is 422, and the next write succeeds`,
    async () => {
      const observed = await measured();
      const { server } = observed;
      const { sku } = await createCatalog(server);
      await pagesAtRest(observed);
      const path = `/admin/skus/${sku}/`;
      const before = await read(server, path);
      const files = storeFilesOf(server.data);

      const end = await inject(server, injection);
      const refused = await send(server, 'PATCH', path, { body: { price: 1 } });
      await end();
      assert.is(refused.status, 422, refused.text);
      assert.match(refused.json.error, /^database error: .*(EDQUOT|EIO)/);
      assert.equal(await read(server, path), before);
      assert.equal(storeFilesOf(server.data), files);
      assert.equal(temporariesBelow(server.data), []);

      assert.is((await send(server, 'PATCH', path, { body: { price: 1 } })).json.price, 1);
      await server.kill();
      assert.equal(findingsOf(server.data), []);
      const again = await startServer({ data: server.data });
      assert.is((await read(again, path)).price, 1);
      await again.stop();
    },
  );
}

testTraced(
  'writes succeed while the head cannot be written, and each such failure period is logged once',
  async () => {
    const server = await startServer();
    const said = listen(server);
    const told = () => linesWith(said(), 'the store continues despite an error');
    const head = () => readHead(machineDisk, join(server.data, DATA_FILES.head))?.sequence;
    const book = bookOf('Emma')[2].body;
    await make(server, '/books/', book);
    const end = await inject(server, 'pwrite64:error=EIO');
    for (let nth = 2; nth <= 5; nth += 1) assert.is((await make(server, '/books/', book)).id, nth);
    assert.is(head(), 1);
    await until('it is told', () => told().length > 0);
    assert.match(told()[0] ?? '', /EIO/);
    assert.equal(findingsOf(server.data), []);
    await end();
    await make(server, '/books/', book);
    assert.is(head(), 6);

    const endAgain = await inject(server, 'pwrite64:error=EIO');
    await make(server, '/books/', book);
    await until('a new failure is told', () => told().length > 1);
    await server.kill();
    await endAgain();
    assert.is(told().length, 2);
    assert.is(head(), 6);
    assert.equal(findingsOf(server.data), []);
    const again = await startServer({ data: server.data });
    assert.equal(await idsOf(again, '/books/'), [1, 2, 3, 4, 5, 6, 7]);
    await again.stop();
  },
);

/** Checks that the server has exited, as it must if the state of the disk is unknown. */
async function assertGaveUp(server: Serving): Promise<void> {
  await until('the server has ended', () => server.child.exitCode !== null);
  const { status, stderr } = await server.finished;
  assert.is(status, 1, stderr);
  const told = linesWith(stderr, 'the store stopped');
  assert.is(told.length, 1, stderr);
  assert.match(told[0] ?? '', /could not be synced \(EIO: .*; restart the server"\}$/);
}

/**
 * Checks the server and the store if the directory sync of a commit fails during concurrent writes.
 *
 * @param refuse makes the sync fail from here on.
 */
async function assertStopsAtCommit(
  server: TestServer,
  refuse: () => Promise<unknown>,
): Promise<void> {
  const { data } = server;
  const catalog = await createCatalog(server);
  const specs = [catalog.silver, catalog.large];
  const post = () => send(server, 'POST', '/admin/skus/', { body: skuFields(catalog, { specs }) });
  const answered = [catalog.sku, (await post()).json.id];
  const { sequences } = listChanges(machineDisk, data);
  await refuse();
  const answers = await Promise.allSettled(Array.from({ length: 10 }, post));
  assert.ok(
    answers.every(({ status }) => status === 'rejected'),
    'no write was answered',
  );
  await assertGaveUp(server);

  const unknown = listChanges(machineDisk, data).sequences.slice(sequences.length);
  assert.is(unknown.length, 1);
  assert.equal(findingsOf(data), []);
  // What power loss may leave: everything except the name that was not synced.
  const copy = join(temporaryDirectory(), 'copy');
  cpSync(data, copy, { recursive: true });
  rmSync(join(copy, changeSetName(unknown[0] ?? 0)));

  const survived = await startServer({ data });
  const ids = await idsOf(survived, '/admin/skus/');
  assert.equal(ids.slice(0, 2), answered);
  assert.ok(ids.length > 2, 'the name has survived');
  for (const id of ids.slice(1)) {
    assert.equal((await read(survived, `/admin/skus/${id}/`)).specs, specs);
  }
  await survived.stop();
  assert.equal(findingsOf(data), []);

  assert.equal(findingsOf(copy), []);
  const lost = await startServer({ data: copy });
  assert.equal(await idsOf(lost, '/admin/skus/'), answered);
  const { json } = await send(lost, 'POST', '/admin/skus/', { body: skuFields(catalog) });
  assert.is(json.id, answered.length + 1);
  await lost.stop();
  assert.equal(findingsOf(copy), []);
}

/** The program with a disk that fails at the step that a test names. */
async function startRefusing(): Promise<TestServer & { refuse(step: 'fsync', of: string): void }> {
  const data = temporaryDirectory();
  const file = join(temporaryDirectory(), 'refuse');
  const program = join(ROOT, 'test', 'support', 'refusing-disk.ts');
  const env = { PATH: process.env['PATH'] ?? '', ...SIGNED.env, REFUSE: file };
  const child = spawn(process.execPath, [program, 'serve', '--data', data, '--port', '0'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return {
    ...(await serving(child)),
    data,
    refuse: (step, of) => tell(file, { step, of, code: 'EIO' }),
  };
}

testTraced(
  'a server whose directory sync fails stops, and restarts with every answered write',
  async () => {
    const server = await startServer();
    await assertStopsAtCommit(server, () => inject(server, 'fsync:error=EIO'));
  },
);

test('if the changes directory cannot be synced, the server stops and no answered write is lost', async () => {
  const server = await startRefusing();
  await assertStopsAtCommit(server, async () => server.refuse('fsync', '/changes'));
});

test('if the directory of a new base cannot be synced, the server stops and no answered write is lost', async () => {
  const server = await startRefusing();
  const { data } = server;
  await outgrowBase(server, await createCatalog(server));
  const old = readFileSync(join(data, DATA_FILES.base));
  const goods = await idsOf(server, '/admin/goods/');
  server.refuse('fsync', data);
  // This begins the checkpoint; its response may or may not arrive before the server stops.
  const begins = await send(server, ...bookOf('Begins')).catch(() => null);
  if (begins !== null) assert.is(begins.status, 201, begins.text);
  await assertGaveUp(server);

  assert.ok(sequenceOfBase(data) > 0, 'the new base has its name');
  const books = begins === null ? [[], [1]] : [[1]];
  for (const outcome of ['survived', 'was lost']) {
    if (outcome === 'was lost') writeFileSync(join(data, DATA_FILES.base), old);
    assert.equal(findingsOf(data), [], outcome);
    const again = await runCommand(['backup', '-', '--data', data]);
    assert.is(again.status, 0, again.stderr);
    const { tables } = JSON.parse(again.stdout) as { tables: Record<string, { id: number }[]> };
    const ids = (table: string) => (tables[table] ?? []).map(({ id }) => id);
    assert.equal(ids('goods'), goods, outcome);
    assert.ok(
      books.some((expected) => Bun.deepEquals(expected, ids('books'))),
      `${outcome}: ${ids('books').join()}`,
    );
  }
  const again = await startServer({ data });
  assert.equal(await idsOf(again, '/admin/goods/'), goods);
  await again.stop();
  assert.equal(findingsOf(data), []);
});

test.after.each(unmountAll);
test.after(killServers);

test.run();
