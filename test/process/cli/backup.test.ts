/** `backup` and `restore` as processes: a restored backup is the same catalog. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  cpSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import demo from '../../../data/demo.json' with { type: 'json' };
import {
  type Catalog,
  createCatalog,
  type Fields,
  make,
  read,
  skuFields,
} from '../../support/catalog.ts';
import { send } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { assertDone } from '../../support/finished.ts';
import { callProgram } from '../../support/program.ts';
import {
  type Finished,
  killServers,
  runCommand,
  startServer,
  type TestServer,
} from '../../support/server.ts';
import { fixture, PROGRAM } from '../../support/paths.ts';
import { testUnprivileged } from '../../support/unprivileged.ts';

const FIXTURE = fixture(1);

/** The files that a restore creates. */
const RESTORED = ['catalog.json', 'changes', 'head.json', 'lock', 'outline.json'];

/** A store with a base, change sets after it, and deleted ids. Tests work on copies. */
let whole = '';

/** A backup of it. */
let good: Buffer = Buffer.alloc(0);

/** Responses of that store by path. */
const served: Record<string, unknown> = {};

const PATHS = [
  '/books/',
  ...['brands', 'categories', 'goods', 'specs', 'options', 'skus'].map((name) => `/admin/${name}/`),
];

test.before(async () => {
  const data = join(temporaryDirectory(), 'data');
  cpSync(FIXTURE, data, { recursive: true });
  assertDone(await runCommand(['migrate', '--data', data]));
  const server = await startServer({ data });
  const of = await createCatalog(server, 'Ünïcode 😀 </script>');
  const sku = await make(server, '/admin/skus/', skuFields(of, { specs: [of.silver, of.large] }));
  await make(server, '/admin/skus/', skuFields(of, { specs: [of.black] }));
  assert.is((await send(server, 'DELETE', `/admin/skus/${sku.id}/`)).status, 204);
  for (const path of PATHS) served[path] = await read(server, `${path}?per_page=1000`);
  await server.stop();
  whole = data;
  good = backup(whole, '-').bytes;
});

test.after(killServers);

function copyOfStore(): string {
  const data = join(temporaryDirectory(), 'data');
  cpSync(whole, data, { recursive: true });
  rmSync(join(data, 'lock'));
  rmSync(join(data, 'pages'), { recursive: true });
  return data;
}

interface Ended extends Finished {
  /** Standard output as bytes. */
  readonly bytes: Buffer;
}

interface How {
  readonly cwd?: string;
  /** Standard input: bytes or an open file. */
  readonly input?: Buffer | number;
  /** The target of standard output; a pipe by default. */
  readonly output?: number;
  /** Words before the command. */
  readonly as?: readonly string[];
}

