/** A running server sees changes of the files at once, and refuses access if one is unusable. */
import { chmodSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeProtectedHeader } from 'jose';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type AccessDraft, changeAccess } from '../../../src/auth/access.ts';
import { addAccount, endToken, endTokens } from '../../../src/auth/accounts.ts';
import { LiveCredentials } from '../../../src/auth/credentials.ts';
import { rotateKeys } from '../../../src/auth/key-rotation.ts';
import { CACHE_MS } from '../../../src/auth/private-file.ts';
import { issueToken, TokenVerifier } from '../../../src/auth/tokens.ts';
import { FileLock } from '../../../src/disk/lock.ts';
import { WatchedFile } from '../../../src/disk/watched-file.ts';
import { type Code } from '../../../src/errors.ts';
import { accountOf } from '../../support/credentials.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { quickDisk } from '../../support/disk.ts';
import { failureOf } from '../../support/failure.ts';
import { turn } from '../../support/turns.ts';

const SECRET = 'a secret of at least thirty-two bytes';

async function begin(fromEnvironment?: string) {
  const directory = temporaryDirectory();
  let time = 0;
  const live = await LiveCredentials.open(directory, fromEnvironment, { clock: () => time });
  const later = (milliseconds = CACHE_MS) => {
    time += milliseconds;
  };
  later();
  return {
    directory,
    live,
    later,
    access: join(directory, 'access.json'),
    keys: join(directory, 'keys.json'),
    change: async (apply: (draft: AccessDraft) => void) => {
      await changeAccess(quickDisk, directory, apply);
      later();
    },
  };
}

async function failure(action: () => unknown, code: Code): Promise<string> {
  const error = await failureOf(action);
  assert.is(error.code, code, error.message);
  assert.is(error.status, 500);
  return error.message;
}

test('without a file there are no accounts, and the first account takes effect at once', async () => {
  const { live, change } = await begin();
  assert.is(live.current().access.users.size, 0);
  await change((draft) => addAccount(draft, accountOf('ann')));
  assert.is(live.current().access.users.get('ann')?.role, 'editor');
});

test('every change is seen, even if changes follow each other quickly', async () => {
  const { live, change } = await begin();
  for (let each = 1; each <= 30; each += 1) {
    await change((draft) => endToken(draft, `token ${each}`, null));
    assert.is(live.current().access.tokens.size, each);
  }
});

test('if nothing changes, the same objects are returned', async () => {
  const { live, later, change } = await begin();
  await change((draft) => endToken(draft, 'one', null));
  const first = live.current();
  later();
  assert.is(live.current(), first);
  await change((draft) => endToken(draft, 'two', null));
  assert.is.not(live.current(), first);
  assert.is(live.current().keys, first.keys, 'what did not change stays');
});

test('after a rotation the new key signs and verifies at once, and the old one still verifies', async () => {
  const { live, later, directory } = await begin();
  const verifier = new TokenVerifier(live);
  const issued = Math.floor(Date.now() / 1000);
  const sign = async () => {
    const caller = { subject: 'ann', role: 'editor' } as const;
    const { keys } = live.current();
    return (await issueToken(keys, caller, { issued, expires: issued + 600 })).token;
  };
  const earlier = await sign();
  const before = live.current().keys[0].kid;
  const { made } = await rotateKeys(quickDisk, directory, 60, Date.now());
  later();
  assert.equal(
    live.current().keys.map(({ kid }) => kid),
    [made.kid, before],
  );
  const token = await sign();
  assert.is(decodeProtectedHeader(token).kid, made.kid);
  for (const each of [token, earlier]) {
    assert.is((await verifier.verify(`Bearer ${each}`)).subject, 'ann');
  }
});

test('with a secret from the environment no key file is created or read', async () => {
  const { live, later, keys } = await begin(SECRET);
  assert.throws(() => statSync(keys));
  writeFileSync(keys, 'no keys');
  later();
  assert.is(live.current().keys[0].kid, 'environment');
});

const DOUBTS: readonly (readonly [what: string, doubt: (path: string) => void])[] = [
  ['it is damaged', (path) => writeFileSync(path, '{', { mode: 0o600 })],
  ['it is empty', (path) => writeFileSync(path, '', { mode: 0o600 })],
  ['other users can read it', (path) => chmodSync(path, 0o644)],
  ['it is missing', (path) => renameSync(path, `${path}.away`)],
];

