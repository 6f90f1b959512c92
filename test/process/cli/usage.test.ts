/** spec 8.2 and 8.8: flags, environment variables, exit statuses and messages, as a shell sees them. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { version } from '../../../package.json' with { type: 'json' };
import { send } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { type Finished, runCommand, startServer } from '../../support/server.ts';

const COMMANDS = [
  'serve',
  'migrate',
  'check',
  'backup',
  'restore',
  'issue-token',
  'users',
  'tokens',
  'keys',
  'rebuild-pages',
  'completion',
] as const;

/** The commands of groups, and their flags. */
const NESTED: Readonly<Record<string, readonly string[]>> = {
  'users add': ['--data', '--role', '--verbose'],
  'users list': ['--data'],
  'users passwd': ['--data'],
  'users role': ['--data'],
  'users disable': ['--data'],
  'users enable': ['--data'],
  'users remove': ['--data'],
  'tokens revoke': ['--data', '--subject'],
  'keys rotate': ['--data', '--overlap'],
  'keys list': ['--data'],
};

/** Flags by command (spec 8.3 to 8.7). */
const FLAGS: Readonly<Record<(typeof COMMANDS)[number], readonly string[]>> = {
  serve: ['--data', '--host', '--port', '--base-path', '--max-body', '--cors-origin'],
  migrate: ['--data', '--demo', '--dry-run'],
  check: ['--data', '--verbose'],
  backup: ['--data', '--verbose'],
  restore: ['--data', '--verbose'],
  'issue-token': ['--data', '--subject', '--role', '--expires'],
  users: [],
  tokens: [],
  keys: [],
  'rebuild-pages': ['--data', '--stale'],
  completion: [],
};

const VARIABLES = ['CATALOG_DATA', 'CATALOG_HOST', 'CATALOG_PORT', 'CATALOG_BASE_PATH'] as const;

/** One line on standard error, nothing on standard output, and no trace of the source. */
function assertOneLine({ status, stdout, stderr }: Finished, expected: number): void {
  assert.is(status, expected, stderr);
  assert.is(stdout, '');
  assert.match(stderr, /^catalog-server: [^\n]{10,}\n$/);
  assert.not.match(stderr, /\n\s+at |\.ts:\d/);
}

for (const args of [['--version'], ['-V']]) {
  test(`${args.join(' ')} prints the version of package.json and nothing else`, async () => {
    assert.equal(await runCommand(args), {
      status: 0,
      signal: null,
      stdout: `${version}\n`,
      stderr: '',
    });
  });
}

for (const args of [['--help'], ['-h'], ['help']]) {
  test(`${args.join(' ')} names every command on standard output and exits 0`, async () => {
    const { status, stdout, stderr } = await runCommand(args);
    assert.is(status, 0);
    assert.is(stderr, '');
    for (const command of COMMANDS) assert.match(stdout, new RegExp(`^  ${command} `, 'm'));
  });
}

for (const command of COMMANDS) {
  test(`${command} --help names each of its flags and exits 0`, async () => {
    const { status, stdout, stderr } = await runCommand([command, '--help']);
    assert.is(status, 0);
    assert.is(stderr, '');
    for (const flag of FLAGS[command]) assert.match(stdout, new RegExp(`^  ${flag}\\b`, 'm'));
  });
}

for (const [nested, flags] of Object.entries(NESTED)) {
  const [group = '', name = ''] = nested.split(' ');
  test(`${group} --help names ${name}, and ${nested} --help each of its flags`, async () => {
    assert.match((await runCommand([group, '--help'])).stdout, new RegExp(`^  ${name} `, 'm'));
    const { status, stdout, stderr } = await runCommand([group, name, '--help']);
    assert.equal([status, stderr], [0, '']);
    for (const flag of flags) assert.match(stdout, new RegExp(`^  ${flag}\\b`, 'm'));
    assert.match(stdout, 'CATALOG_DATA');
  });
}