/** Runs a command with the given streams, and waits for its end. */
function run(args: readonly string[], { cwd, input, output, as = [] }: How = {}): Ended {
  const words = [...as, PROGRAM, ...args];
  const { status, signal, stdout, stderr } = spawnSync(words[0] ?? '', words.slice(1), {
    cwd: cwd ?? temporaryDirectory(),
    env: { PATH: process.env['PATH'] ?? '' },
    ...(input instanceof Buffer && { input }),
    stdio: [typeof input === 'number' ? input : 'pipe', output ?? 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
    timeout: 60_000,
  });
  const bytes = stdout ?? Buffer.alloc(0);
  return { status, signal, bytes, stdout: bytes.toString(), stderr: stderr.toString() };
}

function backup(data: string, file: string | null, how?: How): Ended {
  return run(['backup', '--data', data, ...(file === null ? [] : [file])], how);
}

function restore(data: string, file: string, how?: How): Ended {
  return run(['restore', '--data', data, file], how);
}

/**
 * Calls a command in this process. The result is that of a separate process, whose start would take
 * most of the time of a short test.
 */
const call = callProgram;

function assertFailed({ status, stdout, stderr }: Finished, ...says: readonly string[]): void {
  assert.is(status, 1, stderr);
  assert.is(stdout, '');
  assert.match(stderr, /^catalog-server: [^\n]{10,}\n$/);
  for (const what of says) assert.ok(stderr.includes(what), `${stderr}\n${what}`);
}

async function assertInOrder(data: string): Promise<void> {
  const { status, stdout, stderr } = await call(['check', '--data', data]);
  assert.is(status, 0, stdout + stderr);
}

/** Every path below a data directory with its content, except backup.json. */
function storeIn(data: string): Readonly<Record<string, string>> {
  const { 'backup.json': _, ...store } = contentOf(data);
  return store;
}

/** Every path below a directory with its content. */
function contentOf(directory: string): Readonly<Record<string, string>> {
  const paths = readdirSync(directory, { recursive: true }).map(String).sort();
  const content = (path: string) =>
    lstatSync(path).isFile() ? readFileSync(path).toString('base64') : '';
  return Object.fromEntries(paths.map((path) => [path, content(join(directory, path))]));
}

type Rows = readonly Fields[];

interface Backup {
  readonly schema: number;
  readonly sequence: number;
  readonly previous: string;
  readonly time: string | null;
  readonly last_ids: Readonly<Record<string, number>>;
  readonly tables: Readonly<Record<string, Rows>>;
}

/** The content of a sealed file, read without the program. @throws if the seal is wrong. */
function unsealed(bytes: Buffer): Backup {
  const body = bytes.subarray(0, -78);
  const digest = createHash('sha256').update(body).digest('hex');
  assert.is(bytes.toString('latin1', bytes.length - 78), `,"sha256":"${digest}"}\n`);
  return JSON.parse(`${body.toString()}}`);
}

function sealed(value: object): Buffer {
  const text = JSON.stringify(value).slice(0, -1);
  const digest = createHash('sha256').update(text).digest('hex');
  return Buffer.from(`${text},"sha256":"${digest}"}\n`);
}

test('backup writes a file with mode 0600, prints its rows, and records its time in backup.json', async () => {
  const data = copyOfStore();
  const before = storeIn(data);
  const folder = temporaryDirectory();
  const file = join(folder, 'catalog backup.json');
  const finished = backup(data, file);
  assertDone(finished);
  const { schema, sequence, time, previous, tables } = unsealed(readFileSync(file));
  const count = Object.values(tables).reduce((sum, rows) => sum + rows.length, 0);
  const state = `${count} rows as of change set ${sequence}, ${time}`;
  assert.is(finished.stdout, `backed up ${data} to ${file}: ${state}\n`);
  assert.is(schema, 5);
  const head = JSON.parse(readFileSync(join(data, 'head.json'), 'utf8'));
  assert.equal([sequence, previous], [head.sequence, head.digest]);
  assert.is(statSync(file).mode & 0o177, 0, 'for its owner alone');
  assert.equal(readdirSync(folder), ['catalog backup.json']);
  assert.equal(storeIn(data), before, 'not even a lock file is made');
  const kept = JSON.parse(readFileSync(join(data, 'backup.json'), 'utf8'));
  assert.is(kept.sequence, sequence);
  assert.ok(Date.parse(kept.time) > Date.parse(time ?? ''));
});

test('a backup holds every row, but no keys and no other data of the directory', async () => {
  const data = temporaryDirectory();
  assertDone(await runCommand(['migrate', '--data', data, '--demo']));
  assertDone(await runCommand(['issue-token', '--data', data, '--subject', 'ann']));
  const { bytes } = backup(data, '-');
  const { schema: _, sequence, previous, time, last_ids, tables, ...more } = unsealed(bytes);
  const { sku_specs: records, ...others } = demo;
  assert.equal(tables, {
    ...others,
    sku_specs: records,
    idempotency_keys: [],
    audits: [],
    webhooks: [],
  });
  assert.equal(Object.keys(more), []);
  assert.is(sequence, 1);
  const kept = JSON.parse(readFileSync(join(data, 'backup.json'), 'utf8'));
  assert.is(kept.sequence, 1, 'a backup to standard output counts as well');
  assert.match(previous, /^[0-9a-f]{64}$/);
  assert.ok(Math.abs(Date.parse(time ?? '') - Date.now()) < 600_000);
  assert.is(last_ids['skus'], demo.skus.length);
  const [{ secret }] = JSON.parse(readFileSync(join(data, 'keys.json'), 'utf8')).keys;
  assert.not.ok(bytes.includes(secret));
});

test('without a file name, backup writes to the current directory, with the time in the name', () => {
  const data = copyOfStore();
  const cwd = temporaryDirectory();
  const begun = Date.now();
  const finished = backup(data, null, { cwd });
  assertDone(finished);
  const [name = '', ...more] = readdirSync(cwd);
  assert.equal(more, []);
  assert.match(name, /^catalog-\d{8}T\d{6}Z\.json$/);
  const [, year, month, day, hour, minute, second] =
    /(....)(..)(..)T(..)(..)(..)Z/.exec(name) ?? [];
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  assert.ok(time >= begun - 1000 && time <= Date.now(), name);
  assert.match(finished.stdout, ` to ${name}: `);
  unsealed(readFileSync(join(cwd, name)));
});

let large: string | null = null;

/** A store of several megabytes, more than a pipe holds. Tests only read it, so they share it. */
function largeStore(): string {
  large ??= makeLargeStore();
  return large;
}

function makeLargeStore(): string {
  const data = temporaryDirectory();
  // Few rows with long texts: each row takes time, and only the number of bytes matters.
  const long = 'ä'.repeat(240);
  const books = Array.from({ length: 5000 }, (_, index) => ({
    id: index + 1,
    name: `${index} ${long}`,
    pub_date: '2000-01-01',
    commentcount: 0,
    readcount: 0,
    image: long,
  }));
  const state = { schema: 5, sequence: 7, previous: 'c'.repeat(64), time: null };
  const file = join(temporaryDirectory(), 'large.json');
  writeFileSync(file, sealed({ ...state, last_ids: { books: books.length }, tables: { books } }));
  assertDone(restore(data, file));
  return data;
}

test('backup to a pipe, to a slow reader or to a redirected file writes the same bytes as to a file', () => {
  const data = largeStore();
  const folder = temporaryDirectory();
  const file = join(folder, 'file.json');
  assertDone(backup(data, file));
  const expected = readFileSync(file);
  assert.ok(expected.length > 4_000_000);
  const cwd = temporaryDirectory();
  const piped = backup(data, '-', { cwd });
  assertDone(piped);
  assert.ok(piped.bytes.equals(expected));
  assert.equal(readdirSync(cwd), []);
  const script = '"$0" backup --data "$1" - | dd bs=256 of="$2" status=none';
  const slow = join(folder, 'slow.json');
  const { stderr } = spawnSync('sh', ['-c', script, PROGRAM, data, slow]);
  assert.is(stderr.toString(), '');
  assert.ok(readFileSync(slow).equals(expected));
  const redirected = openSync(join(folder, 'redirected.json'), 'w');
  assertDone(backup(data, '-', { output: redirected }));
  closeSync(redirected);
  assert.ok(readFileSync(join(folder, 'redirected.json')).equals(expected));
});

test('if the reader closes the pipe, backup ends with 1 or by SIGPIPE, without a stack trace', () => {
  const data = largeStore();
  const folder = temporaryDirectory();
  const [said, status] = [join(folder, 'said'), join(folder, 'status')];
  const script = '{ "$0" backup --data "$1" - 2>"$2"; echo $? >"$3"; } | head -c 10 >/dev/null';
  spawnSync('sh', ['-c', script, PROGRAM, data, said, status]);
  assert.match(readFileSync(status, 'utf8'), /^(1|141)\n$/);
  assert.match(readFileSync(said, 'utf8'), /^(catalog-server: [^\n]+\n)?$/);
});

test('two backups of the same state are identical', () => {
  const data = copyOfStore();
  assert.ok(backup(data, '-').bytes.equals(backup(data, '-').bytes));
});

test('backup replaces an existing file, and restricts its mode to the owner', () => {
  const data = copyOfStore();
  const folder = temporaryDirectory();
  const file = join(folder, 'backup.json');
  writeFileSync(file, 'x'.repeat(1_000_000), { mode: 0o644 });
  assertDone(backup(data, file));
  assert.ok(readFileSync(file).equals(backup(data, '-').bytes));
  assert.is(statSync(file).mode & 0o177, 0);
  assert.equal(readdirSync(folder), ['backup.json']);
});

/** One turn of the event loop. */
function turn(): Promise<false> {
  return new Promise((resolve) => setImmediate(() => resolve(false)));
}

test('while backup replaces a file, a reader sees the whole old or the whole new backup', async () => {
  const data = copyOfStore();
  const file = join(temporaryDirectory(), 'backup.json');
  assertDone(backup(data, file));
  const files = new Set<number>();
  const look = () => {
    unsealed(readFileSync(file));
    files.add(statSync(file).ino);
  };
  for (let round = 0; round < 6; round += 1) {
    const replacing = runCommand(['backup', '--data', data, file]);
    const ended = replacing.then(() => true);
    while (!(await Promise.race([ended, turn()]))) look();
    assertDone(await replacing);
  }
  assert.ok(files.size > 1, 'it was replaced meanwhile');
});

interface BadStore {
  readonly name: string;
  readonly inflict: (data: string) => void;
  readonly says: string;
}

const BAD_STORES: readonly BadStore[] = [
  {
    name: 'a damaged file',
    inflict: (data) => writeFileSync(join(data, 'catalog.json'), '{"half":'),
    says: 'catalog.json is damaged',
  },
  {
    name: 'rows that are not valid',
    inflict(data) {
      const path = join(data, 'catalog.json');
      const base = unsealed(readFileSync(path));
      writeFileSync(path, sealed({ ...base, tables: { ...base.tables, brands: [] } }));
    },
    says: 'does not exist',
  },
];

for (const { name, inflict, says } of BAD_STORES) {
  test(`backup of a damaged store fails and keeps the previous backup: ${name}`, async () => {
    const data = copyOfStore();
    const folder = temporaryDirectory();
    const file = join(folder, 'backup.json');
    assertDone(backup(data, file));
    const before = contentOf(folder);
    inflict(data);
    for (const target of [file, '-']) {
      assertFailed(await call(['backup', '--data', data, target]), says);
    }
    assert.equal(contentOf(folder), before);
  });
}

test('backup creates missing directories, accessible only to the owner', () => {
  const data = copyOfStore();
  const folder = temporaryDirectory();
  const file = join(folder, 'new', 'deep', 'backup.json');
  assertDone(backup(data, file));
  unsealed(readFileSync(file));
  for (const made of ['new', 'new/deep']) assert.is(statSync(join(folder, made)).mode & 0o77, 0);
});

/** Paths inside the data directory. @param root the parent of the data directory `data`. */
const INSIDE: readonly [name: string, file: (root: string) => string, cwd?: string][] = [
  ['in it', (root) => join(root, 'data', 'backup.json')],
  ['at the path of its base', (root) => join(root, 'data', 'catalog.json')],
  ['among the change sets', (root) => join(root, 'data', 'changes', '000000000099.json')],
  ['in a new directory in it', (root) => join(root, 'data', 'new', 'deep', 'backup.json')],
  ['in a new directory through a link', (root) => join(root, 'deep', 'new', 'backup.json')],
  ['through ..', (root) => `${root}/data/../data/backup.json`],
  ['through a symbolic link', (root) => join(root, 'link', 'backup.json')],
  ['through a symbolic link to a folder in it', (root) => join(root, 'deep', 'backup.json')],
  ['with a relative path', () => '../data/backup.json', 'link'],
  ['in the current directory', () => 'backup.json', 'data'],
];

for (const [name, file, cwd] of INSIDE) {
  test(`backup refuses a file in the data directory: ${name}`, async () => {
    const data = copyOfStore();
    const root = dirname(data);
    symlinkSync('data', join(root, 'link'));
    symlinkSync(join(data, 'changes'), join(root, 'deep'));
    const before = contentOf(root);
    for (const named of [data, join(root, 'link')]) {
      const path = file(root);
      const finished =
        cwd === undefined
          ? await call(['backup', '--data', named, path])
          : backup(named, path, { cwd: join(root, cwd) });
      assertFailed(finished, path, 'data directory', named);
    }
    assert.equal(contentOf(root), before);
  });
}

test('backup without a name fails if the current directory is the data directory', () => {
  const data = copyOfStore();
  const before = contentOf(data);
  assertFailed(backup(data, null, { cwd: data }), 'data directory');
  assert.equal(contentOf(data), before);
});

test('backup can write to a sibling directory whose name begins with that of the data directory', () => {
  const data = copyOfStore();
  mkdirSync(`${data}-backup`);
  assertDone(backup(data, `${data}-backup/backup.json`));
});

test('backup follows a symbolic link as its target, unless it leads into the data directory', () => {
  const data = copyOfStore();
  const before = storeIn(data);
  const folder = temporaryDirectory();
  const file = join(folder, 'backup.json');
  const link = join(folder, 'link');
  const inside = join(folder, 'inside');
  writeFileSync(file, 'the old one');
  symlinkSync(file, link);
  symlinkSync(join(data, 'catalog.json'), inside);
  assertDone(backup(data, link));
  assert.ok(lstatSync(link).isSymbolicLink());
  unsealed(readFileSync(file));
  assertFailed(backup(data, inside), inside, 'data directory');
  assert.equal(storeIn(data), before);
  assert.equal(readdirSync(folder).sort(), ['backup.json', 'inside', 'link']);
});

/** Targets to which a backup cannot be written. @param folder an empty directory. */
const IMPOSSIBLE: readonly [name: string, prepare: (folder: string) => string][] = [
  [
    'below a file',
    (folder) => {
      writeFileSync(join(folder, 'file'), '');
      return join(folder, 'file', 'backup.json');
    },
  ],
  [
    'a directory',
    (folder) => {
      mkdirSync(join(folder, 'directory'));
      return join(folder, 'directory');
    },
  ],
  [
    'below a link to nothing',
    (folder) => {
      symlinkSync(join(folder, 'none'), join(folder, 'link'));
      return join(folder, 'link', 'backup.json');
    },
  ],
  // backup must not replace a pipe or a device by a file.
  [
    'a pipe in the file system',
    (folder) => {
      const { status } = spawnSync('mkfifo', [join(folder, 'pipe')]);
      assert.is(status, 0);
      return join(folder, 'pipe');
    },
  ],
  [
    'a link to nothing',
    (folder) => {
      symlinkSync(join(folder, 'none'), join(folder, 'link'));
      return join(folder, 'link');
    },
  ],
];

for (const [name, prepare] of IMPOSSIBLE) {
  test(`if the target cannot be written, the error names it and nothing changes: ${name}`, async () => {
    const data = copyOfStore();
    const folder = temporaryDirectory();
    const file = prepare(folder);
    const kinds = () =>
      readdirSync(folder, { withFileTypes: true }).map((entry) => [
        entry.name,
        entry.isFile(),
        entry.isDirectory(),
      ]);
    const before = kinds();
    assertFailed(await call(['backup', '--data', data, file]), folder);
    assert.equal(kinds(), before);
  });
}

for (const command of [['backup'], ['export', 'skus', '--output']]) {
  const [name] = command;
  const targets = [
    ['pipe', '| cat', 'names an open file'],
    ['file', '>> out', 'names an open file'],
    ['pipe through a link', '| cat', 'is not a regular file'],
  ] as const;
  for (const [what, redirection, says] of targets) {
    test(`${name} to standard output as a path changes nothing: a ${what}`, () => {
      const data = copyOfStore();
      const cwd = temporaryDirectory();
      writeFileSync(join(cwd, 'out'), 'old');
      symlinkSync('/dev/stdout', join(cwd, 'link'));
      const target = what.endsWith('link') ? 'link' : '/dev/stdout';
      const { stdout, stderr } = spawnSync(
        'sh',
        ['-c', `"$@" ${redirection}`, 'sh', PROGRAM, ...command, target, '--data', data],
        { cwd, env: { PATH: process.env['PATH'] ?? '' }, encoding: 'utf8', timeout: 60_000 },
      );
      assert.is(stdout, '');
      assert.match(stderr, `catalog-server: ${target} ${says}; `);
      assert.match(stderr, /^[^\n]+"-"[^\n]*\n$/);
      assert.equal(readdirSync(cwd).sort(), ['link', 'out']);
      assert.is(readFileSync(join(cwd, 'out'), 'utf8'), 'old');
    });
  }
}

testUnprivileged(
  'backup works with a read-only store, and names a target without write permission',
  (as) => {
    const data = copyOfStore();
    const into = temporaryDirectory();
    const closed = temporaryDirectory();
    chmodSync(dirname(data), 0o755);
    for (const path of readdirSync(data, { recursive: true }).map(String)) {
      chmodSync(join(data, path), statSync(join(data, path)).isDirectory() ? 0o555 : 0o444);
    }
    chmodSync(data, 0o555);
    if (as.length > 0) chownSync(into, 65_534, 65_534);
    chmodSync(closed, 0o555);
    const [done, refused, piped] = [
      backup(data, join(into, 'backup.json'), { as, cwd: '/' }),
      backup(data, join(closed, 'backup.json'), { as, cwd: '/' }),
      backup(data, '-', { as, cwd: '/' }),
    ];
    for (const { status, stderr } of [done, piped]) {
      assert.is(status, 0, stderr);
      assert.is(stderr, '');
    }
    assert.ok(readFileSync(join(into, 'backup.json')).equals(piped.bytes));
    assertFailed(refused, join(closed, 'backup.json'));
    assert.equal(readdirSync(closed), []);
  },
);

test('backup to a full device on standard output fails with one line', () => {
  const data = copyOfStore();
  const full = openSync('/dev/full', 'w');
  try {
    assertFailed(backup(data, '-', { output: full }), 'standard output', 'ENOSPC');
  } finally {
    closeSync(full);
  }
});

/** A file system of 16 KiB, or null if none can be mounted. */
function smallFileSystem(): { readonly directory: string; unmount(): void } | null {
  const directory = temporaryDirectory();
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', directory]);
  if (status !== 0) return null;
  return { directory, unmount: () => void spawnSync('umount', ['-l', directory]) };
}

const small = smallFileSystem();
small?.unmount();
const FULL = 'backup to a full disk fails with one line, and keeps only the previous backup';

(small === null ? test.skip : test)(
  small === null ? `${FULL} (skipped: no file system can be mounted here)` : FULL,
  () => {
    const data = copyOfStore();
    const mounted = smallFileSystem();
    assert.ok(mounted);
    try {
      const file = join(mounted.directory, 'backup.json');
      writeFileSync(file, 'the old one');
      assertFailed(backup(data, file), file, 'ENOSPC');
      assert.equal(readdirSync(mounted.directory), ['backup.json']);
      assert.is(readFileSync(file, 'utf8'), 'the old one');
    } finally {
      mounted.unmount();
    }
  },
);

for (const how of ['a file', 'standard input'] as const) {
  for (const where of ['a new directory', 'an empty directory'] as const) {
    test(`restore from ${how} into ${where} creates a store that passes the check`, async () => {
      const data =
        where === 'a new directory' ? join(temporaryDirectory(), 'a', 'b') : temporaryDirectory();
      const bytes = good;
      const file = join(temporaryDirectory(), 'backup.json');
      writeFileSync(file, bytes);
      const finished =
        how === 'a file' ? restore(data, file) : restore(data, '-', { input: bytes });
      assertDone(finished);
      const { sequence, time, tables } = unsealed(bytes);
      const count = Object.values(tables).reduce((sum, rows) => sum + rows.length, 0);
      const state = `${count} rows as of change set ${sequence}, ${time}`;
      assert.is(finished.stdout, `restored ${data}: ${state}\n`);
      assert.ok(readFileSync(join(data, 'catalog.json')).equals(bytes));
      assert.ok(readFileSync(file).equals(bytes));
      assert.equal(readdirSync(data).sort(), RESTORED);
      for (const name of readdirSync(data)) {
        assert.is(statSync(join(data, name)).mode & 0o077, 0, name);
      }
      await assertInOrder(data);
      assert.ok(backup(data, '-').bytes.equals(bytes), 'and there and back again');
    });
  }
}

test('restore reads standard input from a file, and several megabytes from a pipe', () => {
  const { bytes } = backup(largeStore(), '-');
  const file = join(temporaryDirectory(), 'backup.json');
  writeFileSync(file, bytes);
  const input = openSync(file, 'r');
  const [redirected, piped] = [temporaryDirectory(), temporaryDirectory()];
  assertDone(restore(redirected, '-', { input }));
  closeSync(input);
  assertDone(restore(piped, '-', { input: bytes }));
  for (const data of [redirected, piped]) {
    assert.ok(readFileSync(join(data, 'catalog.json')).equals(bytes));
  }
});

test('a restored store has the same rows, deleted ids, next ids and sequence', async () => {
  const { sequence, last_ids } = unsealed(good);
  const data = temporaryDirectory();
  assertDone(restore(data, '-', { input: good }));
  const server = await startServer({ data });
  for (const path of PATHS) {
    assert.equal(await read(server, `${path}?per_page=1000`), served[path], path);
  }
  const deleted = last_ids['skus'] ?? 0;
  for (const [path, status] of [
    ['/books/13/', 404],
    ['/admin/skus/2/', 410],
    ['/admin/brands/8/', 410],
    [`/admin/skus/${deleted - 1}/`, 410],
    [`/admin/skus/${deleted + 1}/`, 404],
  ] as const) {
    assert.is((await send(server, 'GET', path)).status, status, path);
  }
  const book = await make(server, '/books/', { name: 'New', pub_date: '2000-01-01' });
  assert.is(book.id, (last_ids['books'] ?? 0) + 1);
  const next = `${String(sequence + 1).padStart(12, '0')}.json`;
  assert.equal(readdirSync(join(data, 'changes')), [next]);
  await server.stop();
  await assertInOrder(data);
});

test('restore keeps keys.json, lost+found, .DS_Store and pages.lock in the directory', async () => {
  const data = temporaryDirectory();
  mkdirSync(join(data, 'lost+found'));
  mkdirSync(join(data, 'changes'));
  const keys = JSON.stringify({ keys: [{ kid: 'a', secret: 's'.repeat(43) }] });
  const stays = { 'keys.json': keys, '.DS_Store': 'x', 'pages.lock': '' };
  for (const [name, text] of Object.entries(stays)) {
    writeFileSync(join(data, name), text, { mode: 0o600 });
  }
  assertDone(restore(data, '-', { input: good }));
  for (const [name, text] of Object.entries(stays)) {
    assert.is(readFileSync(join(data, name), 'utf8'), text);
  }
  await assertInOrder(data);
});

test('restore can be repeated after an interrupted restore', async () => {
  const other = backup(largeStore(), '-');
  // A restore without its last step, in which the base gets its name.
  const data = temporaryDirectory();
  assertDone(restore(data, '-', { input: other.bytes }));
  const half = other.bytes.subarray(0, 1000);
  writeFileSync(join(data, '.0123456789abcdef.tmp'), half);
  rmSync(join(data, 'catalog.json'));
  assertDone(restore(data, '-', { input: good }));
  assert.ok(readFileSync(join(data, 'catalog.json')).equals(good));
  assert.equal(readdirSync(data).sort(), RESTORED);
  await assertInOrder(data);
});

/** Directories that are not empty, and what the message has to name. */
const OCCUPIED: readonly [name: string, fill: (data: string) => void, holds: RegExp][] = [
  [
    'a store',
    (data) => cpSync(whole, data, { recursive: true }),
    /it holds (catalog\.json|pages|migrated-from-1);/,
  ],
  [
    'a store of schema version 1',
    (data) => cpSync(FIXTURE, data, { recursive: true }),
    /it holds catalog\.json;/,
  ],
  [
    'change sets without a base',
    (data) => cpSync(join(FIXTURE, 'changes'), join(data, 'changes'), { recursive: true }),
    /it holds changes;/,
  ],
  [
    'another file among the change sets',
    (data) => {
      mkdirSync(join(data, 'changes'));
      writeFileSync(join(data, 'changes', 'notes.txt'), 'mine');
    },
    /it holds changes;/,
  ],
  [
    'an unknown file',
    (data) => writeFileSync(join(data, 'notes.txt'), 'mine'),
    /it holds notes\.txt;/,
  ],
  ['an unknown folder', (data) => mkdirSync(join(data, 'photos')), /it holds photos;/],
  [
    'pages',
    (data) => mkdirSync(join(data, 'pages', 'skus'), { recursive: true }),
    /it holds pages;/,
  ],
];

for (const [name, fill, holds] of OCCUPIED) {
  test(`restore into a directory with ${name} fails and changes nothing`, async () => {
    const data = temporaryDirectory();
    fill(data);
    const { lock: _, ...before } = contentOf(data);
    const finished = await call(['restore', '--data', data, '-'], { input: good });
    assertFailed(finished, data, 'not empty', '--data');
    assert.match(finished.stderr, holds);
    const { lock: __, ...after } = contentOf(data);
    assert.equal(after, before);
  });
}

test('a failed restore leaves no lock file in a directory that is not a data directory', () => {
  const data = temporaryDirectory();
  writeFileSync(join(data, 'notes.txt'), 'mine');
  assertFailed(restore(data, '-', { input: good }), 'notes.txt');
  assert.equal(readdirSync(data), ['notes.txt']);
});

test('restore into the directory of a running server fails, and the server continues', async () => {
  const server = await startServer();
  // Pages are written meanwhile, and are not part of the store.
  const withoutPages = () =>
    Object.entries(contentOf(server.data)).filter(
      ([path]) => !/^pages(?:\.manifest|\/|$)/.test(path),
    );
  const before = withoutPages();
  assertFailed(restore(server.data, '-', { input: good }), server.data);
  assert.equal(withoutPages(), before, 'the lock file too');
  const book = await make(server, '/books/', { name: 'Emma', pub_date: '1815-12-23' });
  assert.equal(await read(server, '/books/'), [book]);
  await server.stop();
  await assertInOrder(server.data);
});

/** Files that are not valid backups. */
const BAD_BACKUPS: readonly [name: string, spoil: (bytes: Buffer) => Buffer, says: string][] = [
  ['one bit changed', (bytes) => flipped(bytes, bytes.length >> 1), 'checksum'],
  ['the first byte changed', (bytes) => flipped(bytes, 0), 'checksum'],
  ['the last byte changed', (bytes) => flipped(bytes, bytes.length - 1), 'cut off'],
  ['cut off', (bytes) => bytes.subarray(0, -100), 'cut off'],
  ['without its last byte', (bytes) => bytes.subarray(0, -1), 'cut off'],
  [
    'with an extra byte at the end',
    (bytes) => Buffer.concat([bytes, Buffer.from('\n')]),
    'cut off',
  ],
  ['empty', () => Buffer.alloc(0), 'cut off'],
  ['the demo catalog', () => Buffer.from(JSON.stringify(demo)), 'not a file of the store'],
  ['not JSON', () => Buffer.alloc(70_000, 0xff), 'not a file of the store'],
  ['a head', () => sealed({ sequence: 7, digest: 'a'.repeat(64) }), 'damaged'],
  ['a change set', () => readFileSync(join(FIXTURE, 'changes', '000000000004.json')), 'damaged'],
  ['sealed, but not an object', () => sealed([1, 2, 3]), 'damaged'],
  [
    'of a newer schema version',
    (bytes) => sealed({ ...unsealed(bytes), schema: 6 }),
    'newer catalog-server',
  ],
  ['of schema version 0', (bytes) => sealed({ ...unsealed(bytes), schema: 0 }), 'damaged'],
  [
    'a reference to a missing row',
    (bytes) => altered(bytes, 'brands', (rows) => rows.slice(1)),
    'SPU 1: brand_id: 1 does not exist',
  ],
  [
    'a value that is not allowed',
    (bytes) => altered(bytes, 'books', ([row, ...rows]) => [{ ...row, name: '' }, ...rows]),
    'book 1: name: ',
  ],
  [
    'two rows with one id',
    (bytes) => altered(bytes, 'books', ([row = {}, ...rows]) => [row, row, ...rows]),
    'books has two rows with one id',
  ],
];

function flipped(bytes: Buffer, index: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[index] = (copy[index] ?? 0) ^ 1;
  return copy;
}

/** A sealed backup with other rows in one table. */
function altered(bytes: Buffer, table: string, change: (rows: Rows) => Rows): Buffer {
  const value = unsealed(bytes);
  const rows = change(value.tables[table] ?? []);
  return sealed({ ...value, tables: { ...value.tables, [table]: rows } });
}

for (const [name, spoil, says] of BAD_BACKUPS) {
  test(`restore of an invalid backup fails, names the file, and creates nothing: ${name}`, async () => {
    const bytes = spoil(good);
    const root = temporaryDirectory();
    const file = join(temporaryDirectory(), 'backup.json');
    writeFileSync(file, bytes);
    const data = join(root, 'data');
    const advice = says.startsWith('newer') ? says : '; use another backup\n';
    assertFailed(await call(['restore', '--data', data, file]), file, says, advice);
    const piped = await call(['restore', '--data', data, '-'], { input: bytes });
    assertFailed(piped, 'standard input', says, advice);
    assert.equal(readdirSync(root), [], 'not even the directory');
  });
}

test('the error for a backup that is missing or is a directory names it', () => {
  const root = temporaryDirectory();
  const none = join(root, 'none.json');
  assertFailed(restore(join(root, 'data'), none), none);
  assertFailed(
    restore(join(root, 'data'), root),
    root,
    'cannot be read',
    'it is a directory: name a file',
  );
  assert.equal(readdirSync(root), []);
});

test('the error for a data directory that is a file or below a file names the file', () => {
  const file = join(temporaryDirectory(), 'file');
  writeFileSync(file, 'mine');
  for (const data of [file, join(file, 'data')]) {
    assertFailed(restore(data, '-', { input: good }), file);
  }
  assert.is(readFileSync(file, 'utf8'), 'mine');
});

const BASES: readonly (readonly [version: number, sequence: number, newBook: number])[] = [
  [1, 3, 14],
  [2, 1, 13],
];

for (const [version, sequence, newBook] of BASES) {
  test(`a base of schema version ${version} can be restored as a backup`, async () => {
    const file = join(temporaryDirectory(), 'catalog.json');
    cpSync(join(FIXTURE, '..', `schema-${version}`, 'catalog.json'), file);
    const data = temporaryDirectory();
    const finished = restore(data, file);
    assertDone(finished);
    assert.match(finished.stdout, `rows as of change set ${sequence}`);
    const [old, now] = [file, join(data, 'catalog.json')].map((path) =>
      unsealed(readFileSync(path)),
    );
    // These tables did not exist in that version.
    const skus = (old?.tables['skus'] ?? []).map((sku) => ({ ...sku, code: null }));
    const tables = { idempotency_keys: [], ...old?.tables, audits: [], webhooks: [], skus };
    const last_ids = { idempotency_keys: 0, ...old?.last_ids, audits: 0, webhooks: 0 };
    assert.equal(now, { time: null, ...old, schema: 5, last_ids, tables });
    await assertInOrder(data);
    const server = await startServer({ data });
    const books: Rows = await read(server, '/books/');
    assert.equal(books, old?.tables['books']);
    const made = await make(server, '/books/', { name: 'New', pub_date: '2000-01-01' });
    assert.is(made.id, newBook);
    await server.stop();
  });
}

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }),
  fc.constantFrom('__proto__', 'constructor', '\u2028', '\u0000', '"sha256":"', '😀', '\ufeff'),
);

