/** spec 15.5: the check of an archive reads everything; old objects are removed. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ArchiveObjects } from '../../../src/archive/archive-objects.ts';
import { checkArchive } from '../../../src/archive/check.ts';
import { baseName, changesName } from '../../../src/archive/names.ts';
import { readArchive } from '../../../src/archive/replay.ts';
import { prune } from '../../../src/archive/retention.ts';
import { inTurns } from '../../../src/slices.ts';
import { baseSlices } from '../../../src/store/files/base.ts';
import { encodeChangeSet } from '../../../src/store/files/change-set.ts';
import { SCHEMA_VERSION } from '../../../src/store/files/schema.ts';
import { Archived, textOf } from '../../support/archive.ts';
import { storeDirectory } from '../../support/checked.ts';
import { failureMessage } from '../../support/failure.ts';
import { MemoryObjects } from '../../support/object-store.ts';
import { until } from '../../support/until.ts';

/** An archive with several bases. Each of the first two change sets is in an object of its own. */
async function grown(): Promise<Archived> {
  const archived = await Archived.open(storeDirectory());
  await archived.archived();
  for (let times = 0; times < 2; times += 1) {
    await archived.commit(1);
    await archived.archived();
  }
  for (let times = 0; times < 4; times += 1) {
    const bases = archived.network.in('bases').length;
    await archived.commit(10);
    // The checkpoint is begun by the commits and may end after them.
    await until('the base of these commits is archived', () => {
      return archived.network.in('bases').length > bases;
    });
    await archived.archived();
  }
  await archived.close();
  return archived;
}

test('the check of an undamaged archive finds nothing, and returns the state of the store', async () => {
  const archived = await grown();
  const { findings, gaps, bases, first, state } = await checkArchive(archived.objects);
  assert.equal([findings, gaps, first], [[], [], 0]);
  assert.is(bases, archived.network.in('bases').length);
  assert.ok(bases > 2, `${bases} bases`);
  assert.is(state && textOf(state), textOf(archived.store));
});

test('a damaged base is reported, even if a restore to the latest state does not need it', async () => {
  const archived = await grown();
  const [, second = ''] = archived.network.in('bases');
  const bytes = Buffer.from(archived.network.objects.get(`bases/${second}`) ?? []);
  bytes[bytes.length - 200] = 0x20;
  archived.network.objects.set(`bases/${second}`, bytes);
  const { findings } = await checkArchive(archived.objects);
  assert.is(findings.length, 1, findings.join('\n'));
  assert.match(findings.join(), second);
});

test('a place without an archive and an archive without a base are reported as such', async () => {
  const objects = new ArchiveObjects(new MemoryObjects(), null);
  for (const read of [() => readArchive(objects, {}), () => checkArchive(objects)]) {
    assert.match(await failureMessage(read, 'archive_failed'), 'holds no archive');
  }
  await objects.createManifest('archive');
  const restored = failureMessage(readArchive(objects, {}), 'archive_failed');
  assert.match(await restored, 'has no base yet');
  const { findings, state } = await checkArchive(objects);
  assert.equal(findings, [`${objects.url} has no base, so nothing can be restored`]);
  assert.is(state, null);
});

test('missing objects of change sets are reported with their numbers', async () => {
  const archived = await grown();
  const names = archived.network.in('changes');
  // Those between them and the next base are there.
  for (const [nth, which] of ['set 1 is', 'sets 1 to 2 are'].entries()) {
    archived.network.objects.delete(`changes/${names[nth]}`);
    const { findings, gaps } = await checkArchive(archived.objects);
    const advice = '--sequence 0 restores the last state before';
    assert.equal(findings, [`${archived.objects.url}: change ${which} missing; ${advice}`]);
    assert.equal(gaps, []);
  }
});

/** An archive with an object for each change set. */
async function separate(): Promise<Archived> {
  const archived = await grown();
  const { network } = archived;
  for (const name of network.in('changes')) {
    const lines = Buffer.from(network.objects.get(`changes/${name}`) ?? []).toString();
    network.objects.delete(`changes/${name}`);
    for (const line of lines.trimEnd().split('\n')) {
      const { sequence, time, sha256: digest } = JSON.parse(line);
      const each = changesName({ first: sequence, last: sequence, time, digest });
      await archived.objects.putChanges(each, [Buffer.from(`${line}\n`)]);
    }
  }
  return archived;
}

