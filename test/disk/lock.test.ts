/** One server owns a directory; a lock that a crash left needs no person. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { acquireOwnership, FileLock } from '../../src/disk/lock.ts';
import { CatalogError } from '../../src/errors.ts';
import { send } from '../support/client.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { runCommand, startServer } from '../support/server.ts';

const book = { name: 'Emma', pub_date: '1815-12-23' };

test('a second server on the directory ends with 1 and says who holds it', async () => {
  const server = await startServer();
  const second = await runCommand(['serve', '--data', server.data, '--port', '0']);
  assert.is(second.status, 1);
  assert.is(second.stdout, '');
  assert.match(second.stderr, /^[^\n]+\n$/);
  assert.match(second.stderr, new RegExp(`serve, process ${server.child.pid}\\b`));
  assert.ok(second.stderr.includes(server.data), second.stderr);
  // The first one has not noticed.
  assert.is((await send(server, 'POST', '/books/', { body: book })).status, 201);
  await server.stop();
});

test('migrate refuses as well while a server runs, and reads beside it', async () => {
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

test('after SIGKILL the next start works, and needs no person', async () => {
  const killed = await startServer();
  assert.is((await send(killed, 'POST', '/books/', { body: book })).status, 201);
  assert.is((await killed.kill()).signal, 'SIGKILL');
  assert.ok(existsSync(join(killed.data, 'lock')));
  const next = await startServer({ data: killed.data });
  assert.is((await send(next, 'GET', '/books/1/')).json.name, 'Emma');
  await next.stop();
});

test('after an orderly end the next start works', async () => {
  const first = await startServer();
  assert.is((await first.stop()).status, 0);
  const next = await startServer({ data: first.data });
  await next.stop();
});

test('of several starts at once exactly one wins', async () => {
  const data = temporaryDirectory();
  const starts = await Promise.allSettled([1, 2, 3].map(() => startServer({ data })));
  const won = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  const lost = starts.flatMap((start) => (start.status === 'rejected' ? [`${start.reason}`] : []));
  assert.is(won.length, 1);
  for (const reason of lost) assert.match(reason, /ended with 1 .*is in use by/s);
  assert.is((await send(won[0] as { url: string }, 'GET', '/books/')).status, 200);
  await won[0]?.stop();
});

test('what a lock file says is not believed: only a holder locks', () => {
  const path = join(temporaryDirectory(), 'lock');
  for (const text of ['', 'nonsense', `{"pid":${process.pid},"host":"here","command":"serve"}`]) {
    writeFileSync(path, text);
    acquireOwnership(path, 'test').close();
  }
});

test('the holder is named by command and process, and the lock file stays when it goes', () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'lock');
  const lock = acquireOwnership(path, 'serve');
  const holder = JSON.parse(readFileSync(path, 'utf8'));
  assert.is(holder.pid, process.pid);
  assert.is(holder.command, 'serve');
  assert.ok(Math.abs(Date.parse(holder.since) - Date.now()) < 60_000);
  try {
    acquireOwnership(path, 'migrate');
    assert.unreachable();
  } catch (error) {
    assert.instance(error, CatalogError);
    assert.is((error as CatalogError).code, 'store_locked');
    assert.match((error as CatalogError).message, new RegExp(`serve, process ${process.pid}\\b`));
  }
  // Who was refused has not overwritten who holds it.
  assert.equal(JSON.parse(readFileSync(path, 'utf8')), holder);
  lock.close();
  assert.ok(existsSync(path));
  acquireOwnership(path, 'migrate').close();
});

test('a lock is taken and given back many times', () => {
  const path = join(temporaryDirectory(), 'deep', 'pages.lock');
  const [one, other] = [new FileLock(path), new FileLock(path)];
  for (let turn = 0; turn < 3; turn += 1) {
    assert.is(one.tryLock(), true);
    assert.is(other.tryLock(), false);
    one.unlock();
    assert.is(other.tryLock(), true);
    assert.is(one.tryLock(), false);
    other.unlock();
  }
  one.close();
  other.close();
});

test('a lock that is waited for comes when its holder is killed', async () => {
  const path = join(temporaryDirectory(), 'lock');
  const module = join(import.meta.dir, '..', '..', 'src', 'disk', 'lock.ts');
  const script = `
    const { acquireOwnership } = await import(process.argv[1] ?? '');
    globalThis.lock = acquireOwnership(process.argv[2] ?? '', 'test');
    console.log('held');
    setInterval(() => {}, 1000);
  `;
  const holder = spawn(process.execPath, ['-e', script, module, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => holder.stdout.once('data', resolve));
  const lock = new FileLock(path);
  assert.is(lock.tryLock(), false);
  holder.kill('SIGKILL');
  lock.lock();
  lock.close();
});

test.run();
