/** A primary and a follower (spec 15.10 to 15.16). */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FileLock } from '../../../src/disk/lock.ts';
import { changeSetName } from '../../../src/store/files/files.ts';
import { readerAheadContinues } from '../../support/ahead.ts';
import { type Received, send, sent, tokenFor } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { type Measured, measured, valuesOf } from '../../support/metrics.ts';
import { portFlags } from '../../support/ports.ts';
import { killServers, runCommand, startServer, type TestServer } from '../../support/server.ts';
import { faultsOf } from '../../support/shop.ts';
import { until } from '../../support/until.ts';
import { backupOf } from './backups.ts';

test.after.each(killServers);

/** Whether a server has a file of its directory open. */
function hasOpen({ child, data }: TestServer, name: string): boolean {
  const folder = `/proc/${child.pid}/fd`;
  const path = realpathSync(join(data, name));
  return readdirSync(folder).some((each) => {
    try {
      return readlinkSync(join(folder, each)) === path;
    } catch {
      return false; // It was closed meanwhile.
    }
  });
}

/** A file with a token of role admin. */
async function tokenFile(claims: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const path = join(temporaryDirectory(), 'token');
  writeFileSync(path, await tokenFor('admin', claims), { mode: 0o600 });
  return path;
}

/** Starts a primary. */
function startPrimary(options: Parameters<typeof startServer>[0] = {}): Promise<TestServer> {
  return startServer({ ...options, args: ['--followers', ...(options.args ?? [])] });
}

/** Starts a follower. */
async function follow(
  primary: { readonly url: string },
  { data = temporaryDirectory(), args = [] }: { data?: string; args?: readonly string[] } = {},
): Promise<TestServer> {
  const following = ['--follow', primary.url, '--token-file', await tokenFile()];
  return startServer({ data, args: [...following, ...args] });
}

async function isReady(server: { readonly url: string }): Promise<boolean> {
  return (
    (await send(server, 'GET', '/readyz', { undescribed: 'the catalog may be closed' })).status ===
    200
  );
}

const ready = (server: { readonly url: string }) =>
  until('the follower is in step', () => isReady(server));

function pagesOf(data: string): Record<string, string> {
  const root = join(data, 'pages');
  const files = readdirSync(root, { recursive: true, withFileTypes: true });
  const paths = files
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name));
  const texts = paths.map((path) => [path.slice(root.length), readFileSync(path, 'utf8')] as const);
  return Object.fromEntries(texts.sort(([a], [b]) => (a < b ? -1 : 1)));
}

const book = (name: string) => ({ name, pub_date: '2026-11-22', readcount: 0, commentcount: 0 });

