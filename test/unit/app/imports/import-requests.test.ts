/** spec 8.14: what a server replies to commands that ask for imports, on a disk that fails. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { decodeReply, encodeOrder } from '../../../../src/app/imports/import-request.ts';
import { ImportRequests } from '../../../../src/app/imports/import-requests.ts';
import type { Disk } from '../../../../src/disk/disk.ts';
import { CatalogError, messageOf } from '../../../../src/errors.ts';
import { memoryDisk } from '../../../support/memory-disk.ts';
import { turn } from '../../../support/turns.ts';
import { until } from '../../../support/until.ts';

const FOLDER = '/data/imports';
const [A, B] = [1, 2].map((n) => `00000000-0000-4000-8000-00000000000${n}`) as [string, string];

const ORDER = encodeOrder({
  collection: 'brands',
  format: 'csv',
  match: 'id',
  createMissing: [],
  subject: 'cli:ann',
  currency: null,
}).toString();

/** A server whose imports end as soon as they are accepted. */
async function open({ intervalMs = 1, asked = [] as readonly string[] } = {}) {
  const { disk: memory, files } = memoryDisk();
  const ask = (token: string) => files.set(join(FOLDER, `${token}.request`), ORDER);
  const reply = (token: string) =>
    decodeReply(Buffer.from(files.get(join(FOLDER, `${token}.reply`)) ?? ''));
  for (const token of asked) ask(token);
  const world = {
    /** How often the folder has been listed. */
    looks: 0,
    /** The end of the path whose operations fail, or null. */
    failing: null as string | null,
    /** The error with which every file is refused, or null. */
    refusal: null as Error | null,
    /** When each file was changed, in milliseconds since the epoch. */
    changedMs: 0,
    /** What every import waits for before it is accepted. */
    ready: Promise.resolve(),
    /** Whether another import of a command is unfinished. */
    isFull: false,
    /** How many files have been removed. */
    unlinks: 0,
    /** Requests whose file was removed before there was a reply. */
    unanswered: [] as string[],
    /** The end of the path of a request that its command withdraws when it is taken, or null. */
    withdrawn: null as string | null,
  };
  const judge = (path: string) => {
    if (world.failing !== null && path.endsWith(world.failing)) throw new Error(`EIO: ${path}`);
  };
  const disk: Disk = {
    ...memory,
    list(path) {
      world.looks += 1;
      judge(path);
      return memory.list(path);
    },
    async unlink(path) {
      world.unlinks += 1;
      const [, token] = /([^/]+)\.taken$/.exec(path) ?? [];
      if (token !== undefined && reply(token) === null) world.unanswered.push(token);
      await memory.unlink(path);
    },
    stat(path) {
      const found = memory.stat(path);
      return found && { ...found, changedMs: world.changedMs };
    },
    async rename(from, to) {
      judge(to);
      if (world.withdrawn !== null && from.endsWith(world.withdrawn)) {
        files.delete(from);
        throw Object.assign(new Error(`ENOENT: ${from}`), { code: 'ENOENT' });
      }
      return memory.rename(from, to);
    },
  };
  const errors: string[] = [];
  let accepted = 0;
  const requests = await ImportRequests.open({
    disk,
    data: '/data',
    imports: {
      get isFullForCommands() {
        return world.isFull;
      },
      progress: () => null,
      async accept() {
        await world.ready;
        if (world.refusal !== null) throw world.refusal;
        accepted += 1;
        return { id: accepted, text: '', replayed: false };
      },
    },
    currency: 'USD',
    maxImport: 1000,
    onError: (error) => void errors.push(messageOf(error)),
    intervalMs,
  });
  /** Waits until the server has listed the folder `count` times more and handled what it found. */
  const looks = (count: number) => {
    const enough = world.looks + count + 1;
    return until(`it looks ${count} times`, () => world.looks >= enough);
  };
  return { world, requests, errors, files, ask, reply, looks };
}

const ended = (id: number) => ({ id, done: 1, total: 1, ended: true });

test('a lasting failure is reported once, and again if it recurs after a success', async () => {
  const { world, requests, errors, looks } = await open();
  for (const failures of [1, 2]) {
    world.failing = FOLDER;
    await looks(5);
    world.failing = null;
    await looks(2);
    assert.equal(errors, Array(failures).fill(`EIO: ${FOLDER}`));
  }
  await requests.close();
});

test('a reply that keeps failing is reported once and does not hold up other replies', async () => {
  const { world, requests, errors, ask, reply, looks } = await open();
  world.failing = `${A}.reply`;
  for (const token of [A, B]) ask(token);
  await looks(5);
  assert.equal(reply(B), ended(2));
  assert.equal(errors, [`EIO: ${join(FOLDER, `${A}.reply`)}`]);
  world.failing = null;
  await looks(2);
  assert.equal(reply(A), ended(1));
  await requests.close();
});

