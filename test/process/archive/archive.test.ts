/** spec 15.3 to 15.5 with real processes: killed servers, and restores from an archive. */
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { s3Store } from '../../../src/archive/storage/s3-store.ts';
import { piecesOf, wholeOf } from '../../../src/streams.ts';
import { messageOf } from '../../../src/errors.ts';
import { readSnapshot } from '../../../src/store/directory.ts';
import { textOf } from '../../support/archive.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { startForwardProxy } from '../../support/forward-proxy.ts';
import { type S3Server, s3Environment, startS3Server } from '../../support/s3-server.ts';
import { killServers, runCommand, startServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

test.after(killServers);

const BOOK = { name: 'Persuasion', pub_date: '1817-12-20' };

/** @returns the ids in the responses. */
async function addBooks({ url }: TestServer, count: number): Promise<number[]> {
  const ids: number[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const response = await fetch(`${url}/books/`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...BOOK, name: `${BOOK.name} ${nth}` }),
    });
    assert.is(response.status, 201);
    ids.push(((await response.json()) as { id: number }).id);
  }
  return ids;
}

interface Readiness {
  readonly archive: {
    readonly behind_change_sets: number;
    readonly behind_seconds: number;
    readonly failing: boolean;
  };
}

async function readiness({ url }: TestServer): Promise<Readiness['archive']> {
  const response = await fetch(`${url}/readyz?verbose`);
  return ((await response.json()) as Readiness).archive;
}

async function inStep(server: TestServer): Promise<void> {
  await until('the archive is in step', async () => {
    const { behind_change_sets: changeSets, behind_seconds: seconds } = await readiness(server);
    return changeSets === 0 && seconds === 0;
  });
}

async function run(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const { status, stdout, stderr } = await runCommand(args, { env });
  assert.is(status, 0, stderr);
  return stdout;
}

test('a lost host is restored from a bucket with the same rows and valid tokens', async () => {
  const s3 = await startS3Server();
  const env = s3Environment(s3);
  const directory = temporaryDirectory();
  const key = join(directory, 'archive.key');
  await run(['keys', 'generate', key]);
  const archive = ['--archive-key', key];
  const args = ['--archive', 's3://bucket/shop', ...archive];
  const server = await startServer({ args, env, ownKeys: true });
  const token = await run(['issue-token', '--subject', 'ann', '--data', server.data]);
  // Every third request or its response is lost.
  disturb(s3);
  await addBooks(server, 20);
  await server.kill();
  const again = await startServer({ args, env, ownKeys: true, data: server.data });
  await addBooks(again, 5);
  s3.fault = () => 'none';
  await inStep(again);
  await again.kill();

  const from = ['--from', 's3://bucket/shop', ...archive];
  const data = join(directory, 'restored');
  assert.match(await run(['restore', ...from, '--data', data], env), 'with keys.json');
  assert.is(textOf(readSnapshot(data)), textOf(readSnapshot(server.data)));
  assert.match(
    await run(['check', '--archive', 's3://bucket/shop', ...archive], env),
    'is in order',
  );
  const restored = await startServer({ args, env, ownKeys: true, data });
  const headers = { Authorization: `Bearer ${token.trim()}` };
  assert.is((await fetch(`${restored.url}/admin/skus/`, { headers })).status, 200);
  await addBooks(restored, 1);
  await inStep(restored);
  await restored.stop();
  await s3.close();
});

function disturb(s3: S3Server): void {
  let requests = 0;
  s3.fault = () => {
    requests += 1;
    return requests % 3 === 0 ? (requests % 2 === 0 ? 'before' : 'after') : 'none';
  };
}

test('while a bucket fails, writes are answered, and /readyz reports how far it is behind', async () => {
  const s3 = await startS3Server();
  s3.fault = () => 'before';
  const env = s3Environment(s3);
  const server = await startServer({ args: ['--archive', 's3://bucket'], env });
  await addBooks(server, 3);
  await until('it is known to fail', async () => (await readiness(server)).failing);
  assert.is((await readiness(server)).behind_change_sets, 3);
  assert.is((await fetch(`${server.url}/readyz`)).status, 200);
  s3.fault = () => 'none';
  await inStep(server);
  await server.stop();
  await s3.close();
});

test('requests to a bucket use the proxy of the environment, unless NO_PROXY names the store', async () => {
  await using proxy = await startForwardProxy();
  const s3 = await startS3Server();
  const env = { ...s3Environment(s3), ...proxy.environment };
  const server = await startServer({ args: ['--archive', 's3://bucket'], env });
  await addBooks(server, 1);
  await inStep(server);
  await server.stop();
  const isOfBucket = (request: string) => request.split(' ')[1]?.startsWith(`${s3.url}/bucket/`);
  assert.ok(proxy.requests.every(isOfBucket), proxy.requests.join('\n'));
  for (const key of s3.objects.keys()) {
    assert.ok(proxy.requests.includes(`PUT ${s3.url}/${key}`), key);
  }
  const { length } = proxy.requests;
  const check = ['check', '--archive', 's3://bucket'];
  assert.match(await run(check, { ...env, NO_PROXY: '127.0.0.1' }), 'is in order');
  assert.is(proxy.requests.length, length);
  await run(check, env);
  assert.ok(proxy.requests.length > length, 'commands use it too');
  await s3.close();
});

