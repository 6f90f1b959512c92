/** The head: the last change set that was answered, and what a store with it is judged to be. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DATA_FILES } from '../../../../src/data-files.ts';
import { type Disk, machineDisk } from '../../../../src/disk/disk.ts';
import type { LogPosition } from '../../../../src/store/change-log.ts';
import { changeSetName } from '../../../../src/store/files/files.ts';
import { withChecksum } from '../../../../src/json/checksum.ts';
import { encodeHead, readHead } from '../../../../src/store/files/head.ts';
import { recover } from '../../../../src/store/files/recovery.ts';
import { readSnapshot } from '../../../../src/store/directory.ts';
import { type Store } from '../../../../src/store/store.ts';
import { findingsOf, leftInDisorder, openStore, storeDirectory } from '../../../support/checked.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { quickDisk } from '../../../support/disk.ts';
import { codeOf, failureOf } from '../../../support/failure.ts';
import { digestOf } from '../../../support/reseal.ts';
import { RefusingDisk } from '../../../support/refusing-disk.ts';
import { ROOT, fixture } from '../../../support/paths.ts';
import { turn } from '../../../support/turns.ts';

const FIXTURE = fixture(1);

const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const SMALL: LogPosition = { sequence: 124, digest: digest('small') };

/** A disk whose successive reads return these; after the last one, all return that one. */
function reading(...answers: readonly (Uint8Array | null)[]): Disk & { reads: number } {
  return {
    ...machineDisk,
    reads: 0,
    read() {
      const answer = answers[Math.min(this.reads, answers.length - 1)] ?? null;
      this.reads += 1;
      return answer && Buffer.from(answer);
    },
  };
}

test('a head is read as it was written, and has at most 512 bytes', () => {
  const head = fc.record(
    { sequence: fc.maxSafeNat(), digest: fc.string().map(digest) },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(head, (made) => {
      const bytes = encodeHead(made);
      assert.equal(readHead(reading(bytes), DATA_FILES.head), made);
      assert.equal(Object.keys(JSON.parse(Buffer.from(bytes).toString())), [
        'sequence',
        'digest',
        'sha256',
      ]);
    }),
  );
  const longest = encodeHead({ sequence: Number.MAX_SAFE_INTEGER, digest: digest('') });
  assert.ok(longest.length <= 512, `${longest.length} bytes`);
});

test('readHead returns null if there is no file', () => {
  assert.is(readHead(machineDisk, join(temporaryDirectory(), DATA_FILES.head)), null);
});

test('a head with a flipped bit, cut off or with more bytes is damage, and the file is named', async () => {
  const bytes = encodeHead(SMALL);
  const refused = async (found: Uint8Array, what: string) => {
    const { code, message } = await failureOf(() => readHead(reading(found), 'data/head.json'));
    assert.is(code, 'store_damaged', what);
    assert.ok(message.startsWith('data/head.json is damaged: '), message);
  };
  for (let at = 0; at < bytes.length; at += 1) {
    await refused(bytes.subarray(0, at), `${at} bytes`);
    for (let bit = 0; bit < 8; bit += 1) {
      const changed = Uint8Array.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ (1 << bit);
      await refused(changed, `byte ${at}, bit ${bit}`);
    }
  }
  for (const more of ['\n', '}', '\0'])
    await refused(Buffer.concat([bytes, Buffer.from(more)]), more);
  await refused(new Uint8Array(bytes.length), 'zeroes');
});

test('every head has the same length', () => {
  // A file that grows may be left with its new length and its old bytes by power loss.
  const lengths = [0, 9, 10, 99_999, Number.MAX_SAFE_INTEGER].map(
    (sequence) => encodeHead({ ...SMALL, sequence }).length,
  );
  assert.is(new Set(lengths).size, 1, String(lengths));
});

test('a head with a valid checksum and an invalid shape is damage', async () => {
  for (const shape of [
    {},
    { sequence: 1 },
    { digest: SMALL.digest },
    { ...SMALL, sequence: -1 },
    { ...SMALL, sequence: 1.5 },
    { ...SMALL, sequence: '1' },
    { ...SMALL, digest: 'abc' },
    { ...SMALL, digest: SMALL.digest.toUpperCase() },
  ]) {
    const disk = reading(withChecksum(shape).bytes);
    assert.is(
      await codeOf(() => readHead(disk, DATA_FILES.head)),
      'store_damaged',
      JSON.stringify(shape),
    );
  }
});