test('serve --help names the environment variable of each flag', async () => {
  const { stdout } = await runCommand(['serve', '--help']);
  for (const variable of VARIABLES) assert.ok(stdout.includes(variable), variable);
});

interface Wrong {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** What the line has to name. */
  readonly says: readonly (string | RegExp)[];
}

const token = (...args: string[]) => ['issue-token', ...args];

const WRONG: readonly Wrong[] = [
  { args: [], says: ['command', '--help'] },
  { args: ['frobnicate'], says: ["unknown command 'frobnicate'", '--help'] },
  { args: ['serv'], says: ["'serv'", 'Did you mean serve?'] },
  { args: ['migrat'], says: ['Did you mean migrate?'] },
  { args: ['serve', '--prot', '1'], says: ["'--prot'", 'Did you mean --port?'] },
  { args: ['migrate', '--dry-rum'], says: ['Did you mean --dry-run?'] },
  { args: ['migrate', '--frobnicate'], says: ["unknown option '--frobnicate'", '--help'] },
  { args: ['--frobnicate'], says: ["unknown option '--frobnicate'"] },
  { args: ['serve', 'extra'], says: ["'serve'", 'argument'] },
  { args: ['migrate', 'extra'], says: ["'migrate'", 'argument'] },
  { args: ['check', 'extra'], says: ["'check'", 'argument'] },
  { args: ['check', '--fix'], says: ["unknown option '--fix'", '--help'] },
  { args: ['chek'], says: ['Did you mean check?'] },
  { args: ['backup', 'one', 'two'], says: ["'backup'", 'argument'] },
  { args: ['backup', '--dat', 'x'], says: ['Did you mean --data?'] },
  { args: ['restore'], says: ["'file'", 'missing'] },
  { args: ['restore', 'one', 'two'], says: ["'restore'", 'argument'] },
  { args: ['restor', 'one'], says: ['Did you mean restore?'] },
  { args: ['check', '--data'], says: ['--data', 'missing'] },
  { args: token('--subject', 'ann', 'extra'), says: ["'issue-token'", 'argument'] },
  ...['x', '65536', '-1', '1.5', '1e3', '0x50', ' 80', '8000 ', '', '99999', '١'].map((port) => ({
    args: ['serve', `--port=${port}`],
    says: ['--port', '0 to 65535'],
  })),
  { args: ['serve', '--port'], says: ['--port', 'missing'] },
  ...['api', '//', '/a//b', '/a/../b', '/.', '/a b', '/a?b', '/a#b', '/%41', 'http://x/'].map(
    (path) => ({ args: ['serve', `--base-path=${path}`], says: ['--base-path', '/api'] }),
  ),
  { args: ['serve', '--host='], says: ['--host'] },
  { args: ['migrate', '--data='], says: ['--data'] },
  { args: ['backup', '--data=', '-'], says: ['--data'] },
  { args: ['backup', ''], says: ['file'] },
  { args: ['restore', ''], says: ['file'] },
  ...['boss', 'Admin', ''].map((role) => ({
    args: token('--subject', 'ann', `--role=${role}`),
    says: ['--role', /viewer, editor,? (or )?admin/],
  })),
  ...['', 'soon', '8', '0h', '8 h', '-1h', '1.5h', '1y', '8H', '3651d', '999999999w'].map(
    (expires) => ({
      args: token('--subject', 'ann', `--expires=${expires}`),
      says: ['--expires', '8h'],
    }),
  ),
  { args: token(), says: ['--subject'] },
  { args: token('--subject'), says: ['--subject', 'missing'] },
  { args: token('--subject='), says: ['--subject'] },
  { args: token('--subject= '), says: ['--subject'] },
  { args: token('--subject', 'a'.repeat(256)), says: ['--subject', '255'] },
  ...['x', '0', '01', '1.5', '1e3', '', '99999999999999999'].map((id) => ({
    args: ['rebuild-pages', '--', id],
    says: ['digits'],
  })),
  ...['users', 'tokens', 'keys'].map((group) => ({ args: [group], says: ['command', '--help'] })),
  { args: ['users', 'ad', 'ann'], says: ["unknown command 'ad'", 'Did you mean add?'] },
  { args: ['users', 'add'], says: ["'name'", 'missing'] },
  { args: ['users', 'role', 'ann'], says: ["'role'", 'missing'] },
  { args: ['users', 'list', 'extra'], says: ["'list'", 'argument'] },
  { args: ['keys', 'rotate', 'extra'], says: ["'rotate'", 'argument'] },
  { args: ['tokens', 'revoke', '--subjct', 'x'], says: ['Did you mean --subject?'] },
  { args: ['completion'], says: ['shell'] },
  { args: ['completion', 'tcsh'], says: ["'tcsh'", 'bash, zsh, fish'] },
  ...['x', '65536', '-1', '1e3'].map((CATALOG_PORT) => ({
    args: ['serve'],
    env: { CATALOG_PORT },
    says: ['CATALOG_PORT', `'${CATALOG_PORT}'`, '0 to 65535'],
  })),
  ...['api', '/a/../b', '/a b'].map((CATALOG_BASE_PATH) => ({
    args: ['serve'],
    env: { CATALOG_BASE_PATH },
    says: ['CATALOG_BASE_PATH', `'${CATALOG_BASE_PATH}'`, '/api'],
  })),
];

