/**
 * The system calls of a real server for real writes: before a response or a removal, every file
 * that it relies on is synced, gets its name, and its directory is synced.
 */
import { cpSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { send } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { killServers } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { FULL, prepareFull, sequenceOfBase } from './serving.ts';
import { type Call, canTrace, killTraced, serveTraced, stringsOf, type Traced } from './strace.ts';
import { PROGRAM } from '../../support/paths.ts';

/** The header that distinguishes requests in a trace. */
const HEADER = 'x-order';

/** One write of a book that was answered. */
interface Write {
  /** The value of the header in its request. */
  readonly mark: string;
  readonly id: number;
  readonly deletes: boolean;
}

class Writer {
  readonly writes: Write[] = [];
  readonly #server: Traced;
  #sent = 0;

  constructor(server: Traced) {
    this.#server = server;
  }

  async write(method: string, id: number | null, body?: object): Promise<number> {
    this.#sent += 1;
    const mark = `mark-${this.#sent};`;
    const path = id === null ? '/books/' : `/books/${id}/`;
    const answer = await send(this.#server, method, path, { body, headers: { [HEADER]: mark } });
    assert.ok([200, 201, 204].includes(answer.status), answer.text);
    const written = id ?? (answer.json.id as number);
    this.writes.push({ mark, id: written, deletes: method === 'DELETE' });
    return written;
  }
}

const book = (name: string) => ({ name, pub_date: '1815-12-23' });

/**
 * A data directory that does not exist, nor does the one it is in. Its path has no symbolic links, as
 * strace shows it.
 */
const newData = () => join(realpathSync(temporaryDirectory()), 'new', 'data');

/** @throws if a call had not ended before the next one began. */
function assertInOrder(
  what: string,
  calls: readonly (readonly [string, Call | undefined])[],
): void {
  for (const [index, [name, call]] of calls.entries()) {
    assert.ok(call, `${what}: there is no "${name}"`);
    const [before, earlier] = calls[index - 1] ?? [];
    if (earlier === undefined) continue;
    const fits = earlier.ended < call.began;
    assert.ok(fits, `${what}: "${name}" began before "${before}" had ended`);
  }
}

const isWrite = ({ name }: Call) => /^p?writev?2?(?:64)?$/.test(name);
const isResponse = (call: Call) =>
  call.target?.startsWith('TCP:') === true && (stringsOf(call)[0] ?? '').startsWith('HTTP/1.1 2');

/** The calls of one durable write, by the final name of its file. */
function durableWrite(calls: readonly Call[], path: string, directory: string) {
  const givesName = (call: Call) =>
    /^(?:rename|link)/.test(call.name) && call.result === 0 && stringsOf(call).at(-1) === path;
  const named = calls.find(givesName);
  const temporary = named && stringsOf(named)[0];
  const ofFile = calls.filter(({ target }) => target !== null && target === temporary);
  const created = calls.find(
    (call) => call.name.startsWith('open') && stringsOf(call)[0] === temporary && call.result >= 0,
  );
  const written = ofFile.findLast(isWrite);
  // The last sync counts: a large file is also synced while it is written.
  const synced = ofFile.findLast(
    ({ name, result }) => /^f(?:data)?sync$/.test(name) && result === 0,
  );
  const directorySynced = calls.find(
    ({ name, target, result, began }) =>
      name === 'fsync' && target === directory && result === 0 && began > (named?.ended ?? 0),
  );
  return { created, written, synced, named, directorySynced };
}

type Durable = ReturnType<typeof durableWrite>;

function stepsOf({ created, written, synced, named, directorySynced }: Durable) {
  return [
    ['create the temporary file', created],
    ['write its data', written],
    ['sync it', synced],
    ['give it its name', named],
    ['sync the directory', directorySynced],
  ] as const;
}

/** Where the files of change sets are created: on ext4 in a separate directory. */
const WRITTEN_IN = /^(?:changes|\.staging-[0-9a-f]{16})\//;

/** The change sets that were written, as parsed from their files. */
function changeSetsIn(calls: readonly Call[], data: string) {
  return calls.flatMap((call) => {
    const { target } = call;
    if (!isWrite(call) || target === null || !WRITTEN_IN.test(relative(data, target))) return [];
    return [JSON.parse(stringsOf(call)[0] ?? '') as ChangeSet];
  });
}

interface ChangeSet {
  readonly sequence: number;
  readonly put: Readonly<Record<string, readonly { readonly id: number; readonly name: string }[]>>;
  readonly delete: Readonly<Record<string, readonly number[]>>;
}

/** The request with a mark, and its response: the next one on the same connection. */
function responseTo(
  calls: readonly Call[],
  mark: string,
): { request: Call; response: Call | undefined } {
  const request = calls.find(
    (call) => /^re(?:cv|ad)/.test(call.name) && (stringsOf(call)[0] ?? '').includes(mark),
  );
  if (request === undefined) throw new Error(`no request has the mark ${mark}`);
  const response = calls.find(
    (call) => call.target === request.target && call.began > request.ended && isResponse(call),
  );
  return { request, response };
}

function assertDurableBeforeResponse(calls: readonly Call[], data: string, write: Write): void {
  const what = `the ${write.deletes ? 'deletion' : 'write'} of book ${write.id}`;
  const { request, response } = responseTo(calls, write.mark);
  const during = calls.filter(({ began }) => began > request.ended);
  const changes = changeSetsIn(during, data).find(({ put, delete: deleted }) =>
    write.deletes
      ? deleted['books']?.includes(write.id)
      : put['books']?.some(({ id }) => id === write.id),
  );
  assert.ok(changes, `${what}: no change set holds it`);
  const { sequence } = changes;
  const directory = join(data, 'changes');
  const path = join(directory, `${String(sequence).padStart(12, '0')}.json`);
  const head = calls.find(
    (call) =>
      isWrite(call) &&
      call.target === join(data, 'head.json') &&
      (stringsOf(call)[0] ?? '').startsWith(`{"sequence":${sequence},`),
  );
  assertInOrder(what, [
    ['read the request', request],
    ...stepsOf(durableWrite(calls, path, directory)),
    ['write the head', head],
    ['send the response', response],
  ]);
}

test.after(async () => {
  await killTraced();
  await killServers();
});

const run = canTrace ? test : test.skip;
const unless = canTrace ? '' : ' (skipped: strace is missing or not permitted)';

run(
  `a write is answered only after its file, name and directory are durable${unless}`,
  async () => {
    const data = newData();
    const server = await serveTraced([PROGRAM], data);
    const writer = new Writer(server);
    const id = await writer.write('POST', null, book('created'));
    await writer.write('PUT', id, book('replaced'));
    await writer.write('PATCH', id, { name: 'changed' });
    await writer.write('DELETE', id);
    // Concurrent writes share change sets, and arrive while one is being written.
    const several = await Promise.all(
      Array.from({ length: 12 }, (_, nth) => writer.write('POST', null, book(`of ${nth}`))),
    );
    await Promise.all(
      several.map((other, nth) =>
        nth % 2 === 0 ? writer.write('DELETE', other) : writer.write('PUT', other, book(`${nth}`)),
      ),
    );
    const calls = await server.calls();
    assert.is(writer.writes.length, 28);
    for (const write of writer.writes) assertDurableBeforeResponse(calls, data, write);
    assertCreated(calls, data);
  },
);

run(`change sets are removed only after the new base is durable${unless}`, async () => {
  const prepared = await prepareFull(FULL.large);
  const data = newData();
  cpSync(prepared.data, data, { recursive: true });
  const before = sequenceOfBase(data);
  const server = await serveTraced([PROGRAM], data);
  const writer = new Writer(server);
  const id = await writer.write('POST', null, book('first'));
  await until('a checkpoint is over', async () => {
    await writer.write('PUT', id, book('again'));
    return !readdirSync(data).some((entry) => entry.startsWith('migrated-from-'));
  });
  const calls = await server.calls();
  assert.ok(sequenceOfBase(data) > before);
  // Without the temporary names of change sets, which are removed after the link.
  const removals = calls.filter(
    ({ name: call, arguments: given }) =>
      /^(?:unlink|rm)/.test(call) && given.includes(data) && !given.includes('.tmp"'),
  );
  const covered = removals.filter(({ arguments: given }) => given.includes(join(data, 'changes/')));
  assert.is(covered.length, sequenceOfBase(data) - before);
  const base = durableWrite(calls, join(data, 'catalog.json'), data);
  for (const removal of removals) {
    assertInOrder('a checkpoint', [...stepsOf(base), ['remove a file', removal]]);
  }
  for (const write of writer.writes) assertDurableBeforeResponse(calls, data, write);
  assertServedMeanwhile(calls, server.pid, writer.writes);
});

/**
 * Syncs and changes of directories may wait for the journal of the file system, so the thread that
 * serves requests must leave them to other threads.
 */
function assertServedMeanwhile(
  calls: readonly Call[],
  pid: number,
  writes: readonly Write[],
): void {
  const [first, last] = [writes[0]?.mark ?? '', writes.at(-1)?.mark ?? ''];
  const { began } = responseTo(calls, first).request;
  const { ended = 0 } = responseTo(calls, last).response ?? {};
  const meanwhile = calls.filter((call) => call.began > began && call.ended < ended);
  const waits = meanwhile.filter(({ name }) => /^(?:f(?:data)?sync|link|unlink|rename)/.test(name));
  assert.ok(waits.length > 0);
  for (const { name, thread, arguments: given } of waits) {
    assert.is.not(thread, pid, `${name}(${given}) is called by the thread that serves`);
  }
}

/** A new store, with its directories, is durable before the server reports that it listens. */
function assertCreated(calls: readonly Call[], data: string): void {
  const listening = calls.find(
    (call) =>
      /^(?:write|send)/.test(call.name) && stringsOf(call)[0]?.startsWith('listening on') === true,
  );
  const made = (path: string) =>
    calls.find(
      (call) => call.name.startsWith('mkdir') && call.result === 0 && stringsOf(call)[0] === path,
    );
  for (const path of [join(data, 'changes'), data, dirname(data)]) {
    const parent = dirname(path);
    const synced = calls.find(
      ({ name, target, began }) =>
        name === 'fsync' && target === parent && began > (made(path)?.ended ?? Infinity),
    );
    assertInOrder('creation', [
      [`make ${path}`, made(path)],
      [`sync ${parent}`, synced],
      ['listen', listening],
    ]);
  }
  for (const file of ['head.json', 'catalog.json']) {
    const steps = stepsOf(durableWrite(calls, join(data, file), data));
    assertInOrder(`creation of ${file}`, [...steps, ['listen', listening]]);
  }
}

test.run();
