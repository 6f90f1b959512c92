/** All kinds of damage: every command names the file and what to do, and changes nothing. */
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { make, read } from '../../support/catalog.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { assertDone } from '../../support/finished.ts';
import { callProgram } from '../../support/program.ts';
import { type Finished, killServers, SECRET, startServer } from '../../support/server.ts';
import { fixture, PROGRAM } from '../../support/paths.ts';
import { withoutChecksum, writeChecksummed } from '../../support/reseal.ts';
import { testUnprivileged } from '../../support/unprivileged.ts';

const FIXTURE = fixture(1);

/**
 * Two stores with the same structure and different histories: a base at change set 3, and change
 * sets 4 to 8. Tests work on copies.
 */
let whole = '';
let other = '';

async function makeStore(): Promise<string> {
  const data = temporaryDirectory();
  const makeBooks = async (count: number) => {
    const server = await startServer({ data });
    for (let book = 0; book < count; book += 1) {
      await make(server, '/books/', { name: 'Emma', pub_date: '1815-12-23' });
    }
    await server.stop();
  };
  await makeBooks(3);
  // A backup is a base: put at the path of the base, it has the effect of a checkpoint.
  assertDone(await callProgram(['backup', '--data', data, `${data}-base`]));
  for (const name of readdirSync(join(data, 'changes'))) rmSync(join(data, 'changes', name));
  renameSync(`${data}-base`, join(data, 'catalog.json'));
  await makeBooks(5);
  rmSync(join(data, 'lock'));
  rmSync(join(data, 'pages.lock'));
  rmSync(join(data, 'pages'), { recursive: true });
  return data;
}

test.before(async () => {
  [whole, other] = [await makeStore(), await makeStore()];
  assert.equal(readdirSync(join(whole, 'changes')).sort(), [4, 5, 6, 7, 8].map(fileName));
});

test.after(killServers);

function copyOf(store: string): string {
  const data = join(temporaryDirectory(), 'data');
  cpSync(store, data, { recursive: true });
  return data;
}

const fileName = (sequence: number) => `${String(sequence).padStart(12, '0')}.json`;

/** The path of a change set in the data directory. */
const set = (sequence: number) => join('changes', fileName(sequence));

/** Every path below a directory with its content, except the lock files. */
function contentOf(directory: string): Readonly<Record<string, string>> {
  const paths = readdirSync(directory, { recursive: true }).map(String).sort();
  const kept = paths.filter((path) => !/^(pages\.)?lock$/.test(path));
  const content = (path: string) =>
    statSync(path).isDirectory() ? '' : readFileSync(path).toString('base64');
  return Object.fromEntries(kept.map((path) => [path, content(join(directory, path))]));
}

/** The commands that read a store. */
const COMMANDS: readonly (readonly string[])[] = [
  ['check'],
  ['backup', '-'],
  ['rebuild-pages'],
  ['migrate', '--dry-run'],
  ['serve', '--port', '0'],
  ['migrate'],
];

/** Whether the command takes the lock of the directory. */
const owns = ([name, flag]: readonly string[]) =>
  name === 'serve' || (name === 'migrate' && flag !== '--dry-run');

/** A command that owns the directory, and the one that continues after the first problem. */
const TWO: typeof COMMANDS = [['check'], ['serve', '--port', '0']];

