/** `check` as a process: its findings and its output; it changes nothing. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createCatalog, type Fields, make, skuFields } from '../../support/catalog.ts';
import { send } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import {
  type Finished,
  killServers,
  runCommand,
  startServer,
  type TestServer,
} from '../../support/server.ts';
import { callProgram } from '../../support/program.ts';
import { PROGRAM } from '../../support/paths.ts';
import { withoutChecksum, writeChecksummed } from '../../support/reseal.ts';
import { testUnprivileged } from '../../support/unprivileged.ts';

/** A store with rows of every kind and change sets after its base. Tests work on copies. */
let whole = '';

test.before(async () => {
  const server = await startServer();
  const of = await createCatalog(server);
  await make(server, '/admin/skus/', skuFields(of, { specs: [of.silver, of.large] }));
  await make(server, '/books/', { name: 'Emma', pub_date: '1815-12-23' });
  await server.stop();
  whole = server.data;
});

test.after(killServers);

function copyOfStore(): string {
  const data = join(temporaryDirectory(), 'data');
  cpSync(whole, data, { recursive: true });
  rmSync(join(data, 'lock'));
  return data;
}

function check(data: string): Promise<Finished> {
  return callProgram(['check', '--data', data]);
}

/** @returns the one line that it prints. */
function assertInOrder(data: string, { status, stdout, stderr }: Finished): string {
  assert.is(status, 0, stdout + stderr);
  assert.is(stderr, '');
  assert.match(stdout, /^[^\n]+\n$/);
  assert.ok(stdout.startsWith(`${data} is in order: `), stdout);
  return stdout;
}

/** Checks for one finding per line on standard output, and for their count on standard error. */
function assertFound(data: string, { status, stdout, stderr }: Finished): string[] {
  assert.is(status, 1, stdout + stderr);
  assert.not.match(stdout + stderr, /\n\s+at |\.ts:\d/);
  const findings = stdout.split('\n').slice(0, -1);
  const count = findings.length === 1 ? 'one finding' : `${findings.length} findings`;
  const told = `catalog-server: ${data} is not in order: ${count}, listed on standard output\n`;
  assert.is(stderr, told);
  return findings;
}

/** Every path below a directory with its content. */
function contentOf(directory: string): Readonly<Record<string, string>> {
  const paths = readdirSync(directory, { recursive: true }).map(String).sort();
  const content = (path: string) =>
    statSync(path).isDirectory() ? '' : readFileSync(path).toString('base64');
  return Object.fromEntries(paths.map((path) => [path, content(join(directory, path))]));
}

interface Contents {
  readonly last_ids?: Fields;
  readonly put?: Fields;
  readonly delete?: Fields;
}

/** Adds a change set that the program would not have written. @returns its path. */
function append(data: string, contents: Contents): string {
  const head = join(data, 'head.json');
  const { sequence: last, digest: previous } = withoutChecksum(head);
  const sequence = Number(last) + 1;
  const path = join(data, 'changes', `${String(sequence).padStart(12, '0')}.json`);
  const time = new Date().toISOString();
  const empty = { last_ids: {}, put: {}, delete: {} };
  const digest = writeChecksummed(path, { sequence, previous, time, ...empty, ...contents });
  writeChecksummed(head, { sequence, digest });
  return path;
}

test('check of a valid store prints one line, exits 0 and changes nothing', async () => {
  const data = copyOfStore();
  const before = contentOf(data);
  const line = assertInOrder(data, await check(data));
  const { sequence } = withoutChecksum(join(data, 'head.json'));
  const sets = readdirSync(join(data, 'changes')).length;
  // One brand, three categories, one SPU, two specifications, three options, two SKUs, two
  // records, one book; and an audit entry for each but the book.
  assert.match(line, `: 29 rows as of change set ${Number(sequence)}, 20`);
  assert.match(line, `; ${sets} change sets after catalog.json\n`);
  assert.equal(contentOf(data), before, 'not even a lock file');
});

test('check reports the numbers of rows and of change sets after the base', async () => {
  const data = temporaryDirectory();
  await callProgram(['migrate', '--data', data]);
  const line = '0 rows as of change set 0; 0 change sets after catalog.json';
  assert.is(assertInOrder(data, await check(data)), `${data} is in order: ${line}\n`);
  await callProgram(['migrate', '--data', data, '--demo']);
  assert.match(assertInOrder(data, await check(data)), '; one change set after catalog.json');
});