test('a torn head is read again, and is damage if it stays torn', async () => {
  const [old, now] = [encodeHead({ ...SMALL, sequence: 99 }), encodeHead(SMALL)];
  const torn = [13, 20, 60, 130].map((at) =>
    Buffer.concat([now.subarray(0, at), old.subarray(at)]),
  );
  assert.equal(readHead(reading(...torn, now), DATA_FILES.head), SMALL);
  for (const half of torn) {
    const disk = reading(half);
    assert.is(await codeOf(() => readHead(disk, DATA_FILES.head)), 'store_damaged');
    assert.ok(disk.reads > 1 && disk.reads < 100, `${disk.reads} reads`);
  }
});

test('a head that cannot be read fails as store_unreadable, not as store_damaged', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, DATA_FILES.head);
  mkdirSync(path);
  const { code, message } = await failureOf(() => readHead(machineDisk, path));
  assert.is(code, 'store_unreadable');
  assert.ok(message.startsWith(`${path} cannot be read (EISDIR`), message);
});

/** Overwrites a head in place, one sequence after the other, until its standard input ends. */
const WRITER = `
  const fs = require('node:fs');
  const { createHash } = require('node:crypto');
  const { encodeHead } = await import(process.argv[1]);
  const fd = fs.openSync(process.argv[2], 'r+');
  let going = true;
  process.stdin.on('data', () => {}).on('end', () => { going = false; });
  for (let sequence = 2; going; sequence += 1) {
    const digest = createHash('sha256').update('' + sequence).digest('hex');
    const bytes = encodeHead({ sequence, digest });
    fs.writeSync(fd, bytes, 0, bytes.length, 0);
    if (sequence % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
`;

