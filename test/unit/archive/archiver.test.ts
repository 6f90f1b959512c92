/** spec 15.3: what is archived, and what happens while the archive cannot be reached. */
import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ArchiveObjects } from '../../../src/archive/archive-objects.ts';
import { checkArchive } from '../../../src/archive/check.ts';
import { parseBaseName } from '../../../src/archive/names.ts';
import { readArchive } from '../../../src/archive/replay.ts';
import { createKeyFile, readKeyFile } from '../../../src/encryption/key-file.ts';
import { CatalogError } from '../../../src/errors.ts';
import { Archived, BLOCK, textOf } from '../../support/archive.ts';
import { storeDirectory } from '../../support/checked.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { quickDisk } from '../../support/disk.ts';
import { MemoryObjects, unreachable } from '../../support/object-store.ts';
import { closeServices, openService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

test.after(closeServices);

/** Longer than {@link Archived.close} waits, in milliseconds. */
const LONG_MS = 120_000;

/** Asserts that an archive is complete and equals its store, and closes both. */
async function assertComplete(archived: Archived): Promise<void> {
  await archived.archived();
  const state = await readArchive(archived.objects, {});
  assert.is(textOf(state), textOf(archived.store));
  const report = await checkArchive(archived.objects);
  assert.equal([report.findings, report.gaps], [[], []]);
  await archived.close();
}

test('the archive gets a base, every change set byte for byte, and another base after every checkpoint', async () => {
  const directory = storeDirectory();
  const archived = await Archived.open(directory);
  const { store, network } = archived;
  await archived.archived();
  assert.is(network.in('bases').length, 1);
  for (let checkpoints = 0; checkpoints < 3; checkpoints += 1) {
    const { baseSequence } = store;
    await archived.commit(10);
    await until('there is a checkpoint', () => store.baseSequence > baseSequence);
    await until('the archive has a base with the checkpoint', () => {
      const newest = parseBaseName(network.in('bases').at(-1) ?? '');
      return newest !== null && newest.sequence >= store.baseSequence;
    });
  }
  assert.is(network.in('bases').length, 4);
  await archived.archived();
  const lines = archived.network
    .in('changes')
    .map((name) => archived.network.objects.get(`changes/${name}`)?.toString())
    .join('');
  const files = readdirSync(join(directory, 'changes')).toSorted();
  assert.is(files.length, 30);
  assert.is(lines, files.map((name) => readFileSync(join(directory, 'changes', name))).join(''));
  await assertComplete(archived);
});

test('an archive with a key does not contain the text of the catalog', async () => {
  const archived = await Archived.open(storeDirectory(), { key: randomBytes(32) });
  await archived.commit(3);
  await archived.archived();
  for (const [name, bytes] of archived.network.objects) {
    assert.not.ok(bytes.includes('Book 1'), name);
  }
  await assertComplete(archived);
});

test('an archive that cannot be reached does not delay commits, and gets everything later', async () => {
  const network = new MemoryObjects();
  network.before = unreachable;
  const archived = await Archived.open(storeDirectory(), { network });
  await archived.commit(10);
  await until('it failed', () => archived.archiver.figures.failing !== null);
  assert.is(archived.archiver.figures.changeSets, 10);
  network.before = () => {};
  await assertComplete(archived);
  assert.equal(archived.log, [
    'memory: cannot be reached: connection refused',
    'memory: can be reached again',
  ]);
});

test('an upload whose response is lost is repeated, and the archive is complete', async () => {
  const archived = await Archived.open(storeDirectory());
  await archived.archived();
  let lost = 0;
  archived.network.after = (call, name) => {
    if (call !== 'put' || lost >= 3) return;
    lost += 1;
    throw new Error(`the answer to ${name} is lost`);
  };
  await archived.commit(5);
  await archived.archived();
  await archived.commit(5);
  assert.is(lost, 3);
  await assertComplete(archived);
});

test('change sets are archived while the upload of a base is slow', async () => {
  const archived = await Archived.open(storeDirectory());
  await archived.archived();
  const { promise: released, resolve } = Promise.withResolvers<void>();
  archived.network.before = async (call, name) => {
    if (call === 'put' && name.startsWith('bases/')) await released;
  };
  await archived.commit(20);
  await until('no change set is missing', () => archived.archiver.figures.changeSets === 0);
  assert.is(archived.network.in('bases').length, 1);
  resolve();
  await assertComplete(archived);
});

test('the lag of an archive is counted from the oldest change set that it lacks', async () => {
  let stopped: number | null = null;
  const now = () => stopped ?? Date.now() + 1;
  const archived = await Archived.open(storeDirectory(), { now, retryDelay: () => LONG_MS });
  const { archiver, network } = archived;
  await archived.archived();
  await until('it is not behind', () => archiver.figures.seconds === 0);
  network.before = unreachable;
  await archived.commit(1);
  await until('it failed', () => archiver.figures.failing !== null);
  stopped = Date.now() + 60_000;
  const { seconds } = archiver.figures;
  assert.ok(seconds >= 59 && seconds < 120, `${seconds}`);
  const first = Date.now();
  await until('the clock moves on', () => Date.now() > first);
  // The archive may hear of the last one only after this.
  await archived.commit(2);
  assert.is(archiver.figures.changeSets, 3);
  assert.is(archiver.figures.seconds, seconds);
  network.before = () => {};
  await archived.close();
  assert.is(archiver.figures.changeSets, 0);
});

test('an archive that cannot be reached when the server starts is behind from then on', async () => {
  const network = new MemoryObjects();
  network.before = unreachable;
  let now = Date.now();
  const archived = await Archived.open(storeDirectory(), { network, now: () => now });
  now += 60_000;
  assert.is(archived.archiver.figures.seconds, 60);
  network.before = () => {};
  await assertComplete(archived);
});

test('after a restart the lag is that of the oldest change set that the archive lacks', async () => {
  const directory = storeDirectory();
  const first = await Archived.open(directory);
  const { network } = first;
  await first.archived();
  network.before = unreachable;
  await first.commit(1);
  await first.kill();
  network.before = (call) => {
    if (call === 'put') unreachable();
  };
  const now = Date.now() + 60_000;
  const next = await Archived.open(directory, { network, now: () => now });
  assert.is(next.archiver.figures.seconds, 0, 'of what is missing nothing is known yet');
  network.before = (call, name) => {
    if (call === 'put' && name.startsWith('changes/')) unreachable();
  };
  await until('the change set is read', () => next.archiver.figures.seconds >= 60);
  network.before = () => {};
  await assertComplete(next);
});

test('the lag of an archive is also counted from a change of accounts or keys that it lacks', async () => {
  const network = new MemoryObjects();
  let isChanged = false;
  const privateFiles = {
    changed: () => isChanged,
    read() {
      isChanged = false;
      return Buffer.from('keys');
    },
  };
  const isPrivate = (call: string, name: string) => call === 'put' && name === 'private';
  const refused = (call: string, name: string) => {
    if (isPrivate(call, name)) unreachable();
  };
  network.before = refused;
  let now = Date.now();
  const key = randomBytes(32);
  const archived = await Archived.open(storeDirectory(), {
    network,
    privateFiles,
    key,
    now: () => now,
  });
  const { archiver } = archived;
  await until('they are refused', () => archiver.figures.failing !== null);
  now += 60_000;
  assert.is(archiver.figures.changeSets, 0);
  assert.is(archiver.figures.seconds, 60, 'they were never archived');
  network.before = () => {};
  await archived.archived();
  assert.is(archiver.figures.seconds, 0);

  network.before = refused;
  isChanged = true;
  await until('the change is refused', () => archiver.figures.failing !== null);
  now += 30_000;
  await archived.commit(1);
  await until('the change set is archived', () => archiver.figures.changeSets === 0);
  assert.is(archiver.figures.seconds, 30, 'a change set does not hide it');
  network.before = () => {};
  await archived.archived();
  assert.is(archiver.figures.seconds, 0);
  await archived.close();
});

test('a server that is restarted continues where the archive ends', async () => {
  const directory = storeDirectory();
  const network = new MemoryObjects();
  const first = await Archived.open(directory, { network });
  await first.commit(3);
  await first.archived();
  network.before = unreachable;
  await first.commit(4);
  await first.kill();
  network.before = () => {};
  const bases = network.in('bases').length;
  const second = await Archived.open(directory, { network });
  await second.archived();
  assert.is(network.in('bases').length, bases);
  await assertComplete(second);
});

/** Runs a server until it is killed; of its commits the archive gets a base, and no change set. */
async function killedBehindBase(
  directory: string,
  options: { readonly network: MemoryObjects; readonly history?: number },
  commits: number,
): Promise<void> {
  const { network } = options;
  const killed = await Archived.open(directory, options);
  await killed.archived();
  network.before = (call, name) => {
    if (call === 'put' && name.startsWith('changes/')) throw new Error('connection reset');
  };
  await killed.commit(commits);
  await until('a base is there', () => network.in('bases').length > 1);
  await killed.kill();
  network.before = () => {};
  assert.equal(network.in('changes'), []);
}

test('the next server archives missing change sets that are older than the last base in the archive', async () => {
  const directory = storeDirectory();
  const network = new MemoryObjects();
  await killedBehindBase(directory, { network }, 20);
  const next = await Archived.open(directory, { network });
  await next.archived();
  await assertComplete(next);
  for (let sequence = 1; sequence <= 20; sequence += 1) {
    assert.is((await readArchive(next.objects, { sequence })).sequence, sequence);
  }
});

test('the next server notes a gap for missing change sets that the store no longer has', async () => {
  const directory = storeDirectory();
  const options = { network: new MemoryObjects(), history: 0 };
  await killedBehindBase(directory, options, 40);
  const next = await Archived.open(directory, options);
  await next.archived();
  await next.commit(1);
  await next.archived();
  const { findings, gaps } = await checkArchive(next.objects);
  assert.equal(findings, []);
  assert.match(gaps[0] ?? '', /^change sets 1 to /);
  assert.is((await readArchive(next.objects, {})).sequence, 41);
  await next.close();
});

test('an orderly shutdown archives the remaining change sets', async () => {
  const archived = await Archived.open(storeDirectory());
  await archived.archived();
  await archived.commit(3);
  await archived.close();
  assert.is((await readArchive(archived.objects, {})).sequence, archived.store.sequence);
});

test('the pause after a failure grows with the failures in a row, and no commit ends it', async () => {
  const failures: number[] = [];
  const archived = await Archived.open(storeDirectory(), {
    retryDelay(count) {
      failures.push(count);
      return count === 3 ? LONG_MS : 1;
    },
  });
  const { network } = archived;
  await archived.archived();
  let lost = 0;
  network.before = () => {
    lost += 1;
    if (lost <= 2) unreachable();
  };
  await archived.commit(1);
  await archived.archived();
  network.before = unreachable;
  await archived.commit(1);
  await until('it has failed three times', () => failures.length === 5);
  assert.equal(failures, [1, 2, 1, 2, 3]);
  const { length } = network.calls;
  await archived.commit(2);
  assert.is(network.calls.length, length);
  await archived.close();
});

/** Commits once more when change sets are next uploaded, after which the network works. */
function commitDuringUpload(archived: Archived): void {
  const { network } = archived;
  network.before = async (call, name) => {
    if (call !== 'put' || !name.startsWith('changes/')) return;
    network.before = () => {};
    await archived.commit(1);
  };
}

test('a shutdown does not wait for the next attempt, and archives until nothing is left', async () => {
  const archived = await Archived.open(storeDirectory(), { retryDelay: () => LONG_MS });
  const { network } = archived;
  await archived.archived();
  network.before = unreachable;
  await archived.commit(1);
  await until('it failed', () => archived.archiver.figures.failing !== null);
  commitDuringUpload(archived);
  await archived.close();
  assert.is(network.in('changes').length, 2);
  assert.is((await readArchive(archived.objects, {})).sequence, 2);
});

test('change sets are gathered for one object, for which a shutdown does not wait', async () => {
  const archived = await Archived.open(storeDirectory(), { gatherMs: LONG_MS });
  const { network } = archived;
  await archived.archived();
  await archived.commit(3);
  commitDuringUpload(archived);
  await archived.close();
  assert.is(network.in('changes').length, 2);
  assert.is((await readArchive(archived.objects, {})).sequence, 4);
});

test('a shutdown while the archive cannot be reached makes one attempt', async () => {
  let failures = 0;
  const archived = await Archived.open(storeDirectory(), {
    retryDelay() {
      failures += 1;
      return 1;
    },
  });
  await archived.archived();
  archived.network.before = unreachable;
  await archived.commit(1);
  await until('it failed', () => failures > 0);
  const closing = archived.close();
  const before = failures;
  await closing;
  assert.is(failures, before);
});

test('a shutdown ends after its grace although an upload hangs, and the next start archives the rest', async () => {
  const directory = storeDirectory();
  const archived = await Archived.open(directory);
  const { archiver, network, store } = archived;
  await archived.archived();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  network.before = async (call, name) => {
    if (call !== 'put' || !name.startsWith('changes/')) return;
    begin();
    await released;
  };
  await archived.commit(1);
  await begun;
  await archived.commit(1);
  await archiver.close(1);
  release();
  // Once more, to wait for the upload that hung.
  await archiver.close(60_000);
  assert.is(network.in('changes').length, 1);
  await store.close();
  await assertComplete(await Archived.open(directory, { network }));
});

/** Commits until the store has a checkpoint that the archive has no base of. */
async function commitToCheckpoint(archived: Archived): Promise<void> {
  const { baseSequence } = archived.store;
  while (archived.store.baseSequence === baseSequence) await archived.commit(1);
}

test('a base that cannot be archived is reported once, and tried again after growing pauses', async () => {
  const failures: number[] = [];
  const archived = await Archived.open(storeDirectory(), {
    retryDelay(count) {
      failures.push(count);
      return 1;
    },
  });
  const { archiver, network } = archived;
  await archived.archived();
  let lost = 0;
  network.before = (call, name) => {
    if (call !== 'put' || !name.startsWith('bases/')) return;
    lost += 1;
    if (lost !== 3) unreachable();
  };
  await commitToCheckpoint(archived);
  await archived.archived();
  assert.is(network.in('bases').length, 2);
  assert.equal(archived.log, [
    'memory: cannot be reached: connection refused',
    'memory: can be reached again',
  ]);
  while (archiver.figures.failing === null) await archived.commit(1);
  assert.equal(failures.slice(0, 3), [1, 2, 1]);
  network.before = () => {};
  await assertComplete(archived);
});

test('change sets are archived during the pause after a base that failed, and the base is not tried', async () => {
  const archived = await Archived.open(storeDirectory(), { retryDelay: () => LONG_MS });
  const { archiver, network } = archived;
  await archived.archived();
  network.before = (call, name) => {
    if (call === 'put' && name.startsWith('bases/')) unreachable();
  };
  await commitToCheckpoint(archived);
  await until('the base failed', () => archiver.figures.failing !== null);
  network.before = () => {};
  const { sequence } = archived.store;
  await archived.commit(2);
  await archived.close();
  assert.is(network.in('bases').length, 1);
  assert.is((await readArchive(archived.objects, {})).sequence, sequence + 2);
});

test('an archive keeps what a restore within its retention needs, and loses what is older', async () => {
  const hour = 3_600_000;
  let ahead = 0;
  const now = () => Date.now() + ahead;
  const archived = await Archived.open(storeDirectory(), { keep: hour, now });
  const { network } = archived;
  await archived.archived();
  const looks = () => network.calls.filter((call) => call === 'list bases').length;
  await until('it has looked for old bases', () => looks() > 0);
  const before = looks();
  const [oldest] = network.in('bases');
  await commitToCheckpoint(archived);
  await archived.archived();
  await until('it has looked again', () => looks() > before);
  await archived.commit(1);
  await archived.archived();
  assert.is(network.in('bases')[0], oldest);
  assert.is((await readArchive(archived.objects, { sequence: 1 })).sequence, 1);
  ahead = 2 * hour;
  while (network.in('bases').length > 1) await archived.commit(1);
  await assertComplete(archived);
});

test('if the history is too short, a new base is archived, and the lost change sets are logged', async () => {
  const directory = storeDirectory();
  const network = new MemoryObjects();
  const archived = await Archived.open(directory, { network, history: 2 * BLOCK });
  await archived.commit(2);
  await archived.archived();
  network.before = unreachable;
  await archived.commit(30);
  await archived.kill();
  network.before = () => {};
  const again = await Archived.open(directory, { network, history: 2 * BLOCK });
  await again.archived();
  assert.match(again.log.join(), 'after change set 2 will never be archived');
  const { findings, gaps } = await checkArchive(again.objects);
  assert.equal(findings, []);
  assert.match(gaps.join(), /^change sets 3 to \d+$/);
  assert.is((await readArchive(again.objects, {})).sequence, again.store.sequence);
  assert.is((await readArchive(again.objects, { sequence: 2 })).sequence, 2);
  try {
    await readArchive(again.objects, { sequence: 10 });
    assert.unreachable();
  } catch (error) {
    assert.match(String(error), 'has a gap after change set 2');
  }
  await again.close();
});

test('a base that could not be archived is no failure any more once a later one is', async () => {
  const archived = await Archived.open(storeDirectory(), { history: 2 * BLOCK });
  const { network, archiver } = archived;
  await archived.archived();
  network.before = (call, name) => {
    if (call === 'put' && name.startsWith('bases/')) unreachable();
  };
  while (archiver.figures.failing === null) await archived.commit(1);
  network.before = unreachable;
  const isLost = () => archived.log.some((line) => line.includes('will never be archived'));
  while (!isLost()) await archived.commit(1);
  network.before = () => {};
  await until('the archive has a new base', () => archiver.figures.changeSets === 0);
  await until('nothing fails', () => archiver.figures.failing === null);
  await archived.close();
});

test('change sets whose upload was not confirmed before others were lost are not in the gap', async () => {
  const archived = await Archived.open(storeDirectory(), { history: 2 * BLOCK });
  const { network } = archived;
  await archived.commit(2);
  await archived.archived();
  network.after = (call, name) => {
    if (call !== 'put' || !name.startsWith('changes/')) return;
    network.before = unreachable;
    unreachable();
  };
  await archived.commit(1);
  await until('the network is cut', () => network.before === unreachable);
  const isLost = () => archived.log.some((line) => line.includes('will never be archived'));
  while (!isLost()) await archived.commit(1);
  [network.before, network.after] = [() => {}, () => {}];
  await archived.archived();
  const { findings, gaps } = await checkArchive(archived.objects);
  assert.equal(findings, []);
  assert.match(gaps.join(), /^change sets 4 to \d+$/);
  assert.is((await readArchive(archived.objects, { sequence: 3 })).sequence, 3);
  await archived.close();
});

test('every gap of a server that archived only bases for a while is noted', async () => {
  const archived = await Archived.open(storeDirectory(), { history: 2 * BLOCK });
  const { network, store } = archived;
  await archived.commit(2);
  await archived.archived();
  network.before = (call, name) => {
    if (call === 'put' && name.startsWith('changes/')) throw new Error('connection reset');
  };
  for (let checkpoints = 0; checkpoints < 2; checkpoints += 1) {
    await commitToCheckpoint(archived);
    await until('the archive has its base', () => archived.hasBase);
  }
  network.before = () => {};
  await archived.commit(1);
  await archived.archived();
  const { findings, gaps } = await checkArchive(archived.objects);
  assert.equal(findings, []);
  assert.match(gaps[0] ?? '', /^change sets 3 to /);
  assert.is((await readArchive(archived.objects, {})).sequence, store.sequence);
  await archived.close();
});

/** Waits until the archive is refused. @returns the reason. */
async function refusalOf(archived: Archived): Promise<string> {
  await until('it is refused', () => archived.archiver.figures.failing !== null);
  const { failing } = archived.archiver.figures;
  await archived.close();
  return failing ?? '';
}

test('an archive of another history is refused, and is not changed', async () => {
  const network = new MemoryObjects();
  const first = await Archived.open(storeDirectory(), { network });
  await first.commit(3);
  await first.archived();
  await first.close();
  const before = new Map(network.objects);
  network.before = unreachable;
  const other = await Archived.open(storeDirectory(), { network });
  await other.commit(5);
  network.before = () => {};
  await until('it is refused', () => !/reached/.test(other.archiver.figures.failing ?? 'reached'));
  assert.match(await refusalOf(other), 'another history');
  assert.equal(network.objects, before);
});

test('an archive that is ahead of the store is refused', async () => {
  const network = new MemoryObjects();
  const directory = storeDirectory();
  const first = await Archived.open(directory, { network });
  await first.commit(3);
  await first.archived();
  await first.close();
  const earlier = storeDirectory();
  cpSync(directory, earlier, { recursive: true });
  const resumed = await Archived.open(directory, { network });
  await resumed.commit(1);
  await resumed.archived();
  await resumed.close();
  const stale = await Archived.open(earlier, { network });
  assert.match(await refusalOf(stale), 'ends with change set 4, and the store with 3');
});

test('if two servers have one archive, only the one that started later writes to it', async () => {
  const directory = storeDirectory();
  const network = new MemoryObjects();
  const first = await Archived.open(directory, { network });
  await first.commit(2);
  await first.archived();
  const copy = storeDirectory();
  cpSync(directory, copy, { recursive: true });
  const second = await Archived.open(copy, { network });
  await second.archived();
  await second.commit(1);
  await second.archived();
  await first.commit(1);
  assert.match(await refusalOf(first), 'another server writes to memory: now');
  await assertComplete(second);
});

test('an empty location is refused if the store was archived before', async () => {
  const directory = storeDirectory();
  const first = await Archived.open(directory);
  await first.archived();
  await first.close();
  const network = new MemoryObjects();
  const again = await Archived.open(directory, { network });
  assert.match(await refusalOf(again), 'is empty, but this store was archived before');
  assert.is(network.objects.size, 0);
  rmSync(join(directory, 'archive.json'));
  await assertComplete(await Archived.open(directory, { network }));
});

test('an archive that is empty for a while, like a lost mount, is written again when it is back', async () => {
  const archived = await Archived.open(storeDirectory());
  await archived.commit(2);
  await archived.archived();
  const { objects } = archived.network;
  const kept = new Map(objects);
  objects.clear();
  await archived.commit(2);
  await until('it is noticed', () => archived.archiver.figures.failing !== null);
  assert.match(
    archived.archiver.figures.failing ?? '',
    'check that it is the right bucket or directory',
  );
  assert.is(objects.size, 0);
  for (const [name, bytes] of kept) objects.set(name, bytes);
  await assertComplete(archived);
});

test('a missing, different or superfluous key is refused, and the archive is not changed', async () => {
  const [own, another] = [{ key: randomBytes(32) }, { key: randomBytes(32) }];
  for (const [written, given, reason, isWhole] of [
    [own, {}, 'is encrypted; name its key with --archive-key', true],
    [own, another, 'name that key with --archive-key', true],
    [{}, another, 'is not encrypted; leave out --archive-key', true],
    [own, {}, 'is encrypted; name its key with --archive-key', false],
    [own, another, 'was encrypted with another key', false],
    [{}, another, 'is not encrypted', false],
  ] as const) {
    const directory = storeDirectory();
    const network = new MemoryObjects();
    const first = await Archived.open(directory, { network, ...written });
    await first.archived();
    await first.close();
    if (!isWhole) network.objects.delete('archive.json');
    const before = new Map(network.objects);
    const next = await Archived.open(directory, { network, ...given });
    await next.commit(1);
    assert.match(await refusalOf(next), reason);
    assert.equal(network.objects, before);
  }
});

test('accounts and keys are archived when they change', async () => {
  let [content, changed] = ['one', true];
  const privateFiles = {
    changed: () => changed,
    read() {
      changed = false;
      return Buffer.from(content);
    },
  };
  const archived = await Archived.open(storeDirectory(), { privateFiles, key: randomBytes(32) });
  const isArchived = async () => (await archived.objects.readPrivate())?.toString() === content;
  await until('they are archived', isArchived);
  [content, changed] = ['two', true];
  await until('the new ones are archived', isArchived);
  await archived.close();
});

test('accounts and keys whose upload fails are uploaded again, though they have not changed since', async () => {
  const network = new MemoryObjects();
  let [content, isChanged] = ['one', true];
  const privateFiles = {
    changed: () => isChanged,
    read() {
      isChanged = false;
      return Buffer.from(content);
    },
  };
  const key = randomBytes(32);
  const archived = await Archived.open(storeDirectory(), { network, privateFiles, key });
  await until('they are archived', () => network.objects.has('private'));
  let failures = 0;
  network.before = (call, name) => {
    if (call !== 'put' || name !== 'private' || failures === 2) return;
    failures += 1;
    unreachable();
  };
  [content, isChanged] = ['two', true];
  await until('the new ones are archived', async () => {
    return (await archived.objects.readPrivate())?.toString() === 'two';
  });
  assert.is(failures, 2);
  await archived.close();
});

test('accounts and keys that cannot be read are tried again', async () => {
  let failures = 0;
  const privateFiles = {
    changed: () => false,
    read() {
      failures += 1;
      if (failures <= 2) throw new Error('input/output error');
      return Buffer.from('whole');
    },
  };
  const archived = await Archived.open(storeDirectory(), { privateFiles, key: randomBytes(32) });
  await until('they are archived', async () => {
    return (await archived.objects.readPrivate())?.toString() === 'whole';
  });
  await archived.archived();
  assert.equal(archived.log, ['input/output error', 'memory: can be reached again']);
  await archived.close();
});

test('damaged accounts and keys do not replace those of the archive, and changes go on', async () => {
  const damages = [
    new CatalogError('key_file', 'keys.json is damaged'),
    new CatalogError('access_file', 'access.json is damaged'),
  ];
  let [content, changed]: [string | Error, boolean] = ['whole', true];
  let [isStill, reads] = [false, 0];
  const privateFiles = {
    changed: () => changed,
    read() {
      reads += 1;
      changed = isStill;
      if (typeof content !== 'string') throw content;
      return Buffer.from(content);
    },
  };
  const archived = await Archived.open(storeDirectory(), { privateFiles, key: randomBytes(32) });
  const copy = async () => (await archived.objects.readPrivate())?.toString();
  await until('they are archived', async () => (await copy()) === 'whole');
  for (const [index, damage] of damages.entries()) {
    [content, changed] = [damage, true];
    await archived.commit(1);
    await archived.archived();
    await until('the damage is reported', () => archived.log.length > index);
    await archived.commit(1);
    await archived.archived();
    assert.is(await copy(), 'whole');
    assert.equal(archived.log.slice(index), [
      `memory: keeps the accounts and keys that it has: ${damage.message}`,
    ]);
  }
  // As a broken link, which is never known to be unchanged.
  isStill = true;
  [content, changed] = [new CatalogError('key_file', 'keys.json is gone'), true];
  await until('it is reported', () => archived.log.at(-1)?.endsWith('is gone') === true);
  const { length } = archived.network.calls;
  const before = reads;
  await until('it is read again', () => reads > before + 1);
  assert.is(archived.log.length, damages.length + 1, 'it is reported once');
  assert.is(archived.network.calls.length, length, 'the archive is not asked');
  isStill = false;
  [content, changed] = ['mended', true];
  await until('the new ones are archived', async () => (await copy()) === 'mended');
  await archived.close();
});

test('the keys of a server are archived if and only if the archive has a key', async () => {
  const archiveKey = join(temporaryDirectory(), 'archive.key');
  await createKeyFile(quickDisk, archiveKey);
  const archive = { kind: 'directory', path: '/archive' } as const;
  const encrypted = new MemoryObjects();
  const server = await openService({ archive, archiveStore: encrypted, archiveKey, ownKeys: true });
  await until('they are archived', () => encrypted.objects.has('private'));
  await server.stop();
  const copy = await new ArchiveObjects(encrypted, readKeyFile(archiveKey)).readPrivate();
  const { 'keys.json': keys } = JSON.parse(copy?.toString() ?? '');
  assert.is(keys, readFileSync(join(server.data, 'keys.json'), 'utf8'));

  const plain = new MemoryObjects();
  const other = await openService({ archive, archiveStore: plain, ownKeys: true });
  await until('the archive has the catalog', () => plain.in('bases').length > 0);
  await other.stop();
  assert.ok(existsSync(join(other.data, 'keys.json')));
  assert.not.ok(plain.objects.has('private'));
});

test.run();
