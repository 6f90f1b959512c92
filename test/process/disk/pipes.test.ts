/** A pipe in place of a file: to open it would wait for a process that writes to it. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { send } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { PROGRAM } from '../../support/paths.ts';
import { callProgram, directoryWithStore } from '../../support/program.ts';
import { killServers, startServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

test.after(killServers);

/** Only a command that waits for the pipe takes this long. */
const TIMEOUT_MS = 60_000;

function call(...args: string[]) {
  const options = { encoding: 'utf8', timeout: TIMEOUT_MS, killSignal: 'SIGKILL' } as const;
  return spawnSync(PROGRAM, args, options);
}

function putPipe(path: string): void {
  rmSync(path, { force: true });
  mkdirSync(dirname(path), { recursive: true });
  assert.is(spawnSync('mkfifo', [path]).status, 0);
}

for (const name of [
  'catalog.json',
  'head.json',
  'changes/000000000001.json',
  'access.json',
  'keys.json',
  'webhook-key.json',
  'archive.json',
  'pages.json',
]) {
  test(`check names a pipe in place of ${name}`, async () => {
    const data = await directoryWithStore();
    const path = join(data, name);
    putPipe(path);
    const { status, signal, stdout } = call('check', '--data', data);
    assert.equal([status, signal], [1, null]);
    assert.ok(stdout.startsWith(`${path} cannot be read (EFTYPE`), stdout);
    assert.match(stdout, 'a pipe or a device where a file is expected: move it away');
  });
}

test('a pipe in place of outline.json is ignored, because the outline is only for speed', async () => {
  const data = await directoryWithStore();
  putPipe(join(data, 'outline.json'));
  assert.is(call('check', '--data', data).status, 0);
});

test('an archive with a pipe in place of an object is refused', () => {
  const archive = temporaryDirectory();
  putPipe(join(archive, 'archive.json'));
  const { status, stderr } = call('check', '--archive', `file://${archive}`);
  assert.is(status, 1);
  assert.match(stderr, 'EFTYPE');
});

test('an import from a pipe with a name is refused, and the message names standard input', async () => {
  const data = await directoryWithStore();
  const pipe = join(temporaryDirectory(), 'brands.csv');
  putPipe(pipe);
  const { status, stderr } = call('import', 'brands', pipe, '--data', data);
  assert.is(status, 1);
  assert.match(stderr, '; name a file, or "-" for standard input');
});

test('a server replies to a request for an import that is a pipe, and goes on', async () => {
  const server = await startServer();
  const request = join(server.data, 'imports', '00000000-0000-4000-8000-000000000001');
  putPipe(`${request}.request`);
  await until('the server replies', () => existsSync(`${request}.reply`));
  assert.match(readFileSync(`${request}.reply`, 'utf8'), 'EFTYPE');
  assert.is((await send(server, 'GET', '/books/')).status, 200);
  assert.is((await server.stop()).status, 0);
});

for (const [flag, ...others] of [
  ['--log-password-file', '--log', 'etcd://127.0.0.1:2379/shop', '--log-user', 'shop'],
  ['--token-file', '--follow', 'http://127.0.0.1:1'],
  ['--archive-key', '--archive', `file://${temporaryDirectory()}`],
] as const) {
  test(`serve refuses a pipe for ${flag}, whose file it reads more than once`, () => {
    const folder = temporaryDirectory();
    const pipe = join(folder, 'pipe');
    putPipe(pipe);
    const data = join(folder, 'data');
    const { signal, stderr } = call('serve', '--data', data, '--port', '0', ...others, flag, pipe);
    assert.is(signal, null);
    assert.match(stderr, `${pipe} is a pipe or a device; name a file`);
    assert.not.ok(existsSync(data));
  });
}

test('a command reads the key of an archive from a pipe', async () => {
  const folder = temporaryDirectory();
  const [key, pipe] = [join(folder, 'key'), join(folder, 'pipe')];
  assert.is(call('keys', 'generate', key).status, 0);
  putPipe(pipe);
  chmodSync(pipe, 0o600);
  const writer = Bun.spawn(['sh', '-c', 'cat "$0" > "$1"', key, pipe]);
  const { stderr } = call('check', '--archive', `file://${folder}`, '--archive-key', pipe);
  assert.match(stderr, 'holds no archive');
  assert.is(await writer.exited, 0);
});

test('a backup can still be restored from a pipe', async () => {
  const data = await directoryWithStore();
  const { stdout } = await callProgram(['backup', '-', '--data', data]);
  const folder = temporaryDirectory();
  const pipe = join(folder, 'pipe');
  putPipe(pipe);
  const writer = Bun.spawn(['sh', '-c', 'cat > "$0"', pipe], { stdin: Buffer.from(stdout) });
  const { status, stderr } = call('restore', pipe, '--data', join(folder, 'restored'));
  assert.is(status, 0, stderr);
  assert.is(await writer.exited, 0);
});

test.run();
