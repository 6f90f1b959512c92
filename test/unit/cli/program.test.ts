/** spec 8.2 and 8.8: the program's help, and its messages for wrong usage and for failures. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { version } from '../../../package.json' with { type: 'json' };
import { run } from '../../../src/cli/run.ts';
import { CatalogError } from '../../../src/errors.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { callProgram, directoryWithStore } from '../../support/program.ts';
import { COMMANDS, NESTED } from '../../support/command-line.ts';
import { assertDone, assertOneLine } from '../../support/finished.ts';

for (const args of [['--version'], ['-V']]) {
  test(`${args.join(' ')} prints the version of package.json and nothing else`, async () => {
    assert.equal(await callProgram(args), {
      status: 0,
      signal: null,
      stdout: `${version}\n`,
      stderr: '',
    });
  });
}

test('a command restores the compile policy before it runs, and serve not before it listens', async () => {
  const asked: number[] = [];
  const { setJITPolicy } = Bun.unsafe;
  Bun.unsafe.setJITPolicy = (scale) => void asked.push(scale);
  try {
    await callProgram(['completion', 'bash']);
    assert.equal(asked, [1]);
    // These exit before they listen.
    await callProgram(['serve', '--workers', 'no number']);
    await callProgram(['serve', '--data', '/dev/null/none']);
    assert.equal(asked, [1]);
  } finally {
    Bun.unsafe.setJITPolicy = setJITPolicy;
  }
});

test('if more than one thing fails, one line says each, the first one first', async () => {
  const closing = new Error('its files cannot be closed');
  const said = async (failure: Error, ...flags: string[]) => {
    const stdin = () => {
      throw new SuppressedError(
        new Error('its lock is lost'),
        new SuppressedError(closing, failure),
      );
    };
    let text = '';
    const stderr = new PassThrough().on('data', (chunk) => (text += String(chunk)));
    const args = ['restore', '-', '--data', join(temporaryDirectory(), 'new'), ...flags];
    const status = await run(args, version, { stdin, stdout: new PassThrough().resume(), stderr });
    return { status, text };
  };
  const failure = Object.assign(new Error('EACCES: permission denied, open'), {
    code: 'EACCES',
    path: '/catalog',
  });
  const { status, text } = await said(failure);
  assert.is(status, 1);
  assert.match(
    text,
    /^catalog-server: \/catalog cannot be used .+, or name another path; its files cannot be closed; its lock is lost\n$/,
  );
  const [line, ...stacks] = (await said(failure, '--verbose')).text.split('\n');
  assert.is(`${line}\n`, text);
  const messages = stacks.filter((each) => /^\w*Error: /.test(each));
  assert.equal(messages, [
    'Error: EACCES: permission denied, open',
    'Error: its files cannot be closed',
    'Error: its lock is lost',
  ]);
  const usage = new CatalogError('usage', 'a flag is missing');
  assert.is((await said(usage)).status, usage.exit, 'the status is that of the first one');
});

test('on Windows every command fails with one line', async () => {
  for (const args of [['--version'], ['serve']]) {
    const finished = await callProgram(args, { platform: 'win32' });
    assertOneLine(finished, 1);
    assert.match(finished.stderr, /^catalog-server: Windows is not supported, because .+ WSL 2/);
  }
});

for (const args of [['--help'], ['-h'], ['help']]) {
  test(`${args.join(' ')} lists every command on standard output and exits 0`, async () => {
    const { status, stdout, stderr } = await callProgram(args);
    assert.is(status, 0);
    assert.is(stderr, '');
    for (const command of Object.keys(COMMANDS))
      assert.match(stdout, new RegExp(`^  ${command} `, 'm'));
  });
}

for (const [command, flags] of Object.entries(COMMANDS)) {
  test(`${command} --help lists each of its flags and exits 0`, async () => {
    const { status, stdout, stderr } = await callProgram([command, '--help']);
    assert.is(status, 0);
    assert.is(stderr, '');
    for (const flag of flags) assert.match(stdout, new RegExp(`^  ${flag}\\b`, 'm'));
  });
}

for (const [nested, flags] of Object.entries(NESTED)) {
  const [group = '', name = ''] = nested.split(' ');
  test(`${group} --help lists ${name}, and ${nested} --help lists each of its flags`, async () => {
    assert.match((await callProgram([group, '--help'])).stdout, new RegExp(`^  ${name} `, 'm'));
    const { status, stdout, stderr } = await callProgram([group, name, '--help']);
    assert.equal([status, stderr], [0, '']);
    for (const flag of flags) assert.match(stdout, new RegExp(`^  ${flag}\\b`, 'm'));
    assert.match(stdout, 'CATALOG_DATA');
  });
}

test('help has at most 80 columns if there is no terminal', async () => {
  for (const command of ['', ...Object.keys(COMMANDS), ...Object.keys(NESTED)]) {
    const { stdout } = await callProgram([...command.split(' '), '--help'].filter(Boolean));
    const wide = stdout.split('\n').filter((line) => line.length > 80);
    assert.equal(wide, [], command);
  }
});

test('serve --help groups its flags, and ends with examples', async () => {
  const { stdout } = await callProgram(['serve', '--help']);
  const headings = [...stdout.matchAll(/^(\w[\w ]*):$/gm)].map(([, heading]) => heading);
  assert.equal(headings, [
    'Options',
    'Pages',
    'Clients',
    'Audit trail',
    'Changes',
    'Archive',
    'Primary and followers',
    'Shared log in etcd',
    'Log and metrics',
    'Limits',
    'Timeouts',
    'Examples',
  ]);
});

for (const name of ['restore', 'undo', 'import']) {
  test(`the examples in the help of ${name} are valid`, async () => {
    const { stdout } = await callProgram(['help', name]);
    const [, text = ''] = stdout.split('Examples:\n');
    const examples = [...text.replaceAll('\\\n', '').matchAll(/^ {4}catalog-server (.+)$/gm)];
    assert.is(examples.length, 2);
    for (const [, example = ''] of examples) {
      const { status, stderr } = await callProgram(example.trim().split(/ +/));
      // Its files do not exist here.
      assert.is(status, 1, `${example}: ${stderr}`);
    }
  });
}

test('the help and the error agree on the flag that a command needs', async () => {
  assert.match((await callProgram(['issue-token', '--help'])).stdout, /--subject .*\(required\)/);
  const { stderr } = await callProgram(['issue-token']);
  assert.match(stderr, "required option '--subject <name>' not specified");
});

test('the help shows default durations with their unit', async () => {
  assert.match((await callProgram(['issue-token', '--help'])).stdout, 'default: 8h');
  assert.match((await callProgram(['keys', 'rotate', '--help'])).stdout, 'default: 1d');
});

test('the help shows the values of a flag, its default and its variable, and nothing where it has none', async () => {
  const { stdout } = await callProgram(['issue-token', '--help']);
  const text = stdout.replaceAll(/\s+/g, ' ').trim();
  assert.match(text, '(viewer|editor|admin, default: admin, env: CATALOG_ROLE)');
  assert.match(text, /--help display help for command$/);
});

interface Wrong {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** What the line has to contain. */
  readonly says: readonly (string | RegExp)[];
}

