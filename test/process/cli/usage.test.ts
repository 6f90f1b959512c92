/** spec 8.2 and 8.8: exit statuses, output streams, variables and the working directory. */
import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { version } from '../../../package.json' with { type: 'json' };
import { send } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { assertOneLine } from '../../support/finished.ts';
import { directoryWithStore } from '../../support/program.ts';
import { PROGRAM } from '../../support/paths.ts';
import { runCommand, SECRET, startServer } from '../../support/server.ts';

test('a command that succeeds exits 0, and prints only to standard output', async () => {
  assert.equal(await runCommand(['--version']), {
    status: 0,
    signal: null,
    stdout: `${version}\n`,
    stderr: '',
  });
});

test('wrong usage exits 2', async () => {
  assertOneLine(await runCommand(['frobnicate']), 2);
});

test('a failure exits 1: a file at the path of the data directory', async () => {
  const file = join(temporaryDirectory(), 'file');
  writeFileSync(file, 'not a directory');
  const finished = await runCommand(['serve', '--data', file]);
  assertOneLine(finished, 1);
  assert.match(finished.stderr, file);
});

test('a line end in a path is shown, and the command that is named has the same path', async () => {
  const data = join(temporaryDirectory(), 'a\nb');
  const { stderr } = await runCommand(['check', '--data', data]);
  const shown = data.replace('\n', String.raw`\u000a`);
  assert.match(stderr, `${shown} holds no store`);
  const [, named = ''] = stderr.trim().split(' run: ');
  const { stdout } = spawnSync('sh', ['-c', `set -- ${named}; printf %s "$4"`]);
  assert.is(String(stdout), data);
});

test('a directory on standard input is named in the error, with what to do', async () => {
  const data = await directoryWithStore();
  const directory = openSync(data, 'r');
  for (const args of [
    ['restore', '-', '--data', join(temporaryDirectory(), 'restored')],
    ['import', 'brands', '-', '--data', data],
    ['users', 'add', 'ann', '--data', data],
  ]) {
    const { status, stderr } = spawnSync(PROGRAM, args, {
      stdio: [directory, 'pipe', 'pipe'],
      encoding: 'utf8',
    });
    assert.is(status, 1, args[0]);
    assert.match(
      stderr,
      /^catalog-server: standard input cannot be read: EISDIR: .*name a file\n$/,
    );
  }
  closeSync(directory);
});

test('the data directory is ./data if neither --data nor CATALOG_DATA is set', async () => {
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
  // Without --port the empty variable is not parsed either: the error is about the secret. Where a
  // store is, that comes before the port, which may be in use on this machine.
  const data = await directoryWithStore();
  const short = { env: { ...env, CATALOG_JWT_SECRET: 'short' } };
  const finished = await runCommand(['serve', '--data', data], short);
  assertOneLine(finished, 1);
  assert.match(finished.stderr, 'CATALOG_JWT_SECRET');
});

test('CATALOG_HOST and CATALOG_BASE_PATH are used, and flags override them', async () => {
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

test('a malformed variable is ignored if its flag is given', async () => {
  const env = { CATALOG_PORT: 'x', CATALOG_BASE_PATH: 'x' };
  const server = await startServer({ env, args: ['--base-path', '/api'] });
  assert.is((await send(server, 'GET', '/api/')).status, 200);
  assert.is((await server.stop()).status, 0);
});

/** Runs the program with its standard output redirected by a shell. */
function redirected(redirection: string, args: readonly string[]): SpawnSyncReturns<string> {
  return spawnSync('sh', ['-c', `exec "$@" ${redirection}`, 'sh', PROGRAM, ...args], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] ?? '', CATALOG_JWT_SECRET: SECRET },
    timeout: 60_000,
  });
}

test('a command whose output is lost because standard output is closed fails', async () => {
  const data = await directoryWithStore();
  for (const args of [
    ['backup', '-', '--data', data],
    ['export', 'skus', '--data', data],
    ['issue-token', '--subject', 'ann', '--data', data],
    ['--version'],
  ]) {
    const { status, stderr } = redirected('>&-', args);
    assert.is(status, 1, args.join(' '));
    assert.match(stderr, /^catalog-server: [^\n]*standard output[^\n]*it is closed[^\n]*\n$/);
  }
  const silent = redirected('>&-', ['users', 'list', '--data', data]);
  assert.is(silent.status, 0, `it prints nothing: ${silent.stderr}`);
  for (const redirection of ['> /dev/null', '1<> /dev/null']) {
    const { status, stderr } = redirected(redirection, ['backup', '-', '--data', data]);
    assert.is(status, 0, stderr);
  }
});

test('a command that works on after it has printed fails too if standard output is full', () => {
  const data = join(temporaryDirectory(), 'data');
  for (const args of [['--demo'], []]) {
    const { status, stderr } = redirected('> /dev/full', ['migrate', '--data', data, ...args]);
    assert.is(status, 1, args.join(' '));
    assert.match(stderr, /^catalog-server: cannot write to standard output \(ENOSPC[^\n]*\n$/);
  }
});

test.run();