test('a directory archive continues after a kill, and can be restored to a given change set', async () => {
  const directory = temporaryDirectory();
  const place = join(directory, 'archive');
  mkdirSync(place);
  const url = `file://${place}`;
  const server = await startServer({ args: ['--archive', url] });
  await addBooks(server, 10);
  await server.kill();
  const again = await startServer({ args: ['--archive', url], data: server.data });
  await addBooks(again, 10);
  const { stderr } = await again.stop();
  assert.is(stderr, '');
  // The normal stop has archived the rest. The killed server may have left a half-written file,
  // which is hidden and never read.
  const namesIn = (folder: string) =>
    readdirSync(join(place, folder))
      .filter((name) => !name.startsWith('.'))
      .toSorted();
  const changes = namesIn('changes');
  const lines = changes.map((name) => readFileSync(join(place, 'changes', name), 'utf8')).join('');
  assert.ok(lines.includes('"Persuasion 9"'));
  const data = join(directory, 'then');
  const [base = ''] = namesIn('bases');
  // The killed server may not have archived a base: then the first base is a later one.
  const sequence = String(Math.min(Number(base.slice(0, 12)) + 4, 20));
  await run(['restore', '--from', url, '--sequence', sequence, '--data', data]);
  assert.is(readSnapshot(data).sequence, Number(sequence));
});

