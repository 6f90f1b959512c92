/** `users`: accounts from the command line, also while a server runs, and password prompts. */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { send } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { type Finished, killServers, SECRET, startServer } from '../../support/server.ts';
import { callProgram, directoryWithStore } from '../../support/program.ts';
import { PROGRAM } from '../../support/paths.ts';
import { freePorts } from '../../support/ports.ts';

const PASSWORD = 'correct horse battery';

test.after(killServers);

test('if the log that hosts share cannot be reached, the error names its address', async () => {
  const data = await directoryWithStore();
  const [port] = await freePorts(1);
  writeFileSync(join(data, 'cluster.json'), `{"log": "etcd://127.0.0.1:${port}/shop"}`);
  for (const args of [
    ['users', 'add', 'ann'],
    ['tokens', 'revoke', 'some-token'],
    ['keys', 'rotate'],
  ]) {
    const { status, stderr } = await callProgram([...args, '--data', data], { input: PASSWORD });
    assert.is(status, 1);
    assert.match(
      stderr,
      `the log at http://127.0.0.1:${port} cannot be used (etcd does not answer`,
    );
  }
});

function users(
  data: string,
  args: readonly string[],
  input?: string | Uint8Array,
): Promise<Finished> {
  const env = { CATALOG_JWT_SECRET: SECRET };
  return callProgram(['users', ...args, '--data', data], {
    env,
    ...(input !== undefined && { input }),
  });
}

/** Runs a command that has to succeed. @returns its output. */
async function done(data: string, args: readonly string[], input?: string): Promise<string> {
  const { status, stdout, stderr } = await users(data, args, input);
  assert.is(status, 0, stderr);
  assert.is(stderr, '');
  return stdout;
}

function assertFailed({ status, stdout, stderr }: Finished, ...says: readonly (string | RegExp)[]) {
  assert.is(status, 1, stderr);
  assert.is(stdout, '');
  assert.match(stderr, /^catalog-server: [^\n]{10,}\n$/);
  assert.not.match(stderr, PASSWORD);
  for (const what of says) assert.match(stderr, what);
}