for (const { args, env, says } of WRONG) {
  const variables = Object.entries(env ?? {}).map(([name, value]) => `${name}='${value}' `);
  const shown = `${variables.join('')}catalog-server ${args.map((arg) => arg.slice(0, 40)).join(' ')}`;
  test(`wrong usage exits 2 with one line that says what to do: ${shown}`, async () => {
    const cwd = temporaryDirectory();
    const finished = await runCommand(args, { cwd, ...(env && { env }) });
    assertOneLine(finished, 2);
    for (const what of says) assert.match(finished.stderr, what);
    assert.equal(readdirSync(cwd), [], 'wrong usage leaves nothing behind');
  });
}

interface Failing {
  readonly name: string;
  /** @param directory an empty one. */
  readonly args: (directory: string) => readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** What the line has to name; the directory as well. */
  readonly says: readonly (string | RegExp)[];
}

const FAILING: readonly Failing[] = [
  {
    name: 'rebuild-pages where there is no store names the migrate call',
    args: (directory) => ['rebuild-pages', '--data', join(directory, 'none')],
    says: ['none', 'catalog-server migrate --data'],
  },
  {
    name: 'a secret that is too short is named, with the way to a good one',
    args: (directory) => ['issue-token', '--data', directory, '--subject', 'ann'],
    env: { CATALOG_JWT_SECRET: 'short' },
    says: ['CATALOG_JWT_SECRET', '32'],
  },
  ...['check', 'backup'].map((command) => ({
    name: `${command} where there is no store names the migrate call`,
    args: (directory: string) => [command, '--data', join(directory, 'none')],
    says: ['none', 'catalog-server migrate --data'],
  })),
  {
    name: 'restore of a file that does not exist names it',
    args: (directory) => ['restore', '--data', directory, join(directory, 'none.json')],
    says: ['none.json', 'name a backup'],
  },
  ...['serve', 'migrate', 'backup', 'rebuild-pages', 'issue-token'].map((command) => ({
    name: `${command} with a file in the place of the data directory names it`,
    args: (directory: string) => {
      const file = join(directory, 'file');
      writeFileSync(file, 'not a directory');
      const more = command === 'issue-token' ? ['--subject', 'ann'] : [];
      return [command, '--data', file, ...more];
    },
    says: [/\/file\b/],
  })),
];

for (const { name, args, env, says } of FAILING) {
  test(`a failure exits 1 with one line: ${name}`, async () => {
    const directory = temporaryDirectory();
    const finished = await runCommand(args(directory), env && { env });
    assertOneLine(finished, 1);
    for (const what of says) assert.match(finished.stderr, what);
  });
}

