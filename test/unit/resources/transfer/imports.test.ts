/** Which imports are received, run and kept (spec 12.6, 12.7 and 12.10). */
import { createHash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError } from '../../../../src/errors.ts';
import { KINDS } from '../../../../src/model/kinds.ts';
import { Money } from '../../../../src/model/money.ts';
import { AuditedStore } from '../../../../src/resources/audit/audited-store.ts';
import { remember } from '../../../../src/resources/idempotency.ts';
import { MAX_OF_SUBJECT } from '../../../../src/resources/transfer/import-places.ts';
import type { Accepted } from '../../../../src/resources/transfer/import-key.ts';
import { Imports } from '../../../../src/resources/transfer/imports.ts';
import { openStore, storeDirectory } from '../../../support/checked.ts';
import { quickDisk } from '../../../support/disk.ts';
import { turn } from '../../../support/turns.ts';

/** Unfinished imports of one subject, at most, and files of repeated requests beyond them. */
const [UNFINISHED, REPEATED] = [MAX_OF_SUBJECT, 4];

const FILE = 'name\r\nQuill\r\n';

/**
 * Imports that are received, but do not begin until the gate opens.
 *
 * @param states those that an earlier process has saved, by id.
 * @param forget removes one of them.
 * @param idAfter the id of the next one.
 */
async function open(
  states = new Map<number, Buffer>(),
  forget = async (id: number) => void states.delete(id),
  idAfter = (last: number) => last + 1,
) {
  const store = await openStore(storeDirectory(), { disk: quickDisk });
  const files = new Map<number, Buffer>();
  const gate = Promise.withResolvers<void>();
  const errors: unknown[] = [];
  const running = { now: 0, most: 0 };
  /** The ids of reports that were saved. */
  const saved: number[] = [];
  const log = { isSilent: false };
  /** What reports of imports that have ended wait for, and whether they are refused then. */
  const disk = { slow: Promise.resolve(), isFull: false, refusal: null as Error | null };
  /** Why files cannot be read, by their ids. */
  const damaged = new Map<number, Error>();
  const audited = new AuditedStore(store);
  const transact = audited.transact.bind(audited);
  audited.transact = async (...write) => {
    const before = store.sequence;
    const result = await transact(...write);
    if (!log.isSilent || store.sequence === before) return result;
    throw new CatalogError('write_unknown', 'the write may still take effect');
  };
  const imports = await Imports.open({
    audited,
    money: new Money('USD'),
    storage: {
      async receive(id, source) {
        files.set(id, Buffer.alloc(0));
        const pieces: Uint8Array[] = [];
        for await (const piece of source) pieces.push(piece);
        files.set(id, Buffer.concat(pieces));
        return files.get(id)?.length ?? 0;
      },
      async *read(id) {
        const failure = damaged.get(id);
        if (failure !== undefined) throw failure;
        yield files.get(id) ?? Buffer.alloc(0);
      },
      discard: async (id) => void files.delete(id),
      async save(id, text) {
        if (disk.refusal !== null && text.includes('"state":"writing"')) throw disk.refusal;
        if (/"state":"(?:done|failed)"/.test(text)) {
          await disk.slow;
          if (disk.isFull) throw new Error('ENOSPC: no space left on device, write');
        }
        if (/"state":"(?:done|failed)"/.test(text)) saved.push(id);
        states.set(id, Buffer.from(text));
      },
      load: (id) => states.get(id) ?? null,
      forget,
      namespace: async () => 'of this host',
      idAfter,
      // A folder lists its files in any order.
      ids: () => ({ states: [...states.keys()].reverse(), files: [...files.keys()].reverse() }),
    },
    whenIndexed: () => gate.promise,
    async inSmallHeap(run) {
      running.now += 1;
      running.most = Math.max(running.most, running.now);
      await run();
      running.now -= 1;
    },
    onError: (error) => void errors.push(error),
  });
  const order = {
    kind: KINDS.brands,
    format: 'csv',
    match: 'id',
    createMissing: new Set<string>(),
    dryRun: false,
    subject: 'ann',
  } as const;
  const send = (key: string | null, source: AsyncIterable<Uint8Array> = whole(FILE)) =>
    imports.accept(order, source, key);
  const end = async () => {
    gate.resolve();
    for (const { id } of imports.all()) await imports.ended(id);
  };
  /** @param reported the failures that were reported. */
  const close = async (reported: readonly unknown[] = []) => {
    gate.resolve();
    await imports.close();
    await store.close();
    assert.equal([errors, [...files]], [reported, []]);
  };
  const stage = { imports, audited, files, damaged, running, saved, log, disk, gate, errors };
  return { ...stage, send, end, close };
}

async function* whole(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** A file of which nothing comes until it is let through. */
function slow() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const source = async function* () {
    await promise;
    yield* whole(FILE);
  };
  return { source: source(), pass: resolve };
}

const codeOf = async (answer: Promise<Accepted>): Promise<string> => {
  try {
    return (await answer).replayed ? 'replayed' : 'accepted';
  } catch (error) {
    return error instanceof CatalogError ? error.code : String(error);
  }
};