/** Creates books until it is stopped, and records the names of those that were answered. */
function writeBooks(server: { readonly url: string }) {
  const answered: string[] = [];
  const ended = new AbortController();
  const done = (async () => {
    for (let number = 1; !ended.signal.aborted; number += 1) {
      const name = `Book ${number} of ${server.url}`;
      try {
        const response = await fetch(`${server.url}/books/`, {
          method: 'POST',
          headers: {
            'Content-Type': 'application/json',
            'Idempotency-Key': name.replaceAll(' ', '-'),
          },
          body: JSON.stringify(book(name)),
        });
        if (response.status === 201) answered.push(name);
        else await new Promise((resolve) => setTimeout(resolve, 5));
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
  })();
  const stop = () => {
    ended.abort();
    return done;
  };
  return { answered, stop };
}

/** On a slow machine a follower may take longer to show a write than the response waits for it. */
const ROUNDS = 5;

/** Creates books through a follower until one can be read there at once. @returns its creation. */
async function readOwnWrite(replica: { readonly url: string }): Promise<Received> {
  for (let round = 1; ; round += 1) {
    const created = await sent(replica, 201, 'POST', '/books/', { body: book('Own') });
    const read = await send(replica, 'GET', created.headers.get('location') ?? '');
    if (read.status === 404 && round < ROUNDS) continue;
    assert.is(read.json.name, 'Own');
    return created;
  }
}

/** Reads a path once the server has a change set: it waits for a second, and then answers 503. */
async function readSince(
  server: { readonly url: string },
  path: string,
  sequence: string | null,
): Promise<Received> {
  const headers = { 'Catalog-Min-Sequence': sequence ?? '' };
  let answer: Received | undefined;
  await until('the change set is there', async () => {
    answer = await send(server, 'GET', path, { headers });
    return answer.status !== 503;
  });
  return answer as Received;
}

async function namesIn(server: { readonly url: string }): Promise<string[]> {
  const { json } = await send(server, 'GET', '/books/');
  return (json as { name: string }[]).map(({ name }) => name);
}

test('spec 15.10 to 15.13: a new follower fetches a base, applies changes and forwards writes', async () => {
  const primary = await startPrimary({ demo: true });
  // A directory that does not exist yet.
  const replica = await follow(primary, { data: join(temporaryDirectory(), 'follower') });
  await ready(replica);
  const created = await readOwnWrite(replica);
  assert.is(
    (await send(primary, 'GET', created.headers.get('location') ?? '')).headers.get('etag'),
    created.headers.get('etag'),
  );
  const patched = await send(primary, 'PATCH', '/admin/brands/1/', { body: { name: 'Renamed' } });
  const sequence = patched.headers.get('catalog-sequence');
  assert.is((await readSince(replica, '/admin/brands/1/', sequence)).json.name, 'Renamed');
  for (const { data } of [primary, replica]) {
    await until('its pages are made', () => faultsOf(data).length === 0);
  }
  await Promise.all([primary.stop(), replica.stop()]);
  assert.is(await backupOf(primary.data), await backupOf(replica.data));
  const pages = pagesOf(primary.data);
  assert.ok(Object.keys(pages).length > 30);
  assert.equal(pagesOf(replica.data), pages);
  const refused = await startServer({ data: replica.data }).then(() => 'it serves', String);
  assert.match(refused, /follows http.*promote/, 'it may not be written as it is');
});

test('spec 14.4: a reader of changes that is ahead of a follower continues there', async () => {
  const primary = await startPrimary({ demo: true });
  const replica = await follow(primary);
  await ready(replica);
  await readerAheadContinues(replica, primary);
});

test('spec 15.12: a token revoked on the primary is 401 on the follower, 503 if unconfirmed', async () => {
  const primary = await startPrimary({ demo: true });
  const replica = await follow(primary, { args: ['--max-unconfirmed', '3s'] });
  await ready(replica);
  const token = await tokenFor('viewer', { sub: 'eve', jti: 'token-of-eve' });
  const status = async () => (await send(replica, 'GET', '/admin/skus/', { token })).status;
  // On a slow machine the answer of the primary may be late.
  await until('the token passes', async () => (await status()) === 200);
  assert.is((await send(primary, 'DELETE', '/admin/tokens/token-of-eve/')).status, 204);
  await until('the token has ended there', async () => (await status()) === 401);
  await primary.kill();
  await until('no token passes', async () => (await status()) === 503);
  assert.is((await send(replica, 'GET', '/books/1/', { token: null })).status, 200);
  assert.not.ok(await isReady(replica));
});

test('spec 15.13: a follower that is too far behind fetches a new base by itself', async () => {
  const primary = await startPrimary({
    demo: true,
    args: ['--history', '0', '--checkpoint-size', '64KiB'],
  });
  let replica = await follow(primary);
  await ready(replica);
  await replica.stop();
  const { json: state } = await send(primary, 'GET', '/admin/hosts/state/');
  await until('the primary has removed the next change set', async () => {
    await send(primary, 'POST', '/books/', { body: book('x'.repeat(255)) });
    return !existsSync(join(primary.data, changeSetName(state.sequence + 1)));
  });
  replica = await follow(primary, { data: replica.data });
  await ready(replica);
  const last = (await send(primary, 'GET', '/admin/hosts/state/')).headers.get('catalog-sequence');
  const list = await readSince(replica, '/books/?per_page=1', last);
  assert.is(
    list.headers.get('x-total-count'),
    (await send(primary, 'GET', '/books/?per_page=1')).headers.get('x-total-count'),
  );
  const [there, here] = await Promise.all([primary.stop(), replica.stop()]);
  assert.is(there.status, 0);
  assert.is(here.status, 0);
  assert.match(here.stderr, /does not keep the next change set; fetching a new base/);
  assert.is(await backupOf(replica.data), await backupOf(primary.data));
});

test('spec 15.13, 15.15, 15.16: kills lose no answered write; after promote the old primary is 503', async () => {
  const data = temporaryDirectory();
  const args = await portFlags();
  let primary = await startPrimary({ args });
  let replica = await follow(primary, { data });
  await ready(replica);
  const writer = writeBooks(primary);
  const written = (count: number) =>
    until(`${count} more writes were answered`, () => writer.answered.length >= count);
  await written(20);
  await replica.kill();
  await written(writer.answered.length + 20);
  replica = await follow(primary, { data });
  await written(writer.answered.length + 20);
  await primary.kill();
  primary = await startPrimary({ data: primary.data, args });
  await written(writer.answered.length + 20);
  await writer.stop();
  await ready(replica);
  await until('the replica has all of it', async () => {
    const [here, there] = await Promise.all([namesIn(replica), namesIn(primary)]);
    return here.length === there.length;
  });
  const names = await namesIn(replica);
  assert.is(new Set(names).size, names.length, 'none twice');
  for (const name of writer.answered) assert.ok(names.includes(name), `${name} was answered`);
  await Promise.all([primary.stop(), replica.stop()]);
  assert.is(await backupOf(primary.data), await backupOf(data));

  const promotion = await runCommand(['promote', '--data', data]);
  assert.is(promotion.status, 0, promotion.stderr);
  assert.match(promotion.stdout, /epoch 2 begins after change set \d+/);
  assert.match(promotion.stderr, /WARNING: .* are lost/);
  primary = await startPrimary({ data: primary.data, args });
  const successor = await startServer({ data });
  assert.is((await send(successor, 'POST', '/books/', { body: book('After') })).status, 201);
  await until('the old primary was told', async () => {
    const { status } = await send(primary, 'POST', '/books/', { body: book('Refused') });
    return status === 503;
  });
  assert.not.ok(await isReady(primary));
  const { stderr } = await primary.stop();
  assert.match(stderr, /another host was made the primary in epoch 2/);
  const lost = (await namesIn(successor)).filter((name) => !names.includes(name));
  assert.equal(lost, ['After']);
});

test('spec 15.14, 15.15: a host stays succeeded when it notifies a predecessor that comes back', async () => {
  const args = await portFlags();
  const first = await startPrimary({ args });
  const replica = await follow(first);
  await ready(replica);
  await first.kill();
  await replica.stop();
  assert.is((await runCommand(['promote', '--data', replica.data])).status, 0);
  const second = await startPrimary({ data: replica.data });
  const another = await follow(second);
  await ready(another);
  await another.stop();
  assert.is((await runCommand(['promote', '--data', another.data])).status, 0);
  await startServer({ data: another.data });
  await until('the second primary was notified', async () => !(await isReady(second)));
  const back = await startPrimary({ data: first.data, args });
  await until('the first one was notified', async () => !(await isReady(back)));
  await until('the second one knows that', () => second.said().includes('knows that another host'));
  for (const { url } of [back, second]) {
    assert.is((await send({ url }, 'POST', '/books/', { body: book('Refused') })).status, 503);
  }
  await second.stop();
  const again = await startServer({ data: second.data }).then(() => 'it serves', String);
  assert.match(again, /belonged to the primary until another host took over/);
});

test('spec 8.9: a follower that is stopped closes its connections before it has ended following', async () => {
  const primary = await startPrimary();
  const replica = await follow(primary);
  await ready(replica);
  // As a command does that changes accounts: the follower waits for its end to take over others.
  const lock = new FileLock(join(replica.data, 'access.lock'));
  lock.lock();
  await sent(primary, 204, 'DELETE', '/admin/tokens/token-of-eve/');
  await until('it waits', () => hasOpen(replica, 'access.lock'));
  replica.child.kill('SIGTERM');
  const isRefused = () =>
    fetch(`${replica.url}/healthz`).then(
      () => false,
      () => true,
    );
  await until('connections are refused', isRefused);
  lock.close();
  assert.is((await replica.finished).status, 0);
  const accessOf = ({ data }: TestServer) => readFileSync(join(data, 'access.json'), 'utf8');
  assert.match(accessOf(replica), 'token-of-eve', 'it was still waiting');
  assert.is(accessOf(replica), accessOf(primary));
});

test('metrics count the followers of a primary, and say how far behind a follower is', async () => {
  const primary = await measured({ args: ['--followers'] });
  const { url } = primary.server;
  const follower = await measured({
    data: temporaryDirectory(),
    args: ['--follow', url, '--token-file', await tokenFile()],
  });
  const valueOf = async ({ operator }: Measured, name: string) =>
    (await valuesOf(operator)).get(name);
  const connected = () => valueOf(follower, 'catalog_following_connected');
  await until('change sets arrive', async () => (await connected()) === 1);
  assert.is(await valueOf(primary, 'catalog_followers'), 1);
  assert.is(await valueOf(follower, 'catalog_followers'), 0);
  assert.is(await valueOf(primary, 'catalog_following_connected'), undefined);
  const behind = () => valueOf(follower, 'catalog_following_behind_change_sets');
  await until('the follower has everything', async () => (await behind()) === 0);
  await primary.server.kill();
  await until('no change set arrives', async () => (await connected()) === 0);
  assert.ok(((await valueOf(follower, 'catalog_following_behind_seconds')) ?? 0) > 0);
});

test('spec 15.14: a store of another history or of a later epoch cannot follow', async () => {
  const primary = await startPrimary({ demo: true });
  const closed = await startServer();
  const waiting = await follow(closed);
  await until('it says what is missing', () => waiting.said().includes('--followers'));
  assert.not.ok(await isReady(waiting));
  const other = await startPrimary({ demo: true });
  const refusal = async (data: string) => {
    const file = await tokenFile();
    const args = [
      'serve',
      '--data',
      data,
      '--port',
      '0',
      '--follow',
      primary.url,
      '--token-file',
      file,
    ];
    const { SECRET } = await import('../../support/secret.ts');
    return runCommand(args, { env: { CATALOG_JWT_SECRET: SECRET } });
  };
  await other.stop();
  const foreign = await refusal(other.data);
  assert.is(foreign.status, 1);
  assert.match(foreign.stderr, /holds a store that was not taken from/);

  const replica = await follow(primary);
  await ready(replica);
  await replica.stop();
  const copy = temporaryDirectory();
  assert.is(spawnSync('cp', ['-a', `${replica.data}/.`, copy]).status, 0);
  assert.is((await runCommand(['promote', '--data', copy])).status, 0);
  const ahead = await startServer({ data: copy });
  assert.is((await send(ahead, 'POST', '/books/', { body: book('Alone') })).status, 201);
  await until('the primary knows of it', () => ahead.said().includes('knows that another host'));
  await ahead.stop();
  const late = await refusal(copy);
  assert.is(late.status, 1);
  assert.match(
    late.stderr,
    /is the primary of epoch 1, and epoch 2 has begun|is not the primary any more/,
  );
});

test.run();