test('a head that another process overwrites continuously is read whole, and its sequence never decreases', async () => {
  const path = join(temporaryDirectory(), DATA_FILES.head);
  writeFileSync(path, encodeHead({ sequence: 1, digest: digest('1') }));
  const module = join(ROOT, 'src', 'store', 'files', 'head.ts');
  const writer = spawn(process.execPath, ['-e', WRITER, module, path], {
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => writer.on('close', resolve));
  try {
    let last = 1;
    // The sequence grows from one digit to four.
    for (let seen = 0; seen < 300 || last < 1000; ) {
      const head = readHead(machineDisk, path);
      assert.ok(head !== null && head.sequence >= last, `${head?.sequence} after ${last}`);
      assert.is(head.digest, digest(`${head.sequence}`));
      if (head.sequence > last) seen += 1;
      last = head.sequence;
      assert.is(writer.exitCode, null, 'the writer has ended');
      await turn();
    }
  } finally {
    writer.stdin.end();
  }
  assert.is(await ended, 0);
});

const addBrand = (store: Store) =>
  store.transact((transaction) => {
    const id = transaction.nextId('brands');
    transaction.put('brands', { id, name: `Brand ${id}`, logo: '', first_letter: '' });
    return id;
  });

const headOf = (directory: string) => readHead(machineDisk, join(directory, DATA_FILES.head));
const setHead = (directory: string, head: LogPosition) =>
  writeFileSync(join(directory, DATA_FILES.head), encodeHead(head));
/** The head that names a change set of the directory. */
const naming = (directory: string, sequence: number): LogPosition => ({
  sequence,
  digest: digestOf(join(directory, changeSetName(sequence))),
});

/** A directory with a closed store of so many change sets. */
async function written(count: number, more: { smallestCheckpoint?: number } = {}) {
  const directory = storeDirectory();
  const store = await openStore(directory, { disk: quickDisk, ...more });
  for (let nth = 1; nth <= count; nth += 1) await addBrand(store);
  await store.close();
  return directory;
}

test('after every commit the head names its change set, and its file is overwritten in place', async () => {
  const directory = storeDirectory();
  const store = await openStore(directory, { disk: quickDisk });
  const { previous } = JSON.parse(readFileSync(join(directory, DATA_FILES.base), 'utf8'));
  assert.equal(headOf(directory), { sequence: 0, digest: previous });
  const { ino } = statSync(join(directory, DATA_FILES.head));
  // Beyond 9 and 99, where the number gets another digit.
  for (let sequence = 1; sequence <= 101; sequence += 1) {
    await addBrand(store);
    assert.equal(headOf(directory), naming(directory, sequence));
  }
  assert.is(statSync(join(directory, DATA_FILES.head)).ino, ino);
  await store.close();
});

test('a commit does not sync the head, and close does', async () => {
  const directory = storeDirectory();
  const synced: string[] = [];
  const paths = new Map<number, string>();
  const store = await openStore(directory, {
    disk: {
      ...quickDisk,
      openRecord(path) {
        const fd = quickDisk.openRecord(path);
        paths.set(fd, basename(path));
        return fd;
      },
      async fdatasync(fd) {
        await quickDisk.fdatasync(fd);
        synced.push(paths.get(fd) ?? 'another');
      },
    },
  });
  synced.length = 0;
  await addBrand(store);
  assert.equal(synced, []);
  await store.close();
  assert.equal(synced, [DATA_FILES.head]);
});

test('a head that names an older change set is valid, and the start updates it', async () => {
  for (const behind of [0, 1, 2]) {
    const directory = await written(3);
    const base = JSON.parse(readFileSync(join(directory, DATA_FILES.base), 'utf8'));
    setHead(
      directory,
      behind === 0 ? { sequence: 0, digest: base.previous } : naming(directory, behind),
    );
    assert.equal(findingsOf(directory), []);
    const store = await openStore(directory, { disk: quickDisk });
    assert.is(store.count('brands'), 3);
    assert.equal(headOf(directory), naming(directory, 3));
    assert.is(await addBrand(store), 4);
    assert.equal(headOf(directory), naming(directory, 4));
    await store.close();
  }
});

test('a start writes the head only if its bytes would change', async () => {
  const directory = await written(3);
  const path = join(directory, DATA_FILES.head);
  const started = async () => {
    const { ino } = statSync(path);
    let published = 0;
    const publish: Disk['publish'] = (job) => {
      published += 1;
      return quickDisk.publish(job);
    };
    await (await openStore(directory, { disk: { ...quickDisk, publish } })).close();
    return { published, isSame: statSync(path).ino === ino };
  };
  assert.equal(await started(), { published: 0, isSame: true });
  // As written by hand: the same values, without the padding of the program.
  const whole = readFileSync(path, 'utf8');
  const { sequence, digest: of } = headOf(directory) ?? SMALL;
  writeFileSync(path, withChecksum({ sequence, digest: of }).bytes);
  assert.equal(await started(), { published: 1, isSame: false });
  assert.is(readFileSync(path, 'utf8'), whole);
});

test('a start whose new head may not survive power loss fails as durability_unknown', async () => {
  const directory = await written(3);
  setHead(directory, naming(directory, 2));
  const disk = new RefusingDisk();
  let isNamed = false;
  disk.refusal = (step, path) => {
    isNamed ||= step === 'rename' && path === join(directory, DATA_FILES.head);
    return isNamed && step === 'fsync' ? 'EIO' : null;
  };
  const { code, message } = await failureOf(openStore(directory, { disk, onFatal() {} }));
  assert.is(code, 'durability_unknown');
  assert.match(message, /head\.json or its directory could not be synced \(EIO/);
  assert.equal(disk.descriptors, []);
});

test('a head that names a change set before the base is valid', async () => {
  const directory = await written(6, { smallestCheckpoint: 3 * 4096 });
  const { sequence } = JSON.parse(readFileSync(join(directory, DATA_FILES.base), 'utf8'));
  assert.is(sequence, 4);
  // The change set is removed, so its digest cannot be compared.
  setHead(directory, { sequence: 2, digest: digest('gone') });
  assert.equal(findingsOf(directory), []);
  assert.is(readSnapshot(directory).count('brands'), 6);
});

test('a head that is ahead of the change sets is damage, and the first missing change set is named', async () => {
  for (const ahead of [4, 5, 1000]) {
    const directory = leftInDisorder(await written(3));
    setHead(directory, { sequence: ahead, digest: digest('answered') });
    const { code, message } = await failureOf(() => readSnapshot(directory));
    assert.is(code, 'store_damaged');
    const missing = join(directory, changeSetName(4));
    assert.ok(message.startsWith(`${missing} is damaged: it is missing, `), message);
    assert.match(message, new RegExp(`head\\.json says that change set ${ahead} was answered`));
    assert.equal(findingsOf(directory), [message]);
  }
});

test('a head of another history is reported, whichever change set it names', async () => {
  const folded = await written(6, { smallestCheckpoint: 3 * 4096 });
  // The base is as of change set 0 in the first store, and as of 4 in the second.
  for (const [make, sequences] of [
    [() => written(3), [0, 1, 2, 3]],
    [async () => cloneOf(folded), [4, 5, 6]],
  ] as const) {
    for (const sequence of sequences) {
      const directory = leftInDisorder(await make());
      setHead(directory, { sequence, digest: digest('another') });
      const { code, message } = await failureOf(() => readSnapshot(directory));
      assert.is(code, 'store_damaged');
      const path = join(directory, DATA_FILES.head);
      assert.ok(message.startsWith(`${path} is damaged: it does not fit change set`), message);
      assert.match(message, new RegExp(`change set ${sequence}; it is from another history`));
      assert.equal(findingsOf(directory), [message]);
    }
  }
});

function cloneOf(directory: string): string {
  const clone = storeDirectory();
  cpSync(directory, clone, { recursive: true });
  return clone;
}

test('a store without its head is damaged', async () => {
  for (const count of [0, 3]) {
    const directory = leftInDisorder(await written(count));
    rmSync(join(directory, DATA_FILES.head));
    const { code, message } = await failureOf(() => readSnapshot(directory));
    assert.is(code, 'store_damaged');
    const path = join(directory, DATA_FILES.head);
    assert.ok(message.startsWith(`${path} is damaged: it is missing, and catalog.json is there`));
    assert.equal(findingsOf(directory), [message]);
  }
});

test('a missing base beside a head is damage, with or without change sets, and no new store is made', async () => {
  for (const [left, count, said] of [
    ['change sets', 3, 'it is missing, and change sets are there'],
    ['head', 3, 'it is missing, and head.json is there'],
    // The first one: a head that names change set 0 is that of an interrupted creation.
    ['head', 1, 'it is missing, and head.json is there'],
  ] as const) {
    const directory = leftInDisorder(await written(count));
    rmSync(join(directory, DATA_FILES.base));
    if (left === 'head') rmSync(join(directory, DATA_FILES.changes), { recursive: true });
    for (const create of [true, false]) {
      const { code, message } = await failureOf(openStore(directory, { create }));
      assert.is(code, 'store_damaged');
      assert.ok(
        message.startsWith(`${join(directory, DATA_FILES.base)} is damaged: ${said}`),
        message,
      );
    }
    assert.not.ok(existsSync(join(directory, DATA_FILES.base)), 'an empty store was made');
  }
});

test('change sets without a base and a head are damage, and no new store is made', async () => {
  const directory = leftInDisorder(await written(3));
  for (const file of [DATA_FILES.base, DATA_FILES.head]) rmSync(join(directory, file));
  const { code, message } = await failureOf(openStore(directory, { create: true }));
  assert.is(code, 'store_damaged');
  assert.match(message, 'catalog.json is damaged: it is missing, and change sets are there');
  assert.not.ok(existsSync(join(directory, DATA_FILES.base)), 'an empty store was made');
});

test('a creation that failed after writing the head leaves no store, and can be repeated', async () => {
  const directory = storeDirectory();
  const full = Object.assign(new Error('ENOSPC: no space'), { code: 'ENOSPC' });
  const cutting: Disk = { ...quickDisk, create: () => Promise.reject(full) };
  const failure = await openStore(directory, { disk: cutting }).then(
    () => null,
    (error: unknown) => error,
  );
  assert.is((failure as Error).cause, full);
  const cut = headOf(directory);
  assert.is(cut?.sequence, 0);
  assert.not.ok(existsSync(join(directory, DATA_FILES.base)));

  assert.equal(findingsOf(directory), []);
  assert.is(await codeOf(() => readSnapshot(directory)), 'store_missing');
  const store = await openStore(directory, { disk: quickDisk });
  assert.is(store.created, true);
  assert.is.not(headOf(directory)?.digest, cut?.digest);
  assert.is(await addBrand(store), 1);
  await store.close();
});

test('a store of version 1 is read without a head, and with one that a failed migration left', () => {
  const directory = leftInDisorder(storeDirectory());
  cpSync(FIXTURE, directory, { recursive: true });
  const heads = [null, naming(directory, 7), naming(directory, 8)];
  for (const head of heads) {
    if (head !== null) setHead(directory, head);
    assert.is(existsSync(join(directory, DATA_FILES.head)), head !== null);
    const loaded = recover(machineDisk, directory, 'older');
    assert.equal([loaded?.schema, loaded?.state.sequence], [1, 8]);
    const [finding, ...more] = findingsOf(directory);
    assert.match(finding ?? '', /has schema version 1, .*; run: catalog-server migrate/);
    assert.equal(more, []);
  }
});

test.run();