test('temporary files, a partial lock and old change sets of a crash are not findings', async () => {
  const data = copyOfStore();
  for (const folder of ['', 'changes']) {
    writeFileSync(join(data, folder, '.0123456789abcdef.tmp'), '{"half":');
  }
  writeFileSync(join(data, 'lock'), '{"pid":');
  // A base that contains the change sets, as if a crash had prevented their removal.
  const backup = await callProgram(['backup', '--data', data, '-']);
  writeFileSync(join(data, 'catalog.json'), backup.stdout);
  const before = contentOf(data);
  assert.match(assertInOrder(data, await check(data)), '; 0 change sets after');
  assert.equal(contentOf(data), before);
});

test('check without a store names the command that creates one, and creates nothing', async () => {
  const parent = temporaryDirectory();
  for (const data of [parent, join(parent, 'none')]) {
    const { status, stdout, stderr } = await check(data);
    assert.is(status, 1);
    assert.is(stdout, '');
    const advice = `${data} holds no store; name another directory with --data, or run: catalog-server migrate --data ${data}`;
    assert.is(stderr, `catalog-server: ${advice}\n`);
  }
  assert.equal(readdirSync(parent), []);
});

test('check of the directory of an archive names the command that checks it, and has no findings', async () => {
  const data = temporaryDirectory();
  for (const folder of ['bases', 'changes']) {
    mkdirSync(join(data, folder));
    writeFileSync(join(data, folder, '000000000001'), 'of the archive');
  }
  writeFileSync(join(data, 'archive.json'), '{"format":1,"id":"a","key":null}');
  const { status, stdout, stderr } = await check(data);
  assert.equal([status, stdout], [1, '']);
  const advice = `to check it, run: catalog-server check --archive file://${data}`;
  assert.is(stderr, `catalog-server: ${data} holds no store, but an archive; ${advice}\n`);
});

test('a file at the path of the data directory is one error, with its name, and no findings', async () => {
  const data = join(temporaryDirectory(), 'file');
  writeFileSync(data, 'mine');
  const { status, stdout, stderr } = await check(data);
  assert.equal([status, stdout], [1, '']);
  assert.ok(stderr.startsWith(`catalog-server: ${data} cannot be used `), stderr);
  assert.is(stderr.split('\n').length, 2, stderr);
});

test('check prints what is wrong with rows, whose files have valid checksums, and changes nothing', async () => {
  const data = copyOfStore();
  const row = { id: 9, name: ' ', pub_date: '', commentcount: 0, readcount: 0, image: '' };
  append(data, { last_ids: { books: 9 }, put: { books: [row] } });
  const path = append(data, { delete: { books: [7] } });
  const before = contentOf(data);
  const findings = assertFound(data, await check(data));
  const begin = [
    `${path}: it deletes book 7, which is not there`,
    'book 9: name: ',
    'book 9: pub_date: ',
  ];
  assert.is(findings.length, begin.length, findings.join('\n'));
  for (const [index, text] of begin.entries()) {
    assert.ok(findings[index]?.startsWith(text), `${findings[index]}\n${text}`);
  }
  assert.equal(contentOf(data), before);
});

function flip(path: string): string {
  const bytes = readFileSync(path);
  const middle = Math.floor(bytes.length / 2);
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  writeFileSync(path, bytes);
  return path;
}

test('check reports all damaged, missing and unknown files in one run', async () => {
  const data = copyOfStore();
  const changes = join(data, 'changes');
  const [first = '', second = '', , fourth = ''] = readdirSync(changes).sort();
  const base = flip(join(data, 'catalog.json'));
  const damaged = [first, second].map((name) => flip(join(changes, name)));
  rmSync(join(changes, fourth));
  const stranger = join(changes, 'notes.txt');
  writeFileSync(stranger, 'mine');
  const keys = join(data, 'keys.json');
  writeFileSync(keys, '{}', { mode: 0o600 });
  const findings = assertFound(data, await check(data));
  const named = [base, stranger, ...damaged, join(changes, fourth), keys];
  assert.equal(
    findings.map((line) => line.slice(0, line.indexOf(' '))),
    named,
  );
});

/** Writes a store without change sets, with these categories as its only rows. */
function writeCategories(data: string, categories: readonly { readonly id: number }[]): void {
  mkdirSync(join(data, 'changes'), { recursive: true });
  const digest = 'b'.repeat(64);
  const last_ids = { categories: categories.at(-1)?.id };
  const state = { schema: 5, sequence: 5, previous: digest, time: null, last_ids };
  writeChecksummed(join(data, 'catalog.json'), { ...state, tables: { categories } });
  writeChecksummed(join(data, 'head.json'), { sequence: 5, digest });
}