/** Events that `serve` handles until its process ends. */
const EVENTS = ['uncaughtException', 'unhandledRejection', 'SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/**
 * Calls a command in this process on a directory that it must refuse. The result is that of a
 * separate process, whose start would take most of the time.
 */
async function refused(command: readonly string[], data: string): Promise<string> {
  const env = { CATALOG_JWT_SECRET: SECRET };
  const before = new Set(EVENTS.flatMap((event) => process.rawListeners(event)));
  const finished = await callProgram([...command, '--data', data], { env });
  for (const event of EVENTS) {
    for (const listener of process.rawListeners(event)) {
      if (!before.has(listener)) process.off(event, listener);
    }
  }
  return assertRefused(command, finished);
}

/** Checks for a single line; `check` has it on standard output. @returns that line. */
function assertRefused([name]: readonly string[], finished: Finished): string {
  const { status, stdout, stderr } = finished;
  assert.is(status, 1, `${name}: ${stdout}${stderr}`);
  assert.match(stderr, /^catalog-server: [^\n]{10,}\n$/);
  if (name !== 'check') {
    assert.is(stdout, '', name);
    return stderr;
  }
  assert.match(stdout, /^[^\n]+\n/);
  return stdout.slice(0, stdout.indexOf('\n'));
}

const FROM_BACKUP = 'restore the directory from a backup';

/** Damages a store; every command has to name the file and what to do, and change nothing. */
async function assertAllRefuse(
  data: string,
  inflict: (data: string) => void,
  says: readonly string[],
  commands: typeof COMMANDS,
): Promise<void> {
  inflict(data);
  const before = contentOf(data);
  const meet = async (command: readonly string[]) => {
    const line = await refused(command, data);
    for (const what of says) assert.ok(line.includes(what), `${command[0]}: ${line}\n${what}`);
  };
  const owning = commands.filter((command) => owns(command));
  await Promise.all([
    ...commands.filter((command) => !owns(command)).map(meet),
    // In sequence: otherwise they would find each other's lock.
    owning.reduce((last, command) => last.then(() => meet(command)), Promise.resolve()),
  ]);
  assert.equal(contentOf(data), before, 'nothing on the disk has changed');
}

test('the stores pass the check before they are damaged', async () => {
  for (const store of [whole, other]) assertDone(await callProgram(['check', '--data', store]));
});

/** The files of a store, by their role. */
const FILES = {
  'the base': 'catalog.json',
  'the head': 'head.json',
  'the first change set': set(4),
  'the last change set': set(8),
} as const;

function flip(path: string, index: number, bit = 0): void {
  const bytes = readFileSync(path);
  const at = index < 0 ? bytes.length + index : index;
  bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
  writeFileSync(path, bytes);
}

const SPOILS: Readonly<Record<string, (path: string) => void>> = {
  'a bit of the first byte changed': (path) => flip(path, 0),
  'a bit in the middle changed': (path) => flip(path, statSync(path).size >> 1),
  'a bit of the checksum changed': (path) => flip(path, -10),
  'a bit of the last byte changed': (path) => flip(path, -1),
  'the last byte cut off': (path) => truncateSync(path, statSync(path).size - 1),
  'half of it cut off': (path) => truncateSync(path, statSync(path).size >> 1),
  'no content': (path) => truncateSync(path, 0),
  'an extra byte at its end': (path) => appendFileSync(path, '\n'),
  'other content': (path) => writeFileSync(path, '{"name":"Emma"}\n'),
};

for (const [what, name] of Object.entries(FILES)) {
  for (const [how, spoil] of Object.entries(SPOILS)) {
    test(`serve refuses ${what} with ${how}, and names it`, async () => {
      const data = copyOf(whole);
      const says = [`${join(data, name)} is damaged: `, FROM_BACKUP];
      await assertAllRefuse(data, () => spoil(join(data, name)), says, [['serve', '--port', '0']]);
    });
  }
}

test('check finds a changed bit and a truncation at any position of any file', async () => {
  const names = Object.values(FILES);
  const data = copyOf(whole);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...names),
      fc.nat(),
      fc.option(fc.nat({ max: 7 })),
      async (name, position, bit) => {
        const path = join(data, name);
        const index = position % statSync(path).size;
        if (bit === null) truncateSync(path, index);
        else flip(path, index, bit);
        const line = await refused(['check'], data);
        copyFileSync(join(whole, name), path);
        assert.ok(line.startsWith(`${path} is damaged: `), line);
      },
    ),
    { numRuns: 30 },
  );
});