test('a file that was taken stays until there is a reply, unless that cannot be written', async () => {
  const { world, requests, files, ask, reply, looks } = await open();
  world.failing = `${B}.reply`;
  for (const token of [A, B]) ask(token);
  await looks(3);
  assert.equal(reply(A), ended(1));
  assert.equal(world.unanswered, [B]);
  assert.not.ok([...files.keys()].some((path) => path.endsWith('.taken')));
  await requests.close();
});

test('a request that cannot be taken does not hold up others, and is taken once it can be', async () => {
  const { world, requests, errors, ask, reply, looks } = await open();
  world.failing = `${A}.taken`;
  for (const token of [A, B]) ask(token);
  await looks(5);
  assert.equal([reply(A), reply(B)], [null, ended(1)]);
  assert.equal(errors, [`EIO: ${join(FOLDER, `${A}.taken`)}`]);
  world.failing = null;
  await looks(2);
  assert.equal(reply(A), ended(2));
  await requests.close();
});

test('the reason for refusing a file is sent as soon as a reply can be written', async () => {
  const { world, requests, ask, reply, looks } = await open();
  world.refusal = new CatalogError('write_refused', 'there is no room');
  world.failing = `${A}.reply`;
  ask(A);
  await looks(3);
  assert.is(reply(A), null);
  world.failing = null;
  await looks(2);
  assert.equal(reply(A), { error: { code: 'write_refused', message: 'there is no room' } });
  await requests.close();
});

test('a failure of the disk is logged, and the reply says what to do', async () => {
  const { world, requests, ask, reply, looks, errors } = await open();
  world.refusal = new Error('ENOSPC: no space left on device, write');
  ask(A);
  await looks(2);
  assert.equal(reply(A), {
    error: {
      code: 'import_failed',
      message:
        'the server could not take the file (ENOSPC: no space left on device, write); nothing was imported; correct the cause, and import the file again',
    },
  });
  assert.equal(errors, ['ENOSPC: no space left on device, write']);
  await requests.close();
});

test('a request waits while another import of a command is unfinished', async () => {
  const { world, requests, ask, reply, looks } = await open();
  world.isFull = true;
  ask(A);
  await looks(3);
  assert.is(reply(A), null);
  world.isFull = false;
  await looks(2);
  assert.equal(reply(A), ended(1));
  await requests.close();
});

test('a request that its command withdraws in the same moment is not an error', async () => {
  const { world, requests, errors, ask, reply, looks } = await open();
  world.withdrawn = `${A}.request`;
  for (const token of [A, B]) ask(token);
  await looks(3);
  assert.equal([reply(A), reply(B)], [null, ended(1)]);
  assert.equal(errors, []);
  await requests.close();
});

test('a server that ends right after its start takes no request', async () => {
  const { requests, files } = await open({ intervalMs: 3_600_000, asked: [A] });
  await turn();
  await requests.close();
  assert.equal([...files.keys()], [join(FOLDER, `${A}.request`)]);
});

test('closing waits for the reply to the request that is being taken, and no other is taken', async () => {
  const { world, requests, ask, reply, files } = await open();
  const { promise, resolve } = Promise.withResolvers<void>();
  world.ready = promise;
  for (const token of [A, B]) ask(token);
  await until('it is being taken', () => files.has(join(FOLDER, `${A}.taken`)));
  let hasClosed = false;
  const closing = requests.close().then(() => (hasClosed = true));
  await turn();
  assert.is(hasClosed, false);
  resolve();
  await closing;
  assert.equal(reply(A), ended(1));
  assert.ok(files.has(join(FOLDER, `${B}.request`)), 'its command, or the next server, imports it');
  const { looks } = world;
  await pause(20);
  assert.is(world.looks, looks, 'it does not look for more');
});

test('the last reply is removed after a minute, also that to a file that was refused', async () => {
  const { world, requests, ask, reply, files, looks } = await open();
  const { now } = performance;
  try {
    ask(A);
    await looks(2);
    world.refusal = new CatalogError('import_failed', 'no');
    ask(B);
    await looks(2);
    performance.now = () => now.call(performance) + 50_000;
    await looks(3);
    assert.ok(reply(A) !== null && reply(B) !== null);
    performance.now = () => now.call(performance) + 61_000;
    await looks(3);
    assert.equal([...files.keys()], []);
    const { unlinks } = world;
    await looks(3);
    assert.is(world.unlinks, unlinks, 'nothing is left to be removed');
  } finally {
    performance.now = now;
  }
  await requests.close();
});

test('a file that a killed command has left is removed after an hour, and no earlier', async () => {
  const { world, requests, files, looks } = await open();
  const part = join(FOLDER, `${A}.part`);
  files.set(part, ORDER);
  world.changedMs = Date.now();
  await looks(3);
  assert.ok(files.has(part));
  world.changedMs -= 60 * 60_000;
  await until('it is removed', () => !files.has(part));
  await requests.close();
});

test.run();