for (const [where, offset] of [
  ['ends at a base', 0],
  ['begins after a base', 1],
] as const) {
  test(`a damaged object that ${where} is reported once`, async () => {
    const archived = await separate();
    const { network } = archived;
    const [, base = ''] = network.in('bases');
    const name = network
      .in('changes')
      .find((each) => Number(each.slice(0, 12)) === Number(base.slice(0, 12)) + offset);
    const bytes = network.objects.get(`changes/${name}`) ?? Buffer.alloc(0);
    network.objects.set(`changes/${name}`, Buffer.concat([bytes, Buffer.from('damaged\n')]));
    const { findings } = await checkArchive(archived.objects);
    assert.is(findings.length, 1, findings.join('\n'));
    assert.match(findings.join(), `${name}`);
  });
}

test('what a change set does to rows that are not there is reported, with its number', async () => {
  const archived = await Archived.open(storeDirectory());
  await archived.archived();
  await archived.close();
  const before = archived.store.snapshot();
  const time = '2026-01-01T00:00:00.000Z';
  const book = {
    id: 7,
    name: 'A',
    pub_date: '1922-02-02',
    readcount: 0,
    commentcount: 0,
    image: '',
  };
  const { bytes, changeSet } = encodeChangeSet({
    sequence: before.sequence + 1,
    previous: before.digest,
    time,
    last_ids: {},
    put: {},
    delete: { books: [7] },
    before: { books: [book] },
  });
  const { sequence, digest } = changeSet;
  await archived.objects.putChanges(
    changesName({ first: sequence, last: sequence, time, digest }),
    [bytes],
  );
  const { findings } = await checkArchive(archived.objects);
  const place = `${archived.objects.url}: change set ${sequence}`;
  const advice = `--sequence ${before.sequence} restores the last state before`;
  assert.equal(findings, [
    `${place}: its record of book 7 before the change does not match the row; ${advice}`,
    `${place}: it deletes book 7, which is not there; ${advice}`,
  ]);
});

test('a base that the change sets before it do not lead to is reported by its name', async () => {
  const archived = await grown();
  const [, second = ''] = archived.network.in('bases');
  const other = await Archived.open(storeDirectory());
  await other.commit(Number(second.slice(0, 12)));
  const { digest, time, sequence } = other.store.snapshot();
  const name = baseName({ sequence, schema: SCHEMA_VERSION, time, digest });
  await archived.objects.putBase(name, inTurns(baseSlices(other.store.snapshot())));
  archived.network.objects.delete(`bases/${second}`);
  await other.close();
  const { findings } = await checkArchive(archived.objects);
  assert.match(findings.join('\n'), `bases/${name} does not match the change sets before it`);
});

test('prune removes what no restore within the retention time needs, and nothing else', async () => {
  const archived = await grown();
  const { objects, network } = archived;
  const times = await Promise.all(
    network.in('bases').map(async (name) => ({
      sequence: Number(name.slice(0, 12)),
      time: (await readArchive(objects, { sequence: Number(name.slice(0, 12)) })).time,
    })),
  );
  const kept = times.at(-2);
  const since = Date.parse(kept?.time ?? '');
  const at = new Date(since).toISOString();
  const before = textOf(await readArchive(objects, { at }));
  await prune(objects, 0, since);
  assert.is(Number(network.in('bases')[0]?.slice(0, 12)), kept?.sequence);
  assert.ok(Number(network.in('changes')[0]?.slice(13, 25)) > (kept?.sequence ?? 0));
  assert.is(textOf(await readArchive(objects, { at })), before);
  assert.equal((await checkArchive(objects)).findings, []);
  const names = [...network.objects.keys()];
  await prune(objects, 0, since);
  assert.equal([...network.objects.keys()], names);
});

test('an interrupted removal leaves an undamaged archive, and the next one completes it', async () => {
  const archived = await grown();
  const { objects, network } = archived;
  let removed = 0;
  network.after = (call) => {
    if (call !== 'remove') return;
    removed += 1;
    if (removed === 3) throw new Error('connection reset');
  };
  await prune(objects, 0, Date.now() + 1000).then(
    () => assert.unreachable(),
    () => {},
  );
  assert.equal((await checkArchive(objects)).findings, []);
  await prune(objects, 0, Date.now() + 1000);
  assert.is(network.in('bases').length, 1);
  assert.equal((await checkArchive(objects)).findings, []);
  const names = [...network.objects.keys()];
  // Every base is later.
  await prune(objects, 0, 0);
  assert.equal([...network.objects.keys()], names);
});

test.run();
