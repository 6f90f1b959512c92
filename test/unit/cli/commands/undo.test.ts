/** spec 8.12: `undo` on the command line. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { KINDS } from '../../../../src/model/kinds.ts';
import { AuditedStore } from '../../../../src/resources/audit/audited-store.ts';
import { Records } from '../../../../src/resources/records.ts';
import { checkStore } from '../../../../src/store/check.ts';
import { readSnapshot } from '../../../../src/store/directory.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { quickDisk } from '../../../support/disk.ts';
import { callProgram } from '../../../support/program.ts';
import { openQuickStore } from '../../../support/quick-store.ts';

const BRANDS = { kind: KINDS.brands, parent: null };

const open = (directory: string) => openQuickStore(directory, { command: 'serve' });

/** Ann creates brand 1 and renames it; a day later Bob creates brand 2: entries 1, 2 and 3. */
async function written(): Promise<string> {
  const directory = temporaryDirectory();
  const store = await open(directory);
  let now = Date.UTC(2026, 10, 21, 8);
  const records = new Records(new AuditedStore(store, { now: () => now }));
  await records.create(BRANDS, { name: 'One' }, { subject: 'ann', key: null });
  await records.update(BRANDS, 1, 'partial', { name: 'Uno' }, null, 'ann');
  now += 24 * 3600 * 1000;
  await records.create(BRANDS, { name: 'Two' }, { subject: 'bob', key: null });
  await store.close();
  return directory;
}

const undo = (data: string, ...args: readonly string[]) =>
  callProgram(['undo', '--data', data, ...args]);

const namesIn = (data: string) => {
  const store = readSnapshot(data);
  return [...store.ids('brands')].map((id) => store.get('brands', id)?.name);
};

test('entries are undone in one commit, from the newest to the oldest', async () => {
  const data = await written();
  const { sequence } = readSnapshot(data);
  const { status, stdout, stderr } = await undo(data, '1', '2');
  assert.is(status, 0, stderr);
  assert.is(stdout, 'brand 1 deleted\n');
  assert.equal(namesIn(data), ['Two']);
  const after = readSnapshot(data);
  assert.is(after.sequence, sequence + 1);
  assert.match(after.get('audits', 4)?.subject ?? '', /^cli:./);
  assert.is(after.lastId('brands'), 2);
  assert.equal(checkStore(quickDisk, data).findings, []);
  // The undo itself is undone.
  assert.is((await undo(data, '4')).stdout, 'brand 1 put back\n');
  assert.equal(namesIn(data), ['Uno', 'Two']);
  assert.equal(checkStore(quickDisk, data).findings, []);
});

test('--subject with --since and --until selects the entries of a subject in a period', async () => {
  const data = await written();
  const none = await undo(data, '--subject', 'ann', '--since', '2026-11-22');
  assert.is(none.status, 1);
  assert.match(none.stderr, 'ann has no audit entries since 2026-11-22T00:00:00.000Z');
  const past = await undo(
    data,
    '--subject',
    'bob',
    '--since',
    '2026-11-20',
    '--until',
    '2026-11-21',
  );
  assert.is(past.status, 1);
  const [since, until] = ['2026-11-22', '2026-11-22T08:00:00Z'];
  const ofBob = await undo(data, '--subject', 'bob', '--since', since, '--until', until);
  assert.equal([ofBob.status, ofBob.stdout], [0, 'brand 2 deleted\n']);
  const both = await undo(data, '--subject', 'ann', '--since', '2026-11-21T08:00:00Z');
  assert.equal([both.status, both.stdout], [0, 'brand 1 deleted\n']);
  assert.equal(namesIn(data), []);
});

test('--subject leaves out what the subject did to accounts, which cannot be undone', async () => {
  const data = await written();
  const store = await open(data);
  const audited = new AuditedStore(store, { now: () => Date.UTC(2026, 10, 22, 9) });
  const account = { resource: 'users', resource_id: 1, before: null, after: '{"name":"cy"}' };
  await audited.record('bob', { action: 'create', ...account });
  await store.close();
  const { status, stdout, stderr } = await undo(data, '--subject', 'bob', '--since', '2026-11-22');
  assert.equal([status, stdout, stderr], [0, 'brand 2 deleted\n', '']);
});

test('rows that have changed since are listed, and nothing is undone without --force', async () => {
  const data = await written();
  const refused = await undo(data, '3', '1');
  assert.is(refused.status, 1);
  assert.is(refused.stdout, 'brand 1 has changed since audit entry 1: name\n');
  assert.match(
    refused.stderr,
    /^catalog-server: nothing was undone: [^\n]+--force overwrites it\n$/,
  );
  assert.equal(namesIn(data), ['Uno', 'Two']);
  const dry = await undo(data, '3', '1', '--force', '--dry-run');
  assert.equal(
    [dry.status, dry.stdout],
    [0, 'brand 2 would be deleted\nbrand 1 would be deleted\n'],
  );
  assert.equal(namesIn(data), ['Uno', 'Two']);
  const forced = await undo(data, '3', '1', '--force');
  assert.is(forced.status, 0, forced.stderr);
  assert.equal(namesIn(data), []);
});

test('every row that has changed since is listed', async () => {
  const data = await written();
  const store = await open(data);
  const records = new Records(new AuditedStore(store));
  await records.update(BRANDS, 2, 'partial', { name: 'Due' }, null, 'ann');
  await store.close();
  const { status, stdout, stderr } = await undo(data, '3', '1');
  assert.is(status, 1);
  assert.equal(stdout.split('\n').sort(), [
    '',
    'brand 1 has changed since audit entry 1: name',
    'brand 2 has changed since audit entry 3: name',
  ]);
  assert.match(stderr, /: rows have changed since, [^\n]+--force overwrites them\n$/);
});

test('--dry-run prints what would be undone and writes nothing, even while a server is running', async () => {
  const data = await written();
  const store = await open(data);
  const dry = await undo(data, '2', '--dry-run');
  assert.equal([dry.status, dry.stdout], [0, 'brand 1 would be changed back\n']);
  assert.is((await undo(data, '1', '--dry-run')).status, 1);
  const { status, stderr } = await undo(data, '2');
  assert.is(status, 1);
  assert.match(stderr, 'POST /admin/audits/<id>/reversal/');
  await store.close();
  assert.equal(namesIn(data), ['Uno', 'Two']);
});

test('arguments that select no entries, or select them in two ways, are wrong usage', async () => {
  const data = await written();
  for (const args of [
    [],
    ['x'],
    ['1', '--subject', 'ann'],
    ['--subject', 'ann'],
    ['--since', '2026-11-21'],
    ['--subject', 'ann', '--since', 'yesterday'],
    ['--subject', 'ann', '--since', '2026-11-22', '--until', '2026-11-21'],
  ]) {
    const { status, stderr } = await undo(data, ...args);
    assert.is(status, 2, `${args.join(' ')}: ${stderr}`);
  }
  const unknown = await undo(data, '9');
  assert.is(unknown.status, 1);
  assert.match(unknown.stderr, 'there is no audit entry 9');
  const nothing = await undo(temporaryDirectory(), '1');
  assert.is(nothing.status, 1);
  assert.match(
    nothing.stderr,
    /holds no store; [^\n]+ migrate --data \S+\n$/,
    'no server is named',
  );
});

test.run();