for (const name of ['access', 'keys'] as const) {
  const code = name === 'access' ? 'access_file' : 'key_file';
  for (const [what, doubt] of DOUBTS) {
    test(`access is refused while ${name}.json is unusable: ${what}`, async () => {
      const begun = await begin();
      await begun.change((draft) => addAccount(draft, accountOf('ann')));
      const path = begun[name];
      const before = begun.live.current();
      const keep = new WatchedFile(path).read()?.bytes ?? '';
      doubt(path);
      begun.later();
      for (let time = 0; time < 3; time += 1) {
        assert.match(await failure(() => begun.live.current(), code), path);
        begun.later();
      }
      rmSync(path, { force: true });
      writeFileSync(path, keep, { mode: 0o600 });
      begun.later();
      const after = begun.live.current();
      assert.is(after.access.users.size, 1);
      assert.equal(after.keys, before.keys, 'and everybody does when it is put right');
    });
  }
}

test('a damaged file fails the start', async () => {
  for (const name of ['access.json', 'keys.json']) {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, name), '{', { mode: 0o600 });
    const { message } = await failureOf(LiveCredentials.open(directory, undefined));
    assert.match(message, name);
  }
});

test('requests within a millisecond share one check of the files', async () => {
  const { live, later, access, change } = await begin();
  await change((draft) => endToken(draft, 'one', null));
  const seen = live.current();
  writeFileSync(access, '{', { mode: 0o600 });
  later(CACHE_MS * 0.9);
  assert.is(live.current(), seen);
  later(CACHE_MS * 0.2);
  await failure(() => live.current(), 'access_file');
  await failure(() => live.current(), 'access_file');
});

test('a read after a change sees the change', async () => {
  const directory = temporaryDirectory();
  const live = await LiveCredentials.open(directory, undefined);
  for (let each = 1; each <= 20; each += 1) {
    live.current();
    await changeAccess(quickDisk, directory, (draft) => {
      live.current();
      endToken(draft, `token ${each}`, null);
    });
    assert.is(live.current().access.tokens.size, each);
  }
});

test('a token is issued with a view that includes changes of the last millisecond', async () => {
  const { live, directory, change } = await begin();
  await change((draft) => addAccount(draft, accountOf('ann')));
  assert.is(live.current().access.subjects.size, 0);
  await changeAccess(quickDisk, directory, (draft) => endTokens(draft, 'ann', 1_800_000_000));
  assert.is(live.current().access.subjects.size, 0, 'the clock stands still');
  assert.is(await live.settled(({ access }) => access.subjects.size), 1);
});

test('issuing a token waits while a change holds the lock, and sees later changes', async () => {
  const { live, directory, change } = await begin();
  await change((draft) => addAccount(draft, accountOf('ann')));
  const lock = new FileLock(join(directory, 'access.lock'));
  assert.ok(lock.tryLock());
  const settled = live.settled(({ access }) => access.subjects.get('ann'));
  const blocked = await Promise.race([settled.then(() => false), turn().then(() => true)]);
  assert.ok(blocked);
  lock.close();
  await settled;
  const changing = change((draft) => endTokens(draft, 'ann', 1_800_000_000));
  await changing;
  assert.is(await live.settled(({ access }) => access.subjects.get('ann')), 1_800_000_000);
});

test('a file that is overwritten with the same length is noticed by its modification time', () => {
  const path = join(temporaryDirectory(), 'file');
  writeFileSync(path, 'one');
  const file = new WatchedFile(path);
  assert.ok(file.changed(), 'nothing was read yet');
  assert.is(String(file.read()?.bytes), 'one');
  assert.not.ok(file.changed());
  writeFileSync(path, 'two');
  utimesSync(path, 1, 1);
  assert.ok(file.changed());
  assert.is(String(file.read()?.bytes), 'two');
  file.close();
  assert.ok(file.changed());
});

test('a replaced file is noticed even if its length and modification time are the same', () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'file');
  const put = (text: string) => {
    writeFileSync(`${path}.new`, text);
    utimesSync(`${path}.new`, 1, 1);
    renameSync(`${path}.new`, path);
  };
  const file = new WatchedFile(path);
  assert.is(file.read(), null);
  for (let each = 10; each < 60; each += 1) {
    put(`${each}`);
    assert.ok(file.changed(), `${each}`);
    assert.is(String(file.read()?.bytes), `${each}`);
    assert.not.ok(file.changed());
  }
  rmSync(path);
  assert.ok(file.changed());
  assert.is(file.read(), null);
  assert.not.ok(file.changed());
  file.close();
});

test.run();