interface Damage {
  readonly name: string;
  readonly inflict: (data: string) => void;
  /** The file that the error has to name, by its path in the directory. */
  readonly file: string;
  readonly says: string;
  /** If set, all commands are tested, otherwise only two. */
  readonly met?: 'by all';
}

function remove(...names: readonly string[]): (data: string) => void {
  return (data) => {
    for (const name of names) rmSync(join(data, name), { recursive: true });
  };
}

/** Replaces files by those of the other store. */
function foreign(...names: readonly string[]): (data: string) => void {
  return (data) => {
    for (const name of names) copyFileSync(join(other, name), join(data, name));
  };
}

function directoryAt(name: string): (data: string) => void {
  return (data) => {
    rmSync(join(data, name), { recursive: true });
    mkdirSync(join(data, name));
  };
}

function stranger(name: string): Damage {
  return {
    name: `${name} among the change sets`,
    inflict: (data) => writeFileSync(join(data, 'changes', name), 'mine'),
    file: join('changes', name),
    says: 'move it out of',
  };
}

const CANNOT = 'move it away';
const ALL_SETS = [4, 5, 6, 7, 8].map(set);

const DAMAGES: readonly Damage[] = [
  {
    name: 'a byte of the base changed',
    inflict: (data) => flip(join(data, 'catalog.json'), 100),
    file: 'catalog.json',
    says: FROM_BACKUP,
    met: 'by all',
  },
  {
    name: 'a byte of a change set changed',
    inflict: (data) => flip(join(data, set(6)), 100),
    file: set(6),
    says: FROM_BACKUP,
    met: 'by all',
  },
  {
    name: 'a byte of the head changed',
    inflict: (data) => flip(join(data, 'head.json'), 5),
    file: 'head.json',
    says: FROM_BACKUP,
    met: 'by all',
  },
  {
    name: 'a missing base',
    inflict: remove('catalog.json'),
    file: 'catalog.json',
    says: 'it is missing, and change sets are there',
    met: 'by all',
  },
  {
    name: 'neither a base nor change sets',
    inflict: remove('catalog.json', 'changes'),
    file: 'catalog.json',
    says: 'it is missing, and head.json is there',
  },
  {
    name: 'neither a base nor a head',
    inflict: remove('catalog.json', 'head.json'),
    file: 'catalog.json',
    says: 'it is missing, and change sets are there',
  },
  {
    name: 'a missing first change set',
    inflict: remove(set(4)),
    file: set(4),
    says: 'it is missing, and later change sets are there',
  },
  {
    name: 'a missing change set in the middle',
    inflict: remove(set(6)),
    file: set(6),
    says: 'it is missing, and later change sets are there',
  },
  {
    name: 'a missing last change set',
    inflict: remove(set(8)),
    file: set(8),
    says: 'it is missing, and head.json says that change set 8 was answered',
    met: 'by all',
  },
  {
    name: 'the last two change sets missing',
    inflict: remove(set(7), set(8)),
    file: set(7),
    says: 'it is missing, and head.json says that change set 8 was answered',
  },
  {
    name: 'all change sets missing',
    inflict: remove(...ALL_SETS),
    file: set(4),
    says: 'it is missing, and head.json says that change set 8 was answered',
  },
  {
    name: 'no changes directory',
    inflict: remove('changes'),
    file: set(4),
    says: 'it is missing, and head.json says that change set 8 was answered',
  },
  {
    name: 'a missing head',
    inflict: remove('head.json'),
    file: 'head.json',
    says: 'it is missing, and catalog.json is there',
    met: 'by all',
  },
  {
    name: 'the head of another store',
    inflict: foreign('head.json'),
    file: 'head.json',
    says: 'it is from another history',
  },
  {
    name: 'the head of another store, with the sequence of the base',
    inflict(data) {
      remove(...ALL_SETS)(data);
      writeChecksummed(join(data, 'head.json'), { sequence: 3, digest: 'e'.repeat(64) });
    },
    file: 'head.json',
    says: 'it is from another history',
  },
  {
    name: 'a sealed head of a wrong form',
    inflict: (data) => writeChecksummed(join(data, 'head.json'), { sequence: '8' }),
    file: 'head.json',
    says: FROM_BACKUP,
  },
  {
    name: 'the base of another store',
    inflict: foreign('catalog.json'),
    file: set(4),
    says: 'it does not follow the change set before it; it is from another history',
    met: 'by all',
  },
  ...[4, 6, 8].map((sequence) => ({
    name: `change set ${sequence} of another store`,
    inflict: foreign(set(sequence)),
    file: set(sequence),
    says: 'it does not follow the change set before it; it is from another history',
  })),
  {
    name: 'all change sets of another store',
    inflict: foreign(...ALL_SETS),
    file: set(4),
    says: 'it does not follow the change set before it; it is from another history',
  },
  {
    name: 'the last change set under another number',
    inflict: (data) => renameSync(join(data, set(8)), join(data, set(9))),
    file: set(8),
    says: 'it is missing, and later change sets are there',
  },
  {
    name: 'two change sets whose names are swapped',
    inflict(data) {
      renameSync(join(data, set(5)), join(data, 'changes', '.5'));
      renameSync(join(data, set(6)), join(data, set(5)));
      renameSync(join(data, 'changes', '.5'), join(data, set(6)));
    },
    file: set(5),
    says: 'it holds change set 6',
    met: 'by all',
  },
  {
    name: 'a copy of the last change set after it',
    inflict: (data) => copyFileSync(join(data, set(8)), join(data, set(9))),
    file: set(9),
    says: 'it holds change set 8',
  },
  {
    name: 'a sealed base of a wrong form',
    inflict: (data) => writeChecksummed(join(data, 'catalog.json'), { schema: 5 }),
    file: 'catalog.json',
    says: FROM_BACKUP,
  },
  {
    name: 'a base without a schema version',
    inflict: (data) => writeChecksummed(join(data, 'catalog.json'), { shelf: 7 }),
    file: 'catalog.json',
    says: FROM_BACKUP,
  },
  {
    name: 'a sealed change set of a wrong form',
    inflict: (data) => writeChecksummed(join(data, set(4)), { sequence: 4 }),
    file: set(4),
    says: FROM_BACKUP,
  },
  ...['catalog.json', 'head.json', set(4), set(8)].map((name) => ({
    name: `a directory at the path of ${name}`,
    inflict: directoryAt(name),
    file: name,
    says: CANNOT,
  })),
  {
    name: 'a file at the path of the changes directory',
    inflict(data) {
      rmSync(join(data, 'changes'), { recursive: true });
      writeFileSync(join(data, 'changes'), 'mine');
    },
    file: 'changes',
    says: 'there is a file where a directory is expected',
    met: 'by all',
  },
  ...[
    'notes.txt',
    '4.json',
    `${fileName(8)}.bak`,
    `copy of ${fileName(8)}`,
    '000000000009.JSON',
  ].map(stranger),
  {
    name: 'a directory among the change sets',
    inflict: (data) => mkdirSync(join(data, 'changes', 'old')),
    file: join('changes', 'old'),
    says: 'move it out of',
    met: 'by all',
  },
];

