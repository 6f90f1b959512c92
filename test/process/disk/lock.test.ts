/** One process owns a directory, and a lock file that a crash left does not block the next one. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { acquireOwnership, FileLock } from '../../../src/disk/lock.ts';
import { send } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import {
  collect,
  type Finished,
  killServers,
  runCommand,
  SECRET,
  serving,
  startServer,
} from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { fixture, PROGRAM, ROOT } from '../../support/paths.ts';

const FIXTURE = fixture(1);

test.after(killServers);

const book = { name: 'Emma', pub_date: '1815-12-23' };

test('a second server on a directory exits with 1 and names the process that holds it', async () => {
  const server = await startServer();
  const second = await runCommand(['serve', '--data', server.data, '--port', '0']);
  assert.is(second.status, 1);
  assert.is(second.stdout, '');
  assert.match(second.stderr, /^[^\n]+\n$/);
  assert.match(second.stderr, new RegExp(`serve, process ${server.child.pid}\\b`));
  assert.ok(second.stderr.includes(server.data), second.stderr);
  // The first server is not affected.
  assert.is((await send(server, 'POST', '/books/', { body: book })).status, 201);
  await server.stop();
});

test('migrate fails while a server runs, but migrate --dry-run works', async () => {
  const server = await startServer();
  for (const more of [[], ['--demo']]) {
    const refused = await runCommand(['migrate', '--data', server.data, ...more]);
    assert.is(refused.status, 1);
    assert.match(refused.stderr, new RegExp(`process ${server.child.pid}\\b`));
  }
  const dry = await runCommand(['migrate', '--data', server.data, '--dry-run']);
  assert.is(dry.status, 0, dry.stderr);
  assert.equal((await send(server, 'GET', '/books/')).json, []);
  await server.stop();
});

test('after SIGKILL the next start succeeds without manual work', async () => {
  const killed = await startServer();
  assert.is((await send(killed, 'POST', '/books/', { body: book })).status, 201);
  assert.is((await killed.kill()).signal, 'SIGKILL');
  assert.ok(existsSync(join(killed.data, 'lock')));
  const next = await startServer({ data: killed.data });
  assert.is((await send(next, 'GET', '/books/1/')).json.name, 'Emma');
  await next.stop();
});

test('after a normal stop the next start succeeds', async () => {
  const first = await startServer();
  assert.is((await first.stop()).status, 0);
  const next = await startServer({ data: first.data });
  await next.stop();
});

test('of 8 servers started at the same time on one directory, exactly one starts', async () => {
  const data = temporaryDirectory();
  const starts = await Promise.allSettled(Array.from({ length: 8 }, () => startServer({ data })));
  const won = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  const lost = starts.flatMap((start) => (start.status === 'rejected' ? [`${start.reason}`] : []));
  assert.is(won.length, 1);
  for (const reason of lost) assert.match(reason, /ended with 1 .*is in use by/s);
  assert.is((await send(won[0] as { url: string }, 'GET', '/books/')).status, 200);
  await won[0]?.stop();
});

/** Commands, and what each of several concurrent runs may print: success or a reason. */
const AT_ONCE: readonly {
  readonly name: string;
  readonly args: (data: string) => readonly string[];
  readonly prepare: (data: string) => void;
  readonly won: RegExp;
  readonly lost: RegExp;
}[] = [
  {
    name: 'migrate without a store',
    args: (data) => ['migrate', '--data', data],
    prepare: () => {},
    won: /^created /,
    lost: /nothing to do\n$|is in use by /,
  },
  {
    name: 'migrate of a store of version 1',
    args: (data) => ['migrate', '--data', data],
    prepare: (data) => cpSync(FIXTURE, data, { recursive: true }),
    won: /^migrated /,
    lost: /nothing to do\n$|is in use by /,
  },
  {
    name: 'migrate --demo',
    args: (data) => ['migrate', '--demo', '--data', data],
    prepare: () => {},
    won: /added the demo catalog/,
    lost: /is in use by |is not empty/,
  },
  {
    name: 'restore',
    args: (data) => ['restore', '--data', data, join(FIXTURE, 'catalog.json')],
    prepare: () => {},
    won: /^restored /,
    lost: /is in use by |is not empty/,
  },
];

for (const { name, args, prepare, won, lost } of AT_ONCE) {
  test(`of 5 concurrent runs exactly one does the work: ${name}`, async () => {
    const data = temporaryDirectory();
    prepare(data);
    const runs = Array.from({ length: 5 }, () => runCommand(args(data)));
    const said = (await Promise.all(runs)).map(({ stdout, stderr }) => stdout + stderr);
    const did = said.filter((text) => won.test(text));
    assert.is(did.length, 1, said.join(''));
    for (const text of said) assert.ok(did.includes(text) || lost.test(text), text);
    const checked = await runCommand(['check', '--data', data]);
    assert.is(checked.status, 0, checked.stdout);
    assert.not.ok(
      readdirSync(data, { recursive: true }).some((path) => String(path).endsWith('.tmp')),
    );
  });
}

const OWNING = [
  ['serve', '--port', '0'],
  ['migrate'],
  ['restore', join(FIXTURE, 'catalog.json')],
] as const;