test('restore and backup keep any valid rows unchanged', async () => {
  const names = fc.uniqueArray(
    anyText.filter((text) => /\P{White_Space}/u.test(text) && text.length <= 255),
    {
      minLength: 1,
      maxLength: 40,
    },
  );
  const amounts = fc.array(fc.maxSafeNat(), { minLength: 40, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(names, amounts, fc.nat({ max: 1e9 }), async (all, counts, sequence) => {
      // Ids with gaps; some are large.
      const ids = all.map((_, index) => index * 1000 + 1 + (index % 7) * 1e9).sort((a, b) => a - b);
      const books = all.map((name, index) => ({
        id: ids[index],
        name,
        pub_date: '0001-01-01',
        commentcount: counts[index],
        readcount: 0,
        image: name,
      }));
      const last_ids = { books: Number.MAX_SAFE_INTEGER - 1 };
      const state = { schema: 5, sequence, previous: 'd'.repeat(64), time: null, last_ids };
      const data = temporaryDirectory();
      const input = sealed({ ...state, tables: { books } });
      assertDone(await call(['restore', '--data', data, '-'], { input }));
      const { stdout } = await call(['backup', '--data', data, '-']);
      const { tables, last_ids: restored, ...rest } = unsealed(Buffer.from(stdout));
      assert.equal(tables['books'], books);
      assert.is(restored['books'], last_ids.books);
      assert.equal({ ...rest, last_ids }, state);
      rmSync(data, { recursive: true });
    }),
    { numRuns: 8 },
  );
});

/** What a writer knows of a SKU; its stock is the number of its specification records. */
interface Known {
  /** The last answered number; -1 if the SKU is deleted. */
  records: number;
}

/** Writers that always change a SKU and its records in one request. */
class Writers {
  readonly skus = new Map<number, Known>();
  readonly #server: TestServer;
  readonly #of: Catalog;
  readonly #all: Promise<void>[];
  #stopped = false;

  constructor(server: TestServer, of: Catalog, count: number) {
    this.#server = server;
    this.#of = of;
    this.#all = Array.from({ length: count }, () => this.#live());
    this.#all.push(this.#swell());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#all);
  }

  /** Repeatedly creates a SKU, adds records to it, and deletes it if its id is odd. */
  async #live(): Promise<void> {
    while (!this.#stopped) {
      const body = skuFields(this.#of, { stock: 2, specs: [this.#of.silver, this.#of.large] });
      const { id } = await make(this.#server, '/admin/skus/', body);
      const known: Known = { records: 2 };
      this.skus.set(id, known);
      for (let records = 3; records < 6; records += 1) {
        const more = { stock: records, specs: [this.#of.black] };
        await this.#expect(200, 'PATCH', `/admin/skus/${id}/`, more);
        known.records = records;
      }
      if (id % 2 === 0) continue;
      await this.#expect(204, 'DELETE', `/admin/skus/${id}/`);
      known.records = -1;
    }
  }

  /** Writes so much that checkpoints are frequent. */
  async #swell(): Promise<void> {
    const text = 'x'.repeat(65_536);
    const body = { desc_detail: text, desc_pack: text, desc_service: text };
    while (!this.#stopped) await this.#expect(200, 'PATCH', `/admin/goods/${this.#of.spu}/`, body);
  }

  async #expect(status: number, method: string, path: string, body?: unknown): Promise<void> {
    const answer = await send(this.#server, method, path, { body });
    if (answer.status !== status) throw new Error(`${method} ${path}: ${answer.text}`);
  }
}

/** Checks that a backup holds every answered write, and no partial write. */
function assertConsistent(
  { tables, last_ids }: Backup,
  answered: ReadonlyMap<number, Known>,
): void {
  const records = new Map<unknown, number>();
  for (const { sku_id } of tables['sku_specs'] ?? []) {
    records.set(sku_id, (records.get(sku_id) ?? 0) + 1);
  }
  const skus = new Map((tables['skus'] ?? []).map((row) => [row['id'], row]));
  for (const [id, { stock }] of skus) {
    // The SKU that the catalog began with has a stock but no records.
    if (id !== 1) assert.is(records.get(id), stock, `SKU ${String(id)} and its records`);
  }
  for (const id of records.keys()) assert.ok(skus.has(id), `records of no SKU ${String(id)}`);
  for (const [id, known] of answered) {
    assert.ok(id <= (last_ids['skus'] ?? 0), `SKU ${id} is above the last id`);
    const stock = Number(skus.get(id)?.['stock'] ?? -1);
    if (known.records === -1) assert.is(stock, -1, `SKU ${id} was deleted`);
    // It may have been deleted since then.
    else
      assert.ok(stock >= known.records || (stock === -1 && id % 2 === 1), `SKU ${id} at ${stock}`);
  }
}

/** Minimum number of backups during writes. */
const BACKUPS = Number(process.env['BACKUP_ROUNDS'] ?? 3);

test('a backup during writes holds every answered write and no partial write', async () => {
  // Checkpoints are made after few writes, and remove all earlier change sets.
  const server = await startServer({ args: ['--checkpoint-size', '1MiB', '--history', '0'] });
  const of = await createCatalog(server);
  const writers = new Writers(server, of, 6);
  const folder = temporaryDirectory();
  const bases = new Set<string>();
  let rounds = 0;
  while (rounds < BACKUPS || bases.size < 3) {
    assert.ok((rounds += 1) < 200 + BACKUPS, `${bases.size} bases`);
    const answered = new Map([...writers.skus].map(([id, known]) => [id, { ...known }]));
    const file = join(folder, `${rounds}.json`);
    assertDone(await runCommand(['backup', '--data', server.data, file]));
    assertConsistent(unsealed(readFileSync(file)), answered);
    const base = readFileSync(join(server.data, 'catalog.json'), 'utf8');
    bases.add(/"sequence":(\d+)/.exec(base)?.[1] ?? '');
  }
  await writers.stop();
  assert.is((await server.stop()).stderr, '');
  for (const name of [1, rounds].map((round) => `${round}.json`)) {
    const data = temporaryDirectory();
    assertDone(restore(data, join(folder, name)));
    await assertInOrder(data);
  }
});

test.run();