for (const { name, inflict, file, says, met } of DAMAGES) {
  const [who, commands] = met ? ['all commands', COMMANDS] : ['serve and check', TWO];
  test(`a store with ${name} is refused by ${who}, which name ${file}`, async () => {
    const data = copyOf(whole);
    await assertAllRefuse(data, inflict, [join(data, file), says], commands);
  });
}

/** Changes the base to the next schema version; the other files stay. */
function newer(data: string): void {
  const path = join(data, 'catalog.json');
  writeChecksummed(path, { ...withoutChecksum(path), schema: 6 });
}

const NEWER: readonly [name: string, inflict: (data: string) => void][] = [
  ['with other files of the current format', () => {}],
  [
    'with a head of another format',
    (data) => writeChecksummed(join(data, 'head.json'), { head: 8 }),
  ],
  ['with an unreadable head', (data) => writeFileSync(join(data, 'head.json'), 'x')],
  ['without a head', remove('head.json')],
  ['with change sets of another format', (data) => writeFileSync(join(data, set(5)), 'x')],
  ['with change sets of other names', (data) => writeFileSync(join(data, 'changes', '9'), '')],
  [
    'with rows of another format',
    (data) => {
      const path = join(data, 'catalog.json');
      writeChecksummed(path, { schema: 6, sequence: 8, shelves: [] });
    },
  ],
];