test('at most 1000 findings are printed, and a slow reader gets all of them', () => {
  const data = temporaryDirectory();
  const below = (id: number) => ({ id, name: 'Below itself', parent_id: id });
  writeCategories(
    data,
    Array.from({ length: 3000 }, (_, index) => below(1e12 + index)),
  );
  // More than a pipe holds, to a reader that reads single bytes.
  const script = '"$0" check --data "$1" | dd bs=1 status=none';
  const args = ['-c', script, PROGRAM, data];
  const { stdout, stderr } = spawnSync('sh', args, { encoding: 'utf8' });
  assert.ok(stdout.length > 100_000, `${stdout.length} bytes`);
  const findings = assertFound(data, { status: 1, signal: null, stdout, stderr });
  assert.is(findings.length, 1000);
  assert.match(findings.at(-1) ?? '', /^category 1000000000999: parent_id: /);
});

interface BadKeys {
  readonly name: string;
  readonly inflict: (path: string) => void;
  readonly advice: (path: string) => string;
}

const BAD_KEYS: readonly BadKeys[] = [
  {
    name: 'readable by the group',
    inflict: (path) => chmodSync(path, 0o640),
    advice: (path) => `run: chmod 600 ${path}`,
  },
  {
    name: 'readable by others',
    inflict: (path) => chmodSync(path, 0o604),
    advice: (path) => `run: chmod 600 ${path}`,
  },
  {
    name: 'empty',
    inflict: (path) => writeFileSync(path, ''),
    advice: () => 'restore it from a backup',
  },
  {
    name: 'cut off',
    inflict: (path) => writeFileSync(path, readFileSync(path).subarray(0, 30)),
    advice: () => 'restore it from a backup',
  },
  {
    name: 'a directory',
    inflict(path) {
      rmSync(path);
      mkdirSync(path);
    },
    advice: () => '',
  },
];

for (const { name, inflict, advice } of BAD_KEYS) {
  test(`check finds a key file that cannot be used: ${name}`, async () => {
    const data = copyOfStore();
    const path = join(data, 'keys.json');
    await callProgram(['issue-token', '--data', data, '--subject', 'ann']);
    assertInOrder(data, await check(data));
    inflict(path);
    const [finding = '', ...more] = assertFound(data, await check(data));
    assert.equal(more, []);
    assert.ok(finding.includes(path), finding);
    assert.ok(finding.includes(advice(path)), finding);
  });
}

test('check does not print secrets of keys.json', async () => {
  const data = copyOfStore();
  const path = join(data, 'keys.json');
  const secret = 'c2VjcmV0IG9mIHRoaXMgdGVzdA';
  writeFileSync(path, `{"keys":[{"kid":"a","secret":"${secret}"}]}`, { mode: 0o600 });
  const { stdout, stderr } = await check(data);
  assert.match(stdout, path);
  assert.not.match(stdout + stderr, secret);
});

const OTHER_FILES = [
  ['access.json', 'restore it from a backup'],
  ['webhook-key.json', 'restore it from a backup'],
  ['host.json', 'no backup contains it'],
  ['archive.json', 'remove it'],
  ['cluster.json', 'start serve --log'],
  ['pages.json', 'remove it'],
] as const;

for (const [name, advice] of OTHER_FILES) {
  test(`check finds a damaged ${name}`, async () => {
    const data = copyOfStore();
    const path = join(data, name);
    writeFileSync(path, '{}', { mode: 0o600 });
    const [finding = '', ...more] = assertFound(data, await check(data));
    assert.equal(more, []);
    assert.ok(finding.includes(path) && finding.includes(advice), finding);
  });

  test(`check names ${name} if the system cannot read it`, async () => {
    const data = copyOfStore();
    const path = join(data, name);
    rmSync(path, { force: true });
    mkdirSync(path);
    const [finding = '', ...more] = assertFound(data, await check(data));
    assert.equal(more, []);
    assert.ok(finding.startsWith(`${path} cannot be read (EISDIR`), finding);
    assert.ok(finding.endsWith('move it away'), finding);
  });
}

function checkAs(as: readonly string[], data: string): Finished {
  const [file, ...args] = [...as, PROGRAM, 'check', '--data', data] as const;
  const { status, signal, stdout, stderr } = spawnSync(file, args, {
    encoding: 'utf8',
    timeout: 20_000,
  });
  return { status, signal, stdout, stderr };
}

testUnprivileged('check works with a read-only data directory', async (as) => {
  const data = copyOfStore();
  for (const path of readdirSync(data, { recursive: true }).map((name) =>
    join(data, String(name)),
  )) {
    chmodSync(path, statSync(path).isDirectory() ? 0o555 : 0o444);
  }
  for (const path of [dirname(data), data]) chmodSync(path, 0o555);
  assertInOrder(data, checkAs(as, data));
});