const token = (...args: string[]) => ['issue-token', ...args];

/** Commands with a flag that only has an effect with another one. */
const WITHOUT_EFFECT: readonly (readonly [command: string, other: string])[] = [
  ['check --archive-key key', '--archive'],
  ['restore file --archive-key key', '--from'],
  ['serve --archive-key key', '--archive'],
  ['serve --archive-keep 30d', '--archive'],
  ['serve --token-file token', '--follow'],
  ['serve --no-forward', '--follow'],
  ['serve --max-unconfirmed 10s', '--follow'],
  ['serve --follow-insecure', '--follow'],
  ['serve --log-ca ca', '--log'],
  ['serve --log-cert cert', '--log'],
  ['serve --log-key key', '--log'],
  ['serve --log-user ann', '--log'],
  ['serve --log-password-file file', '--log'],
  ['serve --log-timeout 10s', '--log'],
  ['serve --advertise https://a.example', '--log'],
  ['serve --metrics-host ::1', '--metrics-port'],
  ['health --metrics-host ::1', '--metrics-port'],
];

const WRONG: readonly Wrong[] = [
  { args: [], says: ['command', '--help'] },
  { args: ['frobnicate'], says: ["unknown command 'frobnicate'", '--help'] },
  { args: ['serv'], says: ["'serv'", 'Did you mean serve?'] },
  { args: ['migrat'], says: ['Did you mean migrate?'] },
  {
    args: ['serve', '--prot', '1'],
    says: ["'--prot'", 'Did you mean --port?', '; see catalog-server serve --help'],
  },
  { args: ['users', 'add', '--rol', 'x'], says: ['; see catalog-server users add --help'] },
  { args: ['users', 'serve'], says: ['; see catalog-server users --help'] },
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
  { args: ['restore'], says: ['--from', 'backup'] },
  { args: ['restore', 'one', '--from', 'file:///a'], says: ['--from', 'backup'] },
  { args: ['restore', 'one', '--at', '2026-01-01'], says: ['--from', '--at'] },
  {
    args: ['restore', '--from', 'file:///a', '--at', '2026-01-01', '--sequence', '1'],
    says: ['--sequence', '--at', 'cannot be used'],
  },
  { args: ['restore', '--from', 'https://a/b'], says: ['s3://bucket/prefix'] },
  { args: ['restore', '--from', 'file:///a', '--at', 'noon'], says: ['2026-11-21'] },
  { args: ['restore', '--from', 'file:///a', '--sequence', '-1'], says: ['digits'] },
  { args: ['restore', '--from', 's3://bucket/a'], says: ['AWS_ACCESS_KEY_ID'] },
  { args: ['check', '--archive', 'bucket'], says: ['s3://bucket/prefix'] },
  { args: ['check', '--archive', 's3://ab/a'], says: ['3 to 63 lower-case letters'] },
  { args: ['serve', '--archive', 'bucket'], says: ['s3://bucket/prefix'] },
  { args: ['serve', '--archive-keep', '30'], says: ['duration'] },
  { args: ['keys', 'generate'], says: ["'file'", 'missing'] },
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
  ...['', '*', 'a b', '127.0.0.1 '].map((host) => ({
    args: ['serve', `--host=${host}`],
    says: ['--host', '0.0.0.0 for all addresses'],
  })),
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
  // A number that cannot be represented would be another one in a message.
  ...['rebuild-pages', 'undo'].map((command) => ({
    args: [command, '9007199254740993'],
    says: ["'9007199254740993'", 'at most 9007199254740991'],
  })),
  {
    args: ['restore', '--from', 'file:///a', '--sequence', '9007199254740993'],
    says: ['12 digits'],
  },
  ...['users', 'tokens', 'keys'].map((group) => ({ args: [group], says: ['command', '--help'] })),
  { args: ['users', 'ad', 'ann'], says: ["unknown command 'ad'", 'Did you mean add?'] },
  { args: ['help', 'nope'], says: ["unknown command 'nope'"] },
  {
    args: ['help', 'users', 'nope'],
    says: ["unknown command 'nope'", 'see catalog-server users --help'],
  },
  { args: ['help', 'users', 'add', 'nope'], says: ["unknown command 'nope'"] },
  { args: ['help', 'serve', 'nope'], says: ["unknown command 'nope'"] },
  { args: ['users', 'help', 'nope'], says: ["unknown command 'nope'"] },
  { args: ['users', 'add'], says: ["'name'", 'missing'] },
  { args: ['users', 'role', 'ann'], says: ["'role'", 'missing'] },
  { args: ['users', 'list', 'extra'], says: ["'list'", 'argument'] },
  { args: ['keys', 'rotate', 'extra'], says: ["'rotate'", 'argument'] },
  { args: ['tokens', 'revoke', '--subjct', 'x'], says: ['Did you mean --subject?'] },
  { args: ['keys', 'generate', '-'], says: ["'file'", 'Name a file'] },
  { args: ['backup', '--passphrase-file', '-'], says: ['--passphrase-file', 'Name a file'] },
  { args: ['serve', '--log-ca', '-'], says: ['--log-ca', 'Name a file'] },
  { args: ['serve', '--token-file', '-'], says: ['--token-file', 'Name a file'] },
  ...['http://a.example:8000', 'https://a.example/b', 'ftp://localhost', 'a'].map((address) => ({
    args: ['serve', '--advertise', address],
    says: ['--advertise', `'${address}'`, 'http only for a loopback address'],
  })),
  ...WITHOUT_EFFECT.map(([command, other]) => ({
    args: command.split(' '),
    says: [`has no effect without ${other};`],
  })),
  { args: ['check', '--archive', 'file:///a', '--data', 'b'], says: ['--archive', '--data'] },
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

for (const [args, env, shown] of [
  [
    ['serve', '--follow', 'https://ann:secret@primary.example/'],
    {},
    "'https://***@primary.example/'",
  ],
  [
    ['serve', '--follow', 'https://ann:sec@ret@standby.example/'],
    {},
    "'https://***@standby.example/'",
  ],
  [['check', '--archive', 's3://id:sec/ret@bucket/a'], {}, "'s3://***@bucket/a'"],
  [['serve'], { CATALOG_ARCHIVE: 's3://id:secret@bucket' }, "'s3://***@bucket'"],
  [['backup', '--recipient', 'AGE-SECRET-KEY-PQ-1ret'], {}, "'AGE-SECRET-KEY-***'"],
] as const) {
  test(`a refused value is shown without its secret: ${shown}`, async () => {
    const finished = await callProgram(args, { env });
    assertOneLine(finished, 2);
    assert.match(finished.stderr, shown);
    assert.not.match(finished.stderr, 'ret');
  });
}

/** An empty working directory, to detect files that a command leaves behind. */
const DIRECTORY = temporaryDirectory();
test.before(() => process.chdir(DIRECTORY));

for (const { args, env, says } of WRONG) {
  const variables = Object.entries(env ?? {}).map(([name, value]) => `${name}='${value}' `);
  const shown = `${variables.join('')}catalog-server ${args.map((arg) => arg.slice(0, 40)).join(' ')}`;
  test(`wrong usage exits 2 with one line of advice: ${shown}`, async () => {
    const finished = await callProgram(args, env && { env });
    assertOneLine(finished, 2);
    for (const what of says) assert.match(finished.stderr, what);
    assert.not.match(finished.stderr, /: error: |\.;/, 'one sentence of the program itself');
    assert.equal(readdirSync(DIRECTORY), [], 'wrong usage leaves nothing behind');
  });
}

test('help of a command in a group is that of its own flag --help', async () => {
  const flag = await callProgram(['users', 'add', '--help']);
  assertDone(flag);
  assert.match(flag.stdout, '--role');
  assert.equal(await callProgram(['help', 'users', 'add']), flag);
});

test('help of a command is shown whatever flags follow its name', async () => {
  const { stdout } = await callProgram(['serve', '--help']);
  assert.is((await callProgram(['help', 'serve', '--port', '1'])).stdout, stdout);
});

test('help has the width of the terminal', async () => {
  const widest = async (columns: number, command = 'serve') => {
    let text = '';
    const stream = new PassThrough().on('data', (chunk) => (text += String(chunk)));
    await run([command, '--help'], version, { stdout: Object.assign(stream, { columns }) });
    return Math.max(...text.split('\n').map((line) => line.length));
  };
  const [narrow, wider] = [await widest(90), await widest(130)];
  assert.ok(narrow <= 90 && wider > 90 && wider <= 130, `${narrow} ${wider}`);
  const small = await widest(54, 'rebuild-pages');
  assert.ok(small <= 54, `${small}`);
});

interface Failing {
  readonly name: string;
  /** @param directory is empty. */
  readonly args: (directory: string) => readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** What the line has to contain. */
  readonly says: readonly (string | RegExp)[];
}

const FAILING: readonly Failing[] = [
  {
    name: 'rebuild-pages without a store recommends the migrate command',
    args: (directory) => ['rebuild-pages', '--data', join(directory, 'none')],
    says: ['none', 'catalog-server migrate --data'],
  },
  {
    name: 'the recommended command can be pasted into a shell',
    args: (directory) => ['rebuild-pages', '--data', join(directory, 'f 4')],
    says: [/ catalog-server migrate --data '\/[^']*\/f 4'$/m],
  },
  {
    name: 'a secret that is too short is reported with the minimum',
    args: (directory) => ['issue-token', '--data', directory, '--subject', 'ann'],
    env: { CATALOG_JWT_SECRET: 'short' },
    says: ['CATALOG_JWT_SECRET', '32'],
  },
  ...['check', 'backup'].map((command) => ({
    name: `${command} without a store recommends the migrate command`,
    args: (directory: string) => [command, '--data', join(directory, 'none')],
    says: ['none', 'catalog-server migrate --data'],
  })),
  {
    name: 'restore of a missing file reports its name',
    args: (directory) => ['restore', '--data', directory, join(directory, 'none.json')],
    says: ['none.json', 'name a backup'],
  },
  ...['migrate', 'check', 'backup', 'rebuild-pages', 'issue-token'].map((command) => ({
    name: `${command} with a file in place of the data directory reports its path`,
    args: (directory: string) => {
      const file = join(directory, 'file');
      writeFileSync(file, 'not a directory');
      const more = command === 'issue-token' ? ['--subject', 'ann'] : [];
      return [command, '--data', file, ...more];
    },
    says: [/\/file\b/, 'directory', / name /],
  })),
];

for (const { name, args, env, says } of FAILING) {
  test(`a failure exits 1 with one line: ${name}`, async () => {
    const directory = temporaryDirectory();
    const finished = await callProgram(args(directory), env && { env });
    assertOneLine(finished, 1);
    for (const what of says) assert.match(finished.stderr, what);
  });
}

test('a command without its store, and serve with a short secret, do not create the directory', async () => {
  const root = temporaryDirectory();
  const data = join(root, 'none');
  const file = join(temporaryDirectory(), 'brands.csv');
  writeFileSync(file, 'name\r\nOndine\r\n');
  for (const args of [
    ['import', 'brands', file],
    ['export', 'brands'],
    ['undo', '1'],
    ['promote'],
    ['tokens', 'revoke', 'some-jti'],
    ['tokens', 'revoke', '--subject', 'ann'],
    ['keys', 'rotate'],
    ['keys', 'list'],
  ]) {
    const finished = await callProgram([...args, '--data', data]);
    assertOneLine(finished, 1);
    assert.match(finished.stderr, 'holds no store');
  }
  const env = { CATALOG_JWT_SECRET: 'short' };
  const served = await callProgram(['serve', '--port', '0', '--data', data], { env });
  assertOneLine(served, 1);
  assert.match(served.stderr, 'at least 32');
  assert.equal(readdirSync(root), []);
});

test('a line end in a value is shown in the message about it', async () => {
  const usage = await callProgram(['health', '--url', 'a\nb']);
  assert.match(usage.stderr, String.raw`'a\u000ab' is invalid`);
  const misspelt = await callProgram(['check', '--dat', 'x']);
  assert.match(misspelt.stderr, "unknown option '--dat' (Did you mean --data?)");
});

test('--verbose prints the stack of an error on standard error, after its line', async () => {
  const data = join(temporaryDirectory(), 'none');
  const { status, stdout, stderr } = await callProgram([
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

test('CATALOG_DATA sets the data directory, and --data overrides it', async () => {
  const root = temporaryDirectory();
  const [variable, flag] = [join(root, 'variable'), join(root, 'flag')];
  const env = { CATALOG_DATA: variable };
  assert.is((await callProgram(['migrate', '--data', flag], { env })).status, 0);
  assert.equal(readdirSync(root), ['flag']);
  assert.is((await callProgram(['migrate'], { env })).status, 0);
  assert.equal(readdirSync(root).sort(), ['flag', 'variable']);
});

test('a command fails if standard output is full, and succeeds if its reader has closed it', async () => {
  for (const args of [['--help'], ['completion', 'bash'], ['issue-token', '--subject', 'ann']]) {
    const data = args[0] === 'issue-token' ? ['--data', temporaryDirectory()] : [];
    const full = await callProgram([...args, ...data], { outputFails: 'ENOSPC' });
    assert.is(full.status, 1, args.join(' '));
    assert.match(full.stderr, 'catalog-server: cannot write to standard output');
    const gone = await callProgram([...args, ...data], { outputFails: 'EPIPE' });
    assert.is(gone.status, 0, gone.stderr);
  }
});

test('a command that fails says only why, even if standard output is full as well', async () => {
  const data = await directoryWithStore();
  writeFileSync(join(data, 'catalog.json'), 'damaged');
  const finished = await callProgram(['check', '--data', data], { outputFails: 'ENOSPC' });
  assertOneLine(finished, 1);
  assert.match(finished.stderr, 'is not in order: one finding');
});

test.run();