test('if it is unknown whether a key was kept, the import of a repeated request has a report', async () => {
  const { imports, log, send, end, close } = await open();
  log.isSilent = true;
  assert.is(await codeOf(send('first')), 'write_unknown');
  log.isSilent = false;
  const { id, replayed } = await send('first');
  await end();
  assert.is(replayed, true);
  const report = JSON.parse(imports.find(id) ?? 'null');
  assert.equal([report?.state, report?.created], ['failed', 0]);
  assert.match(report.errors[0].message, /^no row is written/);
  await send('another');
  await end();
  assert.is(imports.all()[0]?.created, 1);
  await close();
});

test('the next id is chosen from the last one that is kept', async () => {
  const states = new Map<number, Buffer>();
  const lasts: number[] = [];
  for (const next of [7000, 9000]) {
    const { send, end, close } = await open(states, undefined, (last) => {
      lasts.push(last);
      return next;
    });
    const { id } = await send(null);
    await end();
    assert.is(id, next);
    await close();
  }
  assert.equal(lasts, [0, 7000]);
});

test('the answer that an earlier version kept, without a namespace, is repeated', async () => {
  const { send, audited, close } = await open();
  const digest = createHash('sha256').update(FILE).digest('hex');
  const request = ['imports', 'brands', 'csv', 'id', [], false, digest];
  await audited.transact('ann', false, function* (transaction, now) {
    yield;
    const answer = { id: 7, text: '{"id":7}', etag: null };
    remember(transaction, { subject: 'ann', key: 'first', request }, answer, now);
  });
  assert.equal(await send('first'), { id: 7, text: '{"id":7}', replayed: true });
  await close();
});

test('a repeated request gets its answer, however many imports are unfinished; others are refused', async () => {
  const { send, files, close } = await open();
  const first = await send('first');
  for (let count = 1; count < UNFINISHED; count += 1) await send(null);
  assert.equal(await send('first'), { ...first, replayed: true });
  assert.is(await codeOf(send('first', whole('name\r\nInk\r\n'))), 'key_reused');
  assert.is(await codeOf(send('another')), 'too_many_imports');
  assert.is(await codeOf(send(null)), 'too_many_imports');
  assert.is(files.size, UNFINISHED, 'no copy is left');
  const copies = Array.from({ length: REPEATED }, slow);
  const answers = copies.map(({ source }) => codeOf(send('first', source)));
  for (let turns = 0; files.size < UNFINISHED + REPEATED && turns < 100; turns += 1) await turn();
  assert.is(files.size, UNFINISHED + REPEATED);
  assert.is(await codeOf(send('first')), 'too_many_imports', 'their number is limited as well');
  for (const { pass } of copies) pass();
  assert.equal(await Promise.all(answers), Array(REPEATED).fill('replayed'));
  assert.is(await codeOf(send('first')), 'replayed');
  await close();
});

test('a copy of a request that is being received waits for its answer; if it fails, the copy is imported', async () => {
  for (const succeeds of [true, false]) {
    const { send, files, close } = await open();
    const others = Array.from({ length: UNFINISHED - 1 }, slow);
    const uploads = others.map((other) => codeOf(send(null, other.source)));
    const { source, pass } = slow();
    const failing = async function* () {
      yield* source;
      if (!succeeds) throw new Error('the client has gone');
    };
    const first = codeOf(send('key', failing()));
    for (let turns = 0; files.size < UNFINISHED && turns < 100; turns += 1) await turn();
    assert.is(await codeOf(send(null)), 'too_many_imports', 'all places of uploads are taken');
    const copy = codeOf(send('key'));
    for (let turns = 0; turns < 20; turns += 1) await turn();
    pass();
    assert.equal(
      [await first, await copy],
      succeeds ? ['accepted', 'replayed'] : ['Error: the client has gone', 'accepted'],
    );
    for (const other of others) other.pass();
    assert.equal(await Promise.all(uploads), Array(UNFINISHED - 1).fill('accepted'));
    await close();
  }
});

for (const key of [null, 'key']) {
  test(`a file ${key === null ? 'without a key' : 'with a new key'} that arrives when all places are taken is refused`, async () => {
    const { send, files, close } = await open();
    for (let count = 1; count < UNFINISHED; count += 1) await send(null);
    const { source, pass } = slow();
    const late = codeOf(send(key, source));
    for (let turns = 0; files.size < UNFINISHED && turns < 100; turns += 1) await turn();
    assert.is(await codeOf(send(null)), 'accepted', 'the last place');
    pass();
    assert.is(await late, 'too_many_imports');
    assert.is(files.size, UNFINISHED, 'nothing of it is left');
    await close();
  });
}

test('after a restart an import gets an id above those of all imports that are kept', async () => {
  const states = new Map<number, Buffer>();
  const before = await open(states);
  const kept = [await before.send(null), await before.send(null), await before.send(null)];
  await before.close();
  const after = await open(states);
  assert.equal(
    kept.map(({ id }) => id),
    [1, 2, 3],
  );
  assert.is((await after.send(null)).id, 4);
  await after.close();
});