test('--verbose adds the stack of a failure after its line, still on standard error', async () => {
  const data = join(temporaryDirectory(), 'none');
  const { status, stdout, stderr } = await runCommand([
    'rebuild-pages',
    '--data',
    data,
    '--verbose',
  ]);
  assert.is(status, 1);
  assert.is(stdout, '');
  const [first, ...rest] = stderr.split('\n');
  assert.match(first ?? '', /^catalog-server: .*holds no store/);
  assert.match(rest.join('\n'), /^ +at /m);
});

test('CATALOG_DATA names the data directory, and --data wins over it', async () => {
  const root = temporaryDirectory();
  const [variable, flag] = [join(root, 'variable'), join(root, 'flag')];
  const env = { CATALOG_DATA: variable };
  assert.is((await runCommand(['migrate', '--data', flag], { env })).status, 0);
  assert.equal(readdirSync(root), ['flag']);
  assert.is((await runCommand(['migrate'], { env })).status, 0);
  assert.equal(readdirSync(root).sort(), ['flag', 'variable']);
});

test('without a flag and a variable the data directory is ./data', async () => {
  const cwd = temporaryDirectory();
  assert.is((await runCommand(['migrate'], { cwd })).status, 0);
  assert.ok(existsSync(join(cwd, 'data', 'catalog.json')));
});

test('an empty CATALOG_DATA counts as unset', async () => {
  const cwd = temporaryDirectory();
  assert.is((await runCommand(['migrate'], { cwd, env: { CATALOG_DATA: '' } })).status, 0);
  assert.equal(readdirSync(cwd), ['data']);
});

test('empty CATALOG_HOST, CATALOG_PORT and CATALOG_BASE_PATH count as unset', async () => {
  const env = { CATALOG_HOST: '', CATALOG_PORT: '', CATALOG_BASE_PATH: '' };
  const server = await startServer({ env });
  assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+$/);
  assert.is((await send(server, 'GET', '/')).status, 200);
  await server.stop();
  // Without --port the empty variable is not parsed either: the failure is the secret's.
  const data = temporaryDirectory();
  const short = { env: { ...env, CATALOG_JWT_SECRET: 'short' } };
  const finished = await runCommand(['serve', '--data', data], short);
  assertOneLine(finished, 1);
  assert.match(finished.stderr, 'CATALOG_JWT_SECRET');
});

test('CATALOG_HOST and CATALOG_BASE_PATH are taken, and flags win over them', async () => {
  const env = { CATALOG_HOST: '127.0.0.2', CATALOG_BASE_PATH: '/variable', CATALOG_PORT: '1' };
  const server = await startServer({ env });
  assert.match(server.url, /^http:\/\/127\.0\.0\.2:\d+$/);
  assert.is((await send(server, 'GET', '/variable/books/')).status, 200);
  assert.is((await send(server, 'GET', '/books/')).status, 404);
  await server.stop();
  const other = await startServer({ env, args: ['--host', '127.0.0.1', '--base-path', '/flag'] });
  assert.match(other.url, /^http:\/\/127\.0\.0\.1:\d+$/);
  assert.is((await send(other, 'GET', '/flag/books/')).status, 200);
  assert.is((await send(other, 'GET', '/variable/books/')).status, 404);
  await other.stop();
});

test('CATALOG_PORT is used if there is no --port', async () => {
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
  const { port } = holder.address() as AddressInfo;
  try {
    const finished = await runCommand(['serve', '--data', temporaryDirectory()], {
      env: { CATALOG_PORT: String(port) },
    });
    assertOneLine(finished, 1);
    assert.match(finished.stderr, String(port));
  } finally {
    holder.close();
  }
});

test('a malformed variable does no harm if its flag is given', async () => {
  const env = { CATALOG_PORT: 'x', CATALOG_BASE_PATH: 'x' };
  const server = await startServer({ env, args: ['--base-path', '/api'] });
  assert.is((await send(server, 'GET', '/api/')).status, 200);
  assert.is((await server.stop()).status, 0);
});