for (const [name, inflict] of NEWER) {
  const commands = name.startsWith('with other files') ? [...COMMANDS, ['migrate', '--demo']] : TWO;
  test(`a newer schema version ${name} is reported as such, not as damage`, async () => {
    const data = copyOf(whole);
    newer(data);
    inflict(data);
    const before = contentOf(data);
    const says = `${data}/catalog.json has schema version 6, this program has 5; use a newer catalog-server`;
    for (const command of commands) {
      const line = await refused(command, data);
      assert.ok(line.includes(data) && line.includes(says), line);
      assert.not.match(line, 'damaged');
    }
    assert.equal(contentOf(data), before);
  });
}

/** Damage that must stop a migration. */
const OLD_DAMAGES: readonly Damage[] = [
  {
    name: 'a byte of the base changed',
    inflict: (data) => flip(join(data, 'catalog.json'), 3000),
    file: 'catalog.json',
    says: FROM_BACKUP,
  },
  {
    name: 'a byte of the last change set changed',
    inflict: (data) => flip(join(data, set(8)), 20),
    file: set(8),
    says: FROM_BACKUP,
  },
  {
    name: 'a missing change set in the middle',
    inflict: remove(set(6)),
    file: set(6),
    says: 'it is missing, and later change sets are there',
  },
  {
    name: 'a missing base',
    inflict: remove('catalog.json'),
    file: 'catalog.json',
    says: 'it is missing',
  },
  {
    name: 'a change set of another store',
    inflict: foreign(set(7)),
    file: set(7),
    says: 'it is from another history',
  },
  {
    name: 'a directory at the path of a change set',
    inflict: directoryAt(set(5)),
    file: set(5),
    says: CANNOT,
  },
  stranger('notes.txt'),
];

for (const { name, inflict, file, says } of OLD_DAMAGES) {
  test(`migrate of version 1 with ${name} fails, names ${file} and changes nothing`, async () => {
    const data = copyOf(FIXTURE);
    const commands = [['check'], ['migrate', '--dry-run'], ['migrate']];
    await assertAllRefuse(data, inflict, [join(data, file), says], commands);
  });
}

/** Runs `run` while a path has the mode. */
function withMode(data: string, name: string, mode: number, run: () => void): void {
  const path = join(data, name);
  const { mode: before } = statSync(path);
  chmodSync(path, mode);
  try {
    run();
  } finally {
    chmodSync(path, before);
  }
}

const FORBIDDEN: readonly [name: string, mode: number, named?: string][] = [
  ['catalog.json', 0o000],
  ['head.json', 0o000],
  [set(4), 0o000],
  [set(8), 0o000],
  ['changes', 0o000],
  // Its names can be read, but no file in it.
  ['changes', 0o400, set(4)],
  // Its files can be read, but not their names.
  ['changes', 0o100],
  ['.', 0o000, ''],
];