test('several imports run one after the other', async () => {
  const { imports, running, send, end, close } = await open();
  for (let count = 0; count < 3; count += 1) await send(null);
  await end();
  assert.equal(
    imports.all().map(({ state }) => state),
    ['done', 'done', 'done'],
  );
  assert.is(running.most, 1);
  await close();
});

test('an import that cannot begin is failed, and its report says why', async () => {
  const { imports, gate, send, close } = await open();
  const failure = new Error('EIO: i/o error, read');
  const { id } = await send(null);
  gate.reject(failure);
  await imports.ended(id);
  const report = JSON.parse(imports.find(id) ?? 'null');
  assert.is(report.state, 'failed');
  assert.equal(report.errors, [
    { row: null, column: null, message: 'no row is written: EIO: i/o error, read' },
  ]);
  await close([failure]);
});

test('the report of an import whose file cannot be read names no path; the log does', async () => {
  const path = "/srv/the shop's/imports/1.file";
  for (const [message, shown] of [
    [`EIO: i/o error, open '${path}'`, 'EIO: i/o error, open'],
    [`${path} is a directory: move it away`, 'EISDIR'],
  ] as const) {
    const { imports, damaged, gate, send, close } = await open();
    const { id } = await send(null);
    const failure = Object.assign(new Error(message), { code: shown.split(':')[0] });
    damaged.set(id, failure);
    gate.resolve();
    await imports.ended(id);
    const report = JSON.parse(imports.find(id) ?? 'null');
    const error = { row: null, column: null, message: `no row is written: ${shown}` };
    assert.equal([report.state, report.errors], ['failed', [error]]);
    await close([failure]);
  }
});

test('the same holds for an import whose state cannot be saved before it writes', async () => {
  const { imports, disk, gate, send, close } = await open();
  const { id } = await send(null);
  const failure = Object.assign(new Error("EIO: i/o error, open '/srv/shop/1.json'"), {
    code: 'EIO',
  });
  disk.refusal = failure;
  gate.resolve();
  await imports.ended(id);
  const [error] = JSON.parse(imports.find(id) ?? 'null').errors;
  assert.is(error.message, 'no row is written: EIO: i/o error, open');
  await close([failure]);
});

test('the report of an import that has ended is shown with the entity tag that it keeps', async () => {
  const { imports, disk, send, end, close } = await open();
  const { promise, resolve } = Promise.withResolvers<void>();
  disk.slow = promise;
  const { id } = await send(null);
  const ended = end();
  for (let turns = 0; imports.all()[0]?.state !== 'done' && turns < 1000; turns += 1) await turn();
  const shown = imports.show(id);
  for (let turns = 0; turns < 20; turns += 1) await turn();
  resolve();
  await ended;
  assert.is((await shown)?.etag, (await imports.show(id))?.etag);
  await close();
});

/** The reports of imports that have ended, by id, from 1. */
async function statesOfEnded(count: number): Promise<Map<number, Buffer>> {
  const states = new Map<number, Buffer>();
  const first = await open(states);
  await first.send(null);
  await first.end();
  await first.close();
  const text = String(states.get(1));
  assert.match(text, '"id":1,');
  for (let id = 2; id <= count; id += 1) {
    states.set(id, Buffer.from(text.replace('"id":1,', `"id":${id},`)));
  }
  return states;
}

test('the last 100 imports are kept, also after a restart', async () => {
  const states = await statesOfEnded(100);
  const { imports, send, end, close } = await open(states);
  assert.is(imports.all().length, 100);
  await send(null);
  await end();
  const ids = imports.all().map(({ id }) => id);
  assert.equal([ids[0], ids.at(-1), ids.length], [101, 2, 100]);
  assert.is(imports.find(1), null);
  assert.is(states.size, 100);
  await close();
});

test('a report that cannot be removed is logged, and the start and later imports go on', async () => {
  const states = await statesOfEnded(102);
  const refusal = new Error('EPERM: operation not permitted, unlink');
  const { imports, send, end, close } = await open(states, async (id) => {
    if (id < 3) throw refusal;
    states.delete(id);
  });
  await send(null);
  await end();
  const ids = imports.all().map(({ id }) => id);
  assert.equal([ids[0], ids.at(-1), ids.length], [103, 4, 100]);
  assert.equal([states.has(1), states.has(2), states.has(3)], [true, true, false]);
  await close([refusal, refusal]);
});

test('the report of an import is saved once', async () => {
  const { saved, send, end, close } = await open();
  for (let count = 1; count <= 3; count += 1) {
    await send(null);
    await end();
  }
  await close();
  assert.equal(saved, [1, 2, 3]);
});

test('while the disk refuses reports, the last 100 are kept in memory, and no others', async () => {
  const { imports, disk, errors, send, end, close } = await open();
  disk.isFull = true;
  for (let count = 1; count <= 101; count += 1) {
    await send(null);
    await end();
  }
  assert.equal([imports.find(1), imports.all().length], [null, 100]);
  assert.match(imports.find(101) ?? '', '"state":"done"');
  await close(errors);
});

test.run();