for (const shell of ['bash', 'zsh', 'fish'] as const) {
  test(`completion ${shell} prints a script that names every command and every flag`, async () => {
    const { status, stdout, stderr } = await runCommand(['completion', shell]);
    assert.is(status, 0);
    assert.is(stderr, '');
    for (const command of COMMANDS) {
      assert.match(stdout, new RegExp(`\\b${command}\\b`));
      for (const flag of [...FLAGS[command], '--help']) {
        const written = shell === 'fish' ? `-l ${flag.slice(2)} ` : flag;
        const line = stdout
          .split('\n')
          .filter((each) => each.includes(command) && each.includes(written));
        assert.ok(line.length > 0, `${command} ${flag}`);
      }
    }
    for (const [nested, flags] of Object.entries(NESTED)) {
      const [group = '', name = ''] = nested.split(' ');
      const lines = stdout.split('\n').filter((line) => line.includes(name));
      assert.ok(lines.length > 0, nested);
      for (const flag of [...flags, '--help']) {
        const written = shell === 'fish' ? `-l ${flag.slice(2)} ` : flag;
        const told = lines.filter((line) => line.includes(written));
        assert.ok(told.length > 0, `${nested} ${flag}`);
        // zsh has the group on a line of its own.
        assert.ok(shell === 'zsh' || told.some((line) => line.includes(group)), nested);
      }
    }
    assert.ok(stdout.includes(shell === 'fish' ? '-l version' : '--version'), '--version');
  });
}

/** Skips, and says so, if the shell is not installed. */
function testWith(shell: string, name: string, run: () => Promise<void>): void {
  if (Bun.which(shell) === null) test.skip(`${name} (skipped: there is no ${shell} here)`, run);
  else test(name, run);
}

for (const shell of ['bash', 'zsh', 'fish'] as const) {
  testWith(shell, `${shell} accepts the syntax of its completion script`, async () => {
    const { stdout } = await runCommand(['completion', shell]);
    const script = join(temporaryDirectory(), 'script');
    writeFileSync(script, stdout);
    const { status, stderr } = spawnSync(shell, ['-n', script], { encoding: 'utf8' });
    assert.is(status, 0, stderr);
    assert.is(stderr, '');
  });
}

const COMPLETED: readonly [words: readonly string[], offered: readonly string[]][] = [
  [['mig'], ['migrate']],
  [['ch'], ['check']],
  [['ba'], ['backup']],
  [['re'], ['rebuild-pages', 'restore']],
  [['--v'], ['--version']],
  [['serve', '--po'], ['--port']],
  [
    ['migrate', '--d'],
    ['--data', '--demo', '--dry-run'],
  ],
  [['backup', '--v'], ['--verbose']],
  [['issue-token', '--s'], ['--subject']],
  [['rebuild-pages', '--st'], ['--stale']],
  [['us'], ['users']],
  [
    ['users', 'r'],
    ['remove', 'role'],
  ],
  [['users', '--h'], ['--help']],
  [['users', 'add', '--r'], ['--role']],
  [['users', 'add', 'ann', '--r'], ['--role']],
  [['keys', 'ro'], ['rotate']],
  [['keys', 'rotate', '--o'], ['--overlap']],
  [['tokens', 'revoke', '--s'], ['--subject']],
];

for (const [words, offered] of COMPLETED) {
  testWith('bash', `bash completes "${words.join(' ')}" to ${offered.join(', ')}`, async () => {
    const { stdout } = await runCommand(['completion', 'bash']);
    const typed = ['catalog-server', ...words].map((word) => `'${word}'`).join(' ');
    const script = `${stdout}\nCOMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _catalog_server; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const result = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
    assert.is(result.stderr, '');
    assert.equal(result.stdout.trim().split('\n').sort(), offered);
  });
}

test.run();