test('users adds an account with a password from standard input, and lists, changes and removes it', async () => {
  const none = join(temporaryDirectory(), 'none');
  for (const args of [['list'], ['disable', 'ann'], ['passwd', 'ann']]) {
    assertFailed(await users(none, args, PASSWORD), `${none} holds no store`);
  }
  assert.not.ok(existsSync(none), 'looking makes nothing');
  const data = await directoryWithStore();
  assert.is(await done(data, ['list']), '');
  assert.is(await done(data, ['add', 'ann'], `${PASSWORD}\n`), 'added ann as viewer\n');
  assert.is(
    await done(data, ['add', 'Анна', '--role', 'admin'], PASSWORD),
    'added Анна as admin\n',
  );
  const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`;
  assert.match(
    await done(data, ['list']),
    new RegExp(`^ann {3}viewer  active  ${time}\nАнна  admin   active  ${time}\n$`),
  );
  assert.match(await done(data, ['role', 'ann', 'editor']), /^ann is editor now/);
  assert.match(await done(data, ['role', 'ann', 'editor']), /^ann is editor already/);
  assert.match(await done(data, ['disable', 'ann']), /^disabled ann/);
  assert.match(await done(data, ['disable', 'ann']), /already/);
  assert.match(await done(data, ['list']), /^ann {3}editor  disabled {2}/);
  assert.match(await done(data, ['enable', 'ann']), /^enabled ann/);
  assert.match(await done(data, ['enable', 'ann']), /already/);
  assert.match(
    await done(data, ['passwd', 'ann'], 'another password\r\n'),
    /^changed the password/,
  );
  assert.match(await done(data, ['remove', 'Анна']), /^removed Анна/);
  assert.match(await done(data, ['list']), /^ann  editor  active {2}[^\n]+\n$/);
});

test('the password is stored only as an argon2id hash', async () => {
  const data = await directoryWithStore();
  const before = readdirSync(data);
  await done(data, ['add', 'ann'], PASSWORD);
  const text = readFileSync(join(data, 'access.json'), 'utf8');
  assert.match(text, /"password": "\$argon2id\$v=19\$/);
  assert.not.match(text, PASSWORD);
  assert.equal(readdirSync(data).sort(), [...before, 'access.json', 'access.lock'].sort());
});

const REFUSED: readonly (readonly [what: string, input: string | Uint8Array, says: RegExp])[] = [
  ['no bytes', '', /no password was given/],
  ['an empty line', '\n', /no password was given/],
  ['seven characters', '1234567\n', /at least 8 characters/],
  ['1025 bytes', `${'x'.repeat(1025)}\n`, /at most 1024 bytes/],
  ['two lines', `${PASSWORD}\n${PASSWORD}\n`, /one line/],
  [
    'bytes that are not UTF-8',
    new Uint8Array([0x70, 0xe4, 0x73, 0x73, 0x77, 0xf6, 0x72, 0x74]),
    /UTF-8/,
  ],
];

for (const [what, input, says] of REFUSED) {
  test(`a password of ${what} is refused, and nothing is changed`, async () => {
    const data = temporaryDirectory();
    assertFailed(await users(data, ['add', 'ann'], input), says);
    assert.equal(readdirSync(data), []);
  });
}

test('users add works before there is a store, and warns that there is none', async () => {
  const data = join(temporaryDirectory(), 'mistyped');
  const { status, stdout, stderr } = await users(data, ['add', 'ann'], PASSWORD);
  assert.equal([status, stdout], [0, 'added ann as viewer\n']);
  assert.match(stderr, /^catalog-server: warning: [^\n]+ holds no store; [^\n]+\n$/);
  assert.match(stderr, data);
});

test('users add without standard input fails', async () => {
  assertFailed(await users(temporaryDirectory(), ['add', 'ann']), /no password was given/);
});

test('a duplicate name and a change of an unknown user fail, and nothing is changed', async () => {
  const data = await directoryWithStore();
  await done(data, ['add', 'ann'], PASSWORD);
  const before = readFileSync(join(data, 'access.json'), 'utf8');
  for (const input of [PASSWORD, undefined]) {
    const refused = await users(data, ['add', 'ann'], input);
    assertFailed(refused, 'the user ann exists already');
  }
  for (const args of [
    ['passwd', 'bob'],
    ['role', 'bob', 'editor'],
    ['disable', 'bob'],
    ['enable', 'bob'],
    ['remove', 'bob'],
  ]) {
    assertFailed(await users(data, args, PASSWORD), 'there is no user bob', 'users list');
  }
  assert.is(readFileSync(join(data, 'access.json'), 'utf8'), before);
  const none = join(temporaryDirectory(), 'none');
  assertFailed(await users(none, ['disable', 'bob']), `${none} holds no store`);
  assert.not.ok(existsSync(none), 'a misspelt directory is not made');
});

test('an invalid name or role, and a password as an argument, exit 2', async () => {
  const data = temporaryDirectory();
  for (const name of ['', ' ', 'a b', 'a\nb', 'a\u0007', 'a/b', "'", 'x'.repeat(65)]) {
    const { status, stderr } = await users(data, ['add', name], PASSWORD);
    assert.is(status, 2, `${JSON.stringify(name)} ${stderr}`);
    assert.match(stderr, '1 to 64 letters');
  }
  for (const name of ['-x', '.', '..']) {
    const args = ['users', 'add', '--data', data, '--', name];
    const { status, stderr } = await callProgram(args, { input: PASSWORD });
    assert.is(status, 2, `${name} ${stderr}`);
    assert.match(stderr, 'other than . and .., not beginning with -');
  }
  assert.is((await users(data, ['role', 'ann', 'boss'])).status, 2);
  assert.is((await users(data, ['add', 'ann', '--role', 'boss'], PASSWORD)).status, 2);
  assert.is((await users(data, ['add', 'ann', '--password', PASSWORD], PASSWORD)).status, 2);
  assert.is((await users(data, ['add', 'ann', PASSWORD], PASSWORD)).status, 2, 'no argument');
  assert.equal(readdirSync(data), []);
});

test('access.json that is damaged or readable by others is refused and kept', async () => {
  const data = temporaryDirectory();
  const path = join(data, 'access.json');
  writeFileSync(path, '{', { mode: 0o600 });
  for (const args of [['list'], ['add', 'ann'], ['disable', 'ann']]) {
    assertFailed(await users(data, args, PASSWORD), path);
  }
  assert.is(readFileSync(path, 'utf8'), '{');
  chmodSync(path, 0o644);
  assertFailed(await users(data, ['list']), `chmod 600 ${path}`);
  const checked = await callProgram(['check', '--data', data]);
  assert.is(checked.status, 1);
  assert.match(checked.stdout, `chmod 600 ${path}`, 'check finds it as well');
});

test('accounts added at the same time are all kept', async () => {
  const data = await directoryWithStore();
  const names = ['a', 'b', 'c', 'd'];
  await Promise.all(names.map((name) => done(data, ['add', name], PASSWORD)));
  const listed = (await done(data, ['list'])).trim().split('\n');
  assert.equal(
    listed.map((line) => line.split(' ')[0]),
    names,
  );
});

const JSON_TOKEN = '/admin/tokens/';

test('a running server applies every change of an account at the next request', async () => {
  const server = await startServer();
  const { data } = server;
  await done(data, ['add', 'ann', '--role', 'editor'], PASSWORD);
  const login = async (password = PASSWORD) => {
    const body = { username: 'ann', password };
    const { status, json } = await send(server, 'POST', JSON_TOKEN, { body, token: null });
    return status === 201 ? (json.token as string) : String(status);
  };
  const reading = async (token: string) =>
    (await send(server, 'GET', '/admin/skus/', { token })).status;

  const changes: readonly (readonly [args: readonly string[], input?: string])[] = [
    [['role', 'ann', 'viewer']],
    [['role', 'ann', 'admin']],
    [['passwd', 'ann'], PASSWORD],
    [['disable', 'ann']],
  ];
  let token = await login();
  for (const [args, input] of changes) {
    // Twice: what was verified before is remembered.
    assert.is(await reading(token), 200, args.join(' '));
    assert.is(await reading(token), 200, args.join(' '));
    await done(data, args, input);
    assert.is(await reading(token), 401, args.join(' '));
    if (args[0] !== 'disable') token = await login();
  }
  assert.is(await login(), '401', 'a disabled account');
  await done(data, ['enable', 'ann']);
  assert.is(await reading(token), 401, 'what has ended stays so');
  token = await login();
  assert.is(await reading(token), 200);
  await done(data, ['remove', 'ann']);
  assert.is(await reading(token), 401);
  assert.is(await login(), '401');
  await done(data, ['add', 'ann'], PASSWORD);
  assert.is(await reading(token), 401, 'of another ann');
  assert.is(await reading(await login()), 200);
  await server.stop();
});

test('issue-token fails for a disabled account, and otherwise prints a valid token', async () => {
  const server = await startServer();
  const { data } = server;
  const env = { CATALOG_JWT_SECRET: SECRET };
  const issue = () => callProgram(['issue-token', '--data', data, '--subject', 'ann'], { env });
  await done(data, ['add', 'ann'], PASSWORD);
  await done(data, ['role', 'ann', 'editor']);
  const early = (await issue()).stdout.trim();
  assert.is((await send(server, 'GET', '/admin/skus/', { token: early })).status, 200);
  await done(data, ['disable', 'ann']);
  assert.is((await send(server, 'GET', '/admin/skus/', { token: early })).status, 401);
  assertFailed(await issue(), 'ann is disabled', 'users enable');
  await done(data, ['enable', 'ann']);
  const late = (await issue()).stdout.trim();
  assert.is((await send(server, 'GET', '/admin/skus/', { token: late })).status, 200);
  await server.stop();
});

/** Runs a command on a terminal; each answer is typed when its prompt appears. */
async function onTerminal(
  args: readonly string[],
  answers: readonly (readonly [prompt: string, typed: string])[],
): Promise<{ readonly shown: string; readonly status: number | null }> {
  const command = [PROGRAM, ...args].map((each) => `'${each}'`).join(' ');
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { PATH: process.env['PATH'] ?? '', SHELL: '/bin/sh', TERM: 'xterm' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let shown = '';
  const left = [...answers];
  child.stdout.on('data', (chunk) => {
    shown += chunk;
    const [next] = left;
    if (next === undefined || !shown.includes(next[0])) return;
    left.shift();
    child.stdin.write(next[1]);
  });
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve));
  assert.equal(left, [], shown);
  return { shown, status };
}

/** A test that is skipped if `script` is not installed. */
function testOnTerminal(name: string, run: () => Promise<void>): void {
  if (Bun.which('script') === null) test.skip(`${name} (skipped: script is not installed)`, run);
  else test(name, run);
}

testOnTerminal(
  'on a terminal users add asks for the password twice and never shows it',
  async () => {
    const data = await directoryWithStore();
    const { shown, status } = await onTerminal(
      ['users', 'add', 'ann', '--data', data],
      [
        ['Password of ann: ', `${PASSWORD}x\u007f\r`],
        ['Repeat the password: ', `${PASSWORD}\r`],
      ],
    );
    assert.is(status, 0, shown);
    assert.is(shown, 'Password of ann: \r\nRepeat the password: \r\nadded ann as viewer\r\n');
    const server = await startServer({ data });
    const body = { username: 'ann', password: PASSWORD };
    assert.is((await send(server, 'POST', JSON_TOKEN, { body, token: null })).status, 201);
    await server.stop();
  },
);

testOnTerminal(
  'on a terminal Ctrl-Z at the prompt shows no password and stops nothing',
  async () => {
    const { shown, status } = await onTerminal(
      ['users', 'add', 'ann', '--data', await directoryWithStore()],
      [
        ['Password of ann: ', `\u001a${PASSWORD}\r`],
        ['Repeat the password: ', `${PASSWORD}\r`],
      ],
    );
    assert.is(status, 0, shown);
    assert.is(shown, 'Password of ann: \r\nRepeat the password: \r\nadded ann as viewer\r\n');
  },
);

test('SIGHUP at the prompt ends the command and turns the echo on again', async () => {
  const data = await directoryWithStore();
  const echoes: boolean[] = [];
  let shown = '';
  const child = Bun.spawn([PROGRAM, 'users', 'add', 'ann', '--data', data], {
    terminal: {
      data(_terminal, bytes) {
        shown += Buffer.from(bytes).toString();
        if (shown !== 'Password of ann: ') return;
        echoes.push(hasEcho());
        child.kill('SIGHUP');
      },
    },
  });
  /** By ECHO of termios(3), which is 8 on Linux and macOS. */
  const hasEcho = () => ((child.terminal?.localFlags ?? 0) & 8) !== 0;
  await child.exited;
  assert.is(child.signalCode, 'SIGHUP', shown);
  echoes.push(hasEcho());
  child.terminal?.close();
  assert.equal(echoes, [false, true], shown);
});

const ENDINGS: readonly (readonly [string, readonly (readonly [string, string])[], string])[] = [
  [
    'two different passwords',
    [
      ['Password of ann: ', `${PASSWORD}\r`],
      ['Repeat the password: ', `${PASSWORD}!\r`],
    ],
    'differ',
  ],
  ['Ctrl-C', [['Password of ann: ', 'corr\u0003']], 'no password was given'],
  ['Ctrl-D', [['Password of ann: ', '\u0004']], 'no password was given'],
  [
    'Ctrl-D at the second prompt',
    [
      ['Password of ann: ', `${PASSWORD}\r`],
      ['Repeat the password: ', '\u0004'],
    ],
    'no password was given',
  ],
];

for (const [what, typed, says] of ENDINGS) {
  testOnTerminal(`on a terminal, users add fails on ${what} and changes nothing`, async () => {
    const data = temporaryDirectory();
    const { shown, status } = await onTerminal(['users', 'add', 'ann', '--data', data], typed);
    assert.is(status, 1, shown);
    assert.match(shown, says);
    assert.match(shown, 'nothing was changed');
    assert.not.match(shown, 'corr');
    assert.is(shown.includes('Repeat the password'), typed.length > 1, shown);
    assert.equal(readdirSync(data), []);
  });
}

test.run();