test('damaged accounts and keys are found by check, and the catalog can be restored without them', async () => {
  const directory = temporaryDirectory();
  const place = join(directory, 'archive');
  mkdirSync(place);
  const key = join(directory, 'archive.key');
  await run(['keys', 'generate', key]);
  const args = ['--archive', `file://${place}`, '--archive-key', key];
  const server = await startServer({ args, ownKeys: true });
  await addBooks(server, 3);
  await inStep(server);
  await until('the keys are archived', () => readdirSync(place).includes('private'));
  await server.stop();
  // A server starts with a damaged key of webhooks, and keeps the copy in the archive.
  writeFileSync(join(server.data, 'webhook-key.json'), '{"cut', { mode: 0o600 });
  const again = await startServer({ args, ownKeys: true, data: server.data });
  await until('it says so', () => again.said().includes('keeps the accounts and keys that it has'));
  await again.stop();
  assert.match(await run(['check', ...args]), 'is in order');
  const restore = ['restore', '--from', `file://${place}`, '--archive-key', key, '--data'];
  assert.match(await run([...restore, join(directory, 'whole')]), 'with keys.json');

  const path = join(place, 'private');
  const bytes = readFileSync(path);
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  writeFileSync(path, bytes);
  const checked = await runCommand(['check', ...args]);
  assert.is(checked.status, 1);
  assert.match(checked.stdout, /has damaged accounts and keys \(private cannot be decrypted: /);
  const data = join(directory, 'restored');
  const refused = await runCommand([...restore, data]);
  assert.is(refused.status, 1);
  assert.match(
    refused.stderr,
    /; to restore the catalog without them, move the object named "private" elsewhere\n$/,
  );
  assert.not.ok(existsSync(join(data, 'catalog.json')));
  renameSync(path, join(directory, 'private'));
  const lacking = await runCommand(['check', ...args]);
  assert.is(lacking.status, 1);
  assert.match(lacking.stdout, ': accounts and keys are missing; restart the server');
  const restored = await runCommand([...restore, data]);
  assert.is(restored.status, 0, restored.stderr);
  assert.match(restored.stderr, 'has lost its accounts and keys: add accounts');
  assert.is(textOf(readSnapshot(data)), textOf(readSnapshot(server.data)));
  // What cannot be read may be in order, so nobody is told to move it elsewhere.
  mkdirSync(path);
  for (const command of [
    ['check', ...args],
    [...restore, join(directory, 'other')],
  ]) {
    const { status, stdout, stderr } = await runCommand(command);
    assert.equal([status, stdout], [1, '']);
    assert.match(stderr, /^catalog-server: file:\S+ cannot be reached: EISDIR/);
  }
});

test('names that someone else has put into an archive do not reach the terminal as they are', async () => {
  const place = join(temporaryDirectory(), 'archive');
  mkdirSync(place);
  const url = `file://${place}`;
  const server = await startServer({ args: ['--archive', url] });
  await addBooks(server, 1);
  await inStep(server);
  await server.stop();
  for (const folder of ['changes', 'bases']) {
    mkdirSync(join(place, folder), { recursive: true });
    // It would clear the screen, and write a line of its own.
    writeFileSync(join(place, folder, 'x\u001b[2J\u001b[Hall is well\n'), '');
    const { status, stdout, stderr } = await runCommand(['check', '--archive', url]);
    assert.is(status, 1);
    assert.not.match(stdout + stderr, '\u001b');
    assert.match(stdout + stderr, String.raw`\u001b[2J\u001b[Hall is well`);
  }
});

/** What a bucket of the server is reached with. */
function credentialsFor({ url: endpoint }: S3Server) {
  return { endpoint, accessKeyId: 'test-id', secretAccessKey: 'secret' };
}

/** A bucket, and the methods of the requests to it. */
async function recordedBucket() {
  const s3 = await startS3Server();
  const methods: string[] = [];
  s3.fault = (method) => {
    methods.push(method);
    return 'none';
  };
  const store = s3Store({ bucket: 'bucket', prefix: 'p/' }, credentialsFor(s3));
  return { s3, methods, store };
}

test('a large object is stored in parts, so that its deadline is that of a part', async () => {
  const { s3, methods, store } = await recordedBucket();
  const bytes = randomBytes(20 * 1024 * 1024);
  await store.put('large', bytes);
  assert.equal(methods, ['POST', 'PUT', 'PUT', 'PUT', 'POST']);
  assert.ok(s3.objects.get('bucket/p/large')?.equals(bytes));
  methods.length = 0;
  await store.put('small', bytes.subarray(0, 8 * 1024 * 1024));
  assert.equal(methods, ['PUT']);
  await s3.close();
});

test('a large object is stored from a stream in parts, and a missing object is null', async () => {
  const { s3, methods, store } = await recordedBucket();
  const bytes = randomBytes(20 * 1024 * 1024);
  await store.putStream(
    'large',
    (async function* () {
      yield* piecesOf(bytes, 1_000_000);
    })(),
  );
  assert.equal(
    methods,
    ['POST', 'PUT', 'PUT', 'PUT', 'POST'],
    '20 MiB are three parts of at most 8 MiB',
  );
  assert.ok(s3.objects.get('bucket/p/large')?.equals(bytes));
  const found = await store.get('large');
  assert.ok(found !== null && (await wholeOf(found)).equals(bytes));
  assert.is(await store.get('none'), null);
  await s3.close();
});

test('a request to a bucket that never responds fails after the deadline', async () => {
  const s3 = await startS3Server();
  const store = s3Store({ bucket: 'bucket', prefix: '' }, credentialsFor(s3), 50);
  s3.fault = () => 'silence';
  for (const call of [() => store.put('a', Buffer.from('a')), () => store.get('a')]) {
    try {
      await call();
      assert.unreachable();
    } catch (error) {
      assert.match(String(error), 'was not answered within 0.05 s');
    }
  }
  await s3.close();
});

test('a read from a bucket that sends only a few bytes a second fails after the deadline', async () => {
  const s3 = await startS3Server();
  const store = s3Store({ bucket: 'bucket', prefix: '' }, credentialsFor(s3));
  await store.put('a', Buffer.alloc(1024 * 1024, 'a'));
  s3.fault = () => 'drip';
  const pieces = await store.get('a');
  assert.ok(pieces !== null);
  const { now } = performance;
  let time = 0;
  // A second passes for each piece.
  performance.now = () => (time += 1000);
  try {
    const failure = await wholeOf(pieces).then(String, messageOf);
    assert.match(failure, /^a read of a received only \d+ bytes in 30 s, which is too slow$/);
  } finally {
    performance.now = now;
  }
  await s3.close();
});

test('a list whose keys are not in order fails instead of repeating for ever', async () => {
  const s3 = await startS3Server();
  const store = s3Store({ bucket: 'bucket', prefix: '' }, credentialsFor(s3));
  for (const name of ['a', 'b']) await store.put(`bases/${name}`, Buffer.from(name));
  s3.fault = () => 'again';
  const failure = await Array.fromAsync(store.list('bases', '')).then(String, messageOf);
  assert.is(
    failure,
    'a list of bases/ failed: after bases/b came bases/a; the store has to list keys in order, as S3 does',
  );
  await s3.close();
});

test('the error of a failed call names the operation, the object and the reason', async () => {
  const s3 = await startS3Server();
  const bucket = { bucket: 'bucket', prefix: 'p/' };
  const store = s3Store(bucket, credentialsFor(s3));
  async function* piece() {
    yield Buffer.from('a');
  }
  const calls: readonly (readonly [what: string, call: () => Promise<unknown>])[] = [
    ['a write of a', () => store.put('a', Buffer.from('a'))],
    ['a write of b', () => store.putStream('b', piece())],
    ['a read of a', () => store.get('a')],
    ['a list of bases/', () => Array.fromAsync(store.list('bases', ''))],
    ['a removal of a', () => store.remove('a')],
  ];
  const failure = (call: () => Promise<unknown>) => call().then(String, messageOf);
  s3.fault = () => 500;
  for (const [what, call] of calls) {
    const message = await failure(call);
    assert.match(message, `${what} failed: the response was an error without a reason`);
    assert.match(message, 'check the address, the proxy if HTTP_PROXY is set, and the log');
  }
  s3.fault = () => 'before';
  for (const [what, call] of calls) assert.match(await failure(call), `${what} failed: `);
  s3.fault = () => 'none';
  const stranger = s3Store(bucket, { ...credentialsFor(s3), accessKeyId: 'none' });
  assert.is(
    await failure(() => stranger.get('a')),
    'a read of a failed: AccessDenied (AccessDenied)',
  );
  await s3.close();
});

test.run();