for (const holder of ['serve', 'migrate', 'restore']) {
  test(`while ${holder} holds a directory, other commands fail with a line that names the holder`, async () => {
    const data = temporaryDirectory();
    const lock = acquireOwnership(data, 'lock', holder);
    const since = JSON.parse(readFileSync(join(data, 'lock'), 'utf8')).since;
    const who = `catalog-server ${holder}, process ${process.pid} on ${hostname()} since ${since}`;
    for (const [command, ...args] of OWNING) {
      const finished = await runCommand([command, '--data', data, ...args]);
      assert.is(finished.status, 1);
      assert.is(finished.stdout, '');
      const line = `${data} is in use by ${who}; stop it first, or name another directory with --data`;
      assert.is(finished.stderr, `catalog-server: ${line}\n`);
    }
    assert.equal(readdirSync(data), ['lock'], 'nobody has made anything');
    lock.close();
    assert.is((await runCommand(['migrate', '--data', data])).status, 0);
  });
}

/** Contents of a lock file after a reboot: the process is gone, and its id may be reused. */
const STALE: readonly [name: string, text: string][] = [
  ['the id of a running process', holderText({ pid: process.pid })],
  ['the id of process 1', holderText({ pid: 1 })],
  ['another host', holderText({ pid: process.pid, host: 'another-host' })],
  ['nothing', ''],
  ['half a line', '{"pid":12'],
  ['bytes that are not JSON', '\u0000'.repeat(4096)],
  ['100,000 bytes', 'x'.repeat(100_000)],
];

function holderText(fields: { readonly pid: number; readonly host?: string }): string {
  const since = '2020-01-01T00:00:00.000Z';
  return `${JSON.stringify({ host: hostname(), command: 'serve', since, ...fields })}\n`;
}

for (const [name, text] of STALE) {
  test(`a leftover lock file with ${name} does not block a start, and then names the new holder`, async () => {
    const data = temporaryDirectory();
    const path = join(data, 'lock');
    writeFileSync(path, text);
    const server = await startServer({ data });
    const holder = JSON.parse(readFileSync(path, 'utf8'));
    assert.is(holder.pid, server.child.pid);
    assert.is(holder.host, hostname());
    await server.kill();
    writeFileSync(path, text);
    assert.is((await runCommand(['migrate', '--data', data])).status, 0);
  });
}

test('a process that waits for a lock gets it when the holder is killed', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'lock');
  const module = join(ROOT, 'src', 'disk', 'lock.ts');
  const script = `
    const { acquireOwnership } = await import(process.argv[1] ?? '');
    globalThis.lock = acquireOwnership(process.argv[2] ?? '', 'lock', 'test');
    console.log('held');
    setInterval(() => {}, 1000);
  `;
  const holder = spawn(process.execPath, ['-e', script, module, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => holder.stdout.once('data', resolve));
  const lock = new FileLock(path);
  assert.is(lock.tryLock(), false);
  holder.kill('SIGKILL');
  lock.lock();
  lock.close();
});

/** Flags for separate namespaces, as in a container; a user other than root is mapped to root. */
const ISOLATED = [
  ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']),
  '--pid',
  '--fork',
  '--kill-child',
  '--mount',
  '--mount-proc',
  '--uts',
  '--net',
];

/** Runs a command with the directory mounted as a volume, under its own path and host name. */
function contain(host: string, data: string, args: readonly string[]): ChildProcess {
  const volume = join(temporaryDirectory(), 'volume');
  mkdirSync(volume);
  const script = [
    // Only root may write to /proc/sys, also in a namespace of another user.
    'hostname "$0"',
    'mount --bind "$1" "$2"',
    'shift 2',
    'exec "$@"',
  ].join(' && ');
  const [command = '', ...more] = args;
  const program = [PROGRAM, command, '--data', volume, ...more];
  return spawn('unshare', [...ISOLATED, 'sh', '-c', script, host, data, volume, ...program], {
    env: { PATH: process.env['PATH'] ?? '', CATALOG_JWT_SECRET: SECRET },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

const runContained = (host: string, data: string, ...args: string[]): Promise<Finished> =>
  collect(contain(host, data, args));

const CONTAINERS =
  'of two containers on one volume, the second fails and names the host of the first';
const probe = temporaryDirectory();
const isolates = spawnSync('unshare', [...ISOLATED, 'mount', '--bind', probe, probe]).status === 0;

(isolates ? test : test.skip)(
  isolates ? CONTAINERS : `${CONTAINERS} (skipped: unshare may not create namespaces)`,
  async () => {
    const data = temporaryDirectory();
    // The namespace has no network, but every address can be listened on.
    const serve = ['serve', '--port', '0', '--host', '0.0.0.0'];
    const first = await serving(contain('container-one', data, serve));
    assert.is(JSON.parse(readFileSync(join(data, 'lock'), 'utf8')).pid, 1, 'a process of its own');
    for (const command of [serve, ['migrate']]) {
      const second = await runContained('container-two', data, ...command);
      assert.is(second.status, 1);
      assert.is(second.stdout, '');
      assert.match(
        second.stderr,
        /in use by catalog-server serve, process 1 on container-one since/,
      );
    }
    const outside = await runCommand(['serve', '--data', data, '--port', '0']);
    assert.is(outside.status, 1);
    assert.match(outside.stderr, /process 1 on container-one since/);
    assert.is((await runContained('container-two', data, 'check')).status, 0, 'readers may read');

    await first.kill();
    const lock = new FileLock(join(data, 'lock'));
    await until('the kernel has dropped the lock', () => lock.tryLock());
    lock.close();
    const next = await serving(contain('container-two', data, serve));
    const inside = await runContained('container-one', data, ...serve);
    assert.match(inside.stderr, /process 1 on container-two since/);
    await next.kill();
  },
);

test.run();
