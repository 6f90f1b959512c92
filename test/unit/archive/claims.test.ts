/** spec 15.3: only the server that claimed an archive last writes to it, and removes from it. */
import { randomBytes } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ArchiveObjects } from '../../../src/archive/archive-objects.ts';
import { WRITER } from '../../../src/archive/names.ts';
import { Archived } from '../../support/archive.ts';
import { storeDirectory } from '../../support/checked.ts';
import { MemoryObjects, unreachable } from '../../support/object-store.ts';
import { until } from '../../support/until.ts';

/** Claims an archive as another server does. */
async function claim(network: MemoryObjects): Promise<void> {
  [network.before, network.after] = [() => {}, () => {}];
  await new ArchiveObjects(network, null).claim('another server');
}

/** What was written or removed after the second claim. @returns null before that. */
function changesAfterClaim({ calls }: MemoryObjects): string[] | null {
  const [, other] = [...calls.keys()].filter((at) => calls[at] === `put ${WRITER}`);
  if (other === undefined) return null;
  return calls.slice(other + 1).filter((call) => /^(put|remove)/.test(call));
}

/** Waits until a server is refused, closes it, and asserts that the archive is as it was. */
async function assertRefused(archived: Archived): Promise<void> {
  const { archiver, network } = archived;
  const isRefused = () => archiver.figures.failing?.startsWith('another server writes') === true;
  await until('it is refused, or changes the archive', () => {
    return isRefused() || (changesAfterClaim(network) ?? []).length > 0;
  });
  await archived.close();
  assert.equal(changesAfterClaim(network), []);
  assert.ok(isRefused());
}

/** Whether a call uploads a base. */
function isBase(call: string, name: string): boolean {
  return call === 'put' && name.startsWith('bases/');
}

/** Commits up to a checkpoint, while no base can be archived, and waits for the change sets. */
async function commitToBase(archived: Archived): Promise<void> {
  const { archiver, network, store } = archived;
  network.before = (call, name) => {
    if (isBase(call, name)) unreachable();
  };
  const { baseSequence } = store;
  while (store.baseSequence === baseSequence) await archived.commit(1);
  await until('every change set is archived', () => archiver.figures.changeSets === 0);
}

test('a server that has lost its claim archives no first base', async () => {
  const network = new MemoryObjects();
  network.after = async (call, name) => {
    if (call === 'put' && name === WRITER) await claim(network);
  };
  const archived = await Archived.open(storeDirectory(), { network });
  await assertRefused(archived);
});

test('a server that has lost its claim archives no base after a checkpoint', async () => {
  const archived = await Archived.open(storeDirectory());
  await archived.archived();
  await commitToBase(archived);
  archived.network.before = async (call, name) => {
    if (!isBase(call, name)) return;
    await claim(archived.network);
    unreachable();
  };
  await assertRefused(archived);
});

test('a server that has lost its claim archives no accounts and keys', async () => {
  let isChanged = true;
  const privateFiles = {
    changed: () => isChanged,
    read() {
      isChanged = false;
      return Buffer.from('accounts and keys');
    },
  };
  const archived = await Archived.open(storeDirectory(), { privateFiles, key: randomBytes(32) });
  await until('they are archived', () => archived.network.objects.has('private'));
  await archived.archived();
  await claim(archived.network);
  isChanged = true;
  await assertRefused(archived);
});

test('a server that has lost its claim removes nothing', async () => {
  let now = Date.now();
  const archived = await Archived.open(storeDirectory(), { keep: 1000, now: () => now });
  await archived.archived();
  await commitToBase(archived);
  archived.network.before = () => {};
  archived.network.after = async (call, name) => {
    if (!isBase(call, name)) return;
    now += 3_600_000;
    await claim(archived.network);
  };
  await assertRefused(archived);
});

test.run();