testUnprivileged(
  'a file or directory that the user may not read is reported as a finding',
  async (as) => {
    const data = copyOfStore();
    const [first = ''] = readdirSync(join(data, 'changes')).sort();
    chmodSync(dirname(data), 0o755);
    const paths = readdirSync(data, { recursive: true }).map((path) => join(data, String(path)));
    if (as.length > 0) for (const path of [data, ...paths]) chownSync(path, 65_534, 65_534);
    for (const path of [join('changes', first), 'head.json', 'catalog.json', 'changes']) {
      chmodSync(join(data, path), 0o000);
      const finished = checkAs(as, data);
      chmodSync(join(data, path), 0o700);
      const [finding = ''] = assertFound(data, finished);
      assert.ok(finding.startsWith(`${join(data, path)} cannot be read`), finding);
    }
  },
);

/** Writes until it is stopped, enough for several checkpoints. */
class Load {
  /** Answered writes. */
  answered = 0;
  readonly #writers: Promise<void>[];
  #stopped = false;

  constructor(server: TestServer, spus: readonly number[]) {
    this.#writers = spus.flatMap((spu, index) => [
      this.#write(() => this.#describe(server, spu, index)),
      this.#write(() => this.#comeAndGo(server)),
    ]);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#writers);
  }

  async #write(once: () => Promise<void>): Promise<void> {
    while (!this.#stopped) await once();
  }

  async #describe(server: TestServer, spu: number, index: number): Promise<void> {
    const desc_detail = `${index}`.repeat(65_536).slice(0, 65_536);
    const body = { desc_detail, desc_pack: desc_detail, desc_service: desc_detail };
    const { status, text } = await send(server, 'PATCH', `/admin/goods/${spu}/`, { body });
    if (status !== 200) throw new Error(text);
    this.answered += 1;
  }

  async #comeAndGo(server: TestServer): Promise<void> {
    const { id } = await make(server, '/books/', { name: 'Brief', pub_date: '2000-01-01' });
    const { status, text } = await send(server, 'DELETE', `/books/${id}/`);
    if (status !== 204) throw new Error(text);
    this.answered += 2;
  }
}

function sequenceOfBase(data: string): number {
  return Number(/"sequence":(\d+)/.exec(readFileSync(join(data, 'catalog.json'), 'utf8'))?.[1]);
}

/** The highest number in `changes/`; 0 if a checkpoint has just emptied it. */
function lastChangeSet(data: string): number {
  const names = readdirSync(join(data, 'changes')).filter((name) => !name.startsWith('.'));
  return Math.max(0, ...names.map((name) => Number(name.slice(0, 12))));
}

/** In a separate process: `check` reads files synchronously, and would block the load here. */
function checkApart(data: string): Promise<Finished> {
  return runCommand(['check', '--data', data]);
}

/** Flags for checkpoints after few writes, which remove all earlier change sets. */
const OFTEN = ['--checkpoint-size', '1MiB', '--history', '0'];

/** Minimum number of checks during which the server writes. */
const CHECKS = Number(process.env['CHECK_ROUNDS'] ?? 4);

test('check reports no findings while a server writes and makes checkpoints', async () => {
  const server = await startServer({ args: OFTEN });
  const { spu, brand, chain } = await createCatalog(server);
  const first = await send(server, 'GET', `/admin/goods/${spu}/`);
  const spus = [spu];
  for (const name of ['Second', 'Third', 'Fourth']) {
    const body = { ...first.json, name, brand_id: brand, category3_id: chain[2] };
    spus.push((await make(server, '/admin/goods/', body)).id);
  }
  const load = new Load(server, spus);
  const bases = new Set<number>();
  let [seen, busy, rounds] = [0, 0, 0];
  try {
    // Repeat until the server has written during enough checks and made a checkpoint.
    while (busy < CHECKS || bases.size < 2) {
      assert.ok((rounds += 1) < 300 + CHECKS, `${busy} checks beside writes, ${bases.size} bases`);
      const [answered, there] = [load.answered, lastChangeSet(server.data)];
      const line = assertInOrder(server.data, await checkApart(server.data));
      const [, shown] = /as of change set (\d+), /.exec(line) ?? [];
      assert.ok(Number(shown) >= Math.max(seen, there), `${shown} after ${seen}, ${there}`);
      seen = Number(shown);
      busy += load.answered > answered ? 1 : 0;
      bases.add(sequenceOfBase(server.data));
    }
  } finally {
    // Otherwise a failure here would end the process, and with it the tests of the next file.
    await load.stop();
  }
  assert.is((await server.stop()).stderr, '');
  assertInOrder(server.data, await checkApart(server.data));
});

test('6 checks of one directory at the same time all succeed', async () => {
  const data = copyOfStore();
  const runs = await Promise.all(Array.from({ length: 6 }, () => checkApart(data)));
  for (const finished of runs) assertInOrder(data, finished);
});

test.run();