for (const [name, mode, named = name] of FORBIDDEN) {
  const what = `serve and check name what they may not read: ${name} with mode ${mode.toString(8)}`;
  testUnprivileged(what, (as) => {
    const data = copyOf(whole);
    chmodSync(dirname(data), 0o755);
    const paths = readdirSync(data, { recursive: true }).map((path) => join(data, String(path)));
    for (const path of [data, ...paths]) if (as.length > 0) chownSync(path, 65_534, 65_534);
    const before = contentOf(data);
    for (const command of TWO) {
      const words = [...as, PROGRAM, ...command, '--data', data];
      withMode(data, name, mode, () => {
        const { status, signal, stdout, stderr } = spawnSync(words[0] ?? '', words.slice(1), {
          env: { PATH: process.env['PATH'] ?? '', CATALOG_JWT_SECRET: SECRET },
          encoding: 'utf8',
          timeout: 20_000,
          killSignal: 'SIGKILL',
        });
        const line = assertRefused(command, { status, signal, stdout, stderr });
        assert.ok(line.includes(join(data, named)), line);
      });
    }
    assert.equal(contentOf(data), before);
  });
}

test('unrelated files in the data directory and hidden files in changes are ignored and kept', async () => {
  const data = copyOf(whole);
  const strangers = {
    '.DS_Store': 'x',
    'changes/.DS_Store': 'x',
    'changes/.000000000009.json.swp': 'x',
    'notes.txt': 'mine',
    'catalog.json.bak': '{"half":',
    '000000000009.json': '{"half":',
    'head.json~': 'x',
    'lost+found/x': 'x',
    'changes/.snapshot/x': 'x',
  };
  for (const [name, text] of Object.entries(strangers)) {
    mkdirSync(dirname(join(data, name)), { recursive: true });
    writeFileSync(join(data, name), text);
  }
  for (const command of COMMANDS.filter(([name]) => name !== 'serve')) {
    assertDone(await callProgram([...command, '--data', data]));
  }
  const server = await startServer({ data });
  assert.is((await read(server, '/books/')).length, 8);
  assert.is((await make(server, '/books/', { name: 'Emma', pub_date: '1815-12-23' })).id, 9);
  await server.stop();
  for (const [name, text] of Object.entries(strangers)) {
    assert.is(readFileSync(join(data, name), 'utf8'), text, name);
  }
});

test('a half-written file of a crash is ignored by readers and removed at the next start', async () => {
  const data = copyOf(whole);
  const halves = ['.0123456789abcdef.tmp', join('changes', '.fedcba9876543210.tmp')];
  for (const name of halves) writeFileSync(join(data, name), '{"half":');
  for (const command of [['check'], ['backup', '-'], ['rebuild-pages'], ['migrate', '--dry-run']]) {
    assertDone(await callProgram([...command, '--data', data]));
  }
  assert.ok(
    halves.every((name) => existsSync(join(data, name))),
    'readers remove nothing',
  );
  await (await startServer({ data })).stop();
  assert.not.ok(halves.some((name) => existsSync(join(data, name))));
});

test('an older head, as power loss may leave it, is accepted and updated by the next write', async () => {
  const data = copyOf(whole);
  const head = join(data, 'head.json');
  // A change set contains the digest of the previous one.
  writeChecksummed(head, { sequence: 5, digest: withoutChecksum(join(data, set(6)))['previous'] });
  for (const command of COMMANDS.filter(([name]) => name !== 'serve')) {
    assertDone(await callProgram([...command, '--data', data]));
  }
  const server = await startServer({ data });
  assert.is((await read(server, '/books/')).length, 8);
  await make(server, '/books/', { name: 'Emma', pub_date: '1815-12-23' });
  await server.stop();
  assert.is(withoutChecksum(head)['sequence'], 9);
  assertDone(await callProgram(['check', '--data', data]));
});

test('damage while a server runs does not affect its responses, but the next start fails', async () => {
  const server = await startServer({ data: copyOf(whole) });
  flip(join(server.data, set(5)), 30);
  assert.is((await read(server, '/books/')).length, 8);
  assert.is((await make(server, '/books/', { name: 'Emma', pub_date: '1815-12-23' })).id, 9);
  assert.ok((await refused(['check'], server.data)).includes(join(server.data, set(5))));
  assertDone(await server.stop());
  assert.ok((await refused(['serve', '--port', '0'], server.data)).includes(set(5)));
});

test.run();
