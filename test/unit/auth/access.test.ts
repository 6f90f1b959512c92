/** `access.json`: damage is refused, changes are serialized, and some of them revoke tokens. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { assert as assertProperty, array, constantFrom, property } from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type AccessDraft, changeAccess, readAccess } from '../../../src/auth/access.ts';
import {
  addAccount,
  changeAccount,
  endToken,
  endTokens,
  removeAccount,
} from '../../../src/auth/accounts.ts';
import { withTimeout } from '../../../src/delay.ts';
import { FileLock } from '../../../src/disk/lock.ts';
import { accountOf, emptyDraft } from '../../support/credentials.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { quickDisk } from '../../support/disk.ts';
import { failureMessage } from '../../support/failure.ts';
import { RefusingDisk } from '../../support/refusing-disk.ts';
import { turn } from '../../support/turns.ts';

/** Seconds since the epoch. */
const NOW = 1_800_000_000;
const TEN_YEARS = 10 * 365 * 86_400;

const pathIn = (directory: string) => join(directory, 'access.json');

function change<T>(directory: string, apply: (draft: AccessDraft, now: number) => T, now = NOW) {
  return changeAccess(quickDisk, directory, apply, { clock: () => now * 1000 });
}

test('accounts and revocations are read back as they were written', async () => {
  const directory = temporaryDirectory();
  assert.is(readAccess(pathIn(directory)), null);
  await change(directory, (draft) => {
    addAccount(draft, accountOf('ann'));
    addAccount(draft, accountOf('Анна', { role: 'viewer', disabled: true }));
    endTokens(draft, ' any "subject" \u0000', NOW);
    endToken(draft, '__proto__', NOW + 60);
    endToken(draft, 'one', null);
  });
  const access = readAccess(pathIn(directory));
  assert.equal(
    [...(access?.users.values() ?? [])],
    [accountOf('ann'), accountOf('Анна', { role: 'viewer', disabled: true })],
  );
  assert.equal([...(access?.subjects ?? [])], [[' any "subject" \u0000', NOW]]);
  assert.equal(
    [...(access?.tokens ?? [])],
    [
      ['__proto__', NOW + 60],
      ['one', null],
    ],
  );
});

test('the file has mode 0600 under any umask, and its times are written in ISO 8601', async () => {
  for (const mask of [0, 0o022, 0o077]) {
    const directory = temporaryDirectory();
    const before = process.umask(mask);
    try {
      await change(directory, (draft) => addAccount(draft, accountOf('ann')));
    } finally {
      process.umask(before);
    }
    assert.is(statSync(pathIn(directory)).mode & 0o777, 0o600);
    assert.match(readFileSync(pathIn(directory), 'utf8'), '"created": "2023-11-14T22:13:20Z"');
    assert.equal(readdirSync(directory).sort(), ['access.json', 'access.lock']);
  }
});

const good = {
  users: [
    {
      name: 'ann',
      role: 'editor',
      disabled: false,
      created: '2026-11-21T17:25:35Z',
      password: '$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA',
    },
  ],
  revoked_subjects: [{ subject: 'bob', until: '2026-11-21T17:25:35Z' }],
  revoked_tokens: [{ jti: 'one', expires: null }],
};
const [user] = good.users;

function withHash(parameters: string) {
  return { ...user, password: `$argon2id$v=19$${parameters}$c2FsdA$aGFzaA` };
}

const DAMAGED: Readonly<Record<string, unknown>> = {
  'truncated JSON': undefined,
  null: null,
  'an array': [],
  'an empty object': {},
  'no users': { ...good, users: undefined },
  'users by name': { ...good, users: { ann: user } },
  'an unknown member': { ...good, groups: [] },
  'an unknown member of a user': { ...good, users: [{ ...user, admin: true }] },
  'an unknown role': { ...good, users: [{ ...user, role: 'root' }] },
  'a user twice': { ...good, users: [user, user] },
  'a password that is not a hash': { ...good, users: [{ ...user, password: 'correct horse' }] },
  'a hash of another algorithm': {
    ...good,
    users: [{ ...user, password: '$2b$10$abcdefghijklmnopqrstuv' }],
  },
  'a hash without memory': { ...good, users: [withHash('m=0,t=2,p=1')] },
  'a hash without passes': { ...good, users: [withHash('m=19456,t=0,p=1')] },
  'disabled as a string': { ...good, users: [{ ...user, disabled: 'no' }] },
  'a day that does not exist': { ...good, users: [{ ...user, created: '2026-02-30T00:00:00Z' }] },
  'a number for a time': { ...good, revoked_subjects: [{ subject: 'bob', until: 1 }] },
  'a revocation without its time': { ...good, revoked_subjects: [{ subject: 'bob' }] },
  'a revoked token without its expiry': { ...good, revoked_tokens: [{ jti: 'one' }] },
};

test('the file from which the damaged files are made is valid', () => {
  const path = pathIn(temporaryDirectory());
  writeFileSync(path, JSON.stringify(good), { mode: 0o600 });
  assert.is(readAccess(path)?.users.size, 1);
});

for (const [what, content] of Object.entries(DAMAGED)) {
  test(`a damaged access file is refused and left unchanged: ${what}`, async () => {
    const directory = temporaryDirectory();
    const path = pathIn(directory);
    const text = content === undefined ? '{"users": [' : JSON.stringify(content);
    writeFileSync(path, text, { mode: 0o600 });
    assert.match(await failureMessage(() => readAccess(path), 'access_file'), path);
    await failureMessage(
      () => change(directory, (draft) => endToken(draft, 'one', null)),
      'access_file',
    );
    assert.is(readFileSync(path, 'utf8'), text);
  });
}

test('a hash that would take too much at a login is refused, and the error names the account', async () => {
  const path = pathIn(temporaryDirectory());
  const read = (parameters: string) => {
    const users = [{ ...user, name: 'bob' }, withHash(parameters)];
    writeFileSync(path, JSON.stringify({ ...good, users }), { mode: 0o600 });
    return readAccess(path);
  };
  for (const most of ['m=131072,t=10,p=16', 'm=65536,t=3,p=4', 'm=8,t=1,p=1']) {
    assert.is(read(most)?.users.size, 2, most);
  }
  for (const more of [
    'm=131073,t=10,p=16',
    'm=131072,t=11,p=16',
    'm=131072,t=10,p=17',
    'm=99999999,t=1,p=1',
    'm=4294967295,t=999,p=999',
  ]) {
    assert.is(
      await failureMessage(() => read(more), 'access_file'),
      `${path}: the hash of the password of ann takes more than 128 MiB, 10 passes or 16 lanes; restore it from a backup`,
    );
  }
});

test('a file that other users can access is refused, and the error names the chmod command', async () => {
  const path = pathIn(temporaryDirectory());
  writeFileSync(path, JSON.stringify(good));
  for (const mode of [0o640, 0o604, 0o644, 0o620, 0o666]) {
    chmodSync(path, mode);
    assert.match(await failureMessage(() => readAccess(path), 'access_file'), `chmod 600 ${path}`);
  }
  chmodSync(path, 0o400);
  assert.ok(readAccess(path));
});

test('a directory in place of the file is refused', async () => {
  const path = pathIn(temporaryDirectory());
  mkdirSync(path);
  assert.match(await failureMessage(() => readAccess(path), 'access_file'), 'cannot be read');
});

test('concurrent changes are serialized, and none is lost', async () => {
  const directory = temporaryDirectory();
  await Promise.all(
    Array.from({ length: 25 }, (_, each) =>
      change(directory, (draft) => endToken(draft, `token ${each}`, null)),
    ),
  );
  assert.is(readAccess(pathIn(directory))?.tokens.size, 25);
  assert.equal(readdirSync(directory).sort(), ['access.json', 'access.lock']);
});

test('no other change begins before a change is written', async () => {
  const directory = temporaryDirectory();
  const begun: string[] = [];
  const revoke = (jti: string) => (draft: AccessDraft) => {
    begun.push(jti);
    endToken(draft, jti, null);
  };
  const later: Promise<void>[] = [];
  await changeAccess(quickDisk, directory, revoke('one'), {
    async announce() {
      later.push(change(directory, revoke('two')));
      for (let turns = 0; turns < 20; turns += 1) await turn();
      assert.equal(begun, ['one']);
    },
  });
  await Promise.all(later);
  assert.equal([...(readAccess(pathIn(directory))?.tokens.keys() ?? [])], ['one', 'two']);
});

test('a change waits while another process holds the lock', async () => {
  const directory = temporaryDirectory();
  const lock = new FileLock(join(directory, 'access.lock'));
  assert.ok(lock.tryLock());
  let done = false;
  const changing = change(directory, (draft) => endToken(draft, 'one', null)).then(() => {
    done = true;
  });
  for (let turns = 0; turns < 20; turns += 1)
    await new Promise((resolve) => setTimeout(resolve, 1));
  assert.not.ok(done || existsSync(pathIn(directory)));
  lock.close();
  await changing;
  assert.ok(existsSync(pathIn(directory)));
});

test('a change fails if another one, also of this process, holds the lock for ten seconds', async () => {
  const directory = temporaryDirectory();
  const lock = new FileLock(join(directory, 'access.lock'));
  assert.ok(lock.tryLock());
  const now = performance.now.bind(performance);
  let ahead = 0;
  performance.now = () => now() + (ahead += 10_001);
  try {
    const changing = failureMessage(
      change(directory, (draft) => endToken(draft, 'one', null)),
      'busy',
    );
    const message = await withTimeout(changing, 30_000, () => 'the change still waits');
    assert.match(message, /^another change of accounts or keys .*; try again$/);
    assert.not.match(message, directory, 'a client sees the message');
  } finally {
    performance.now = now;
    lock.close();
  }
  assert.not.ok(existsSync(pathIn(directory)));
  await change(directory, (draft) => endToken(draft, 'one', null));
});

test('a change that fails does not modify the file', async () => {
  const directory = temporaryDirectory();
  await change(directory, (draft) => addAccount(draft, accountOf('ann')));
  const before = readFileSync(pathIn(directory), 'utf8');
  await failureMessage(
    () => change(directory, (draft) => addAccount(draft, accountOf('ann'))),
    'account',
  );
  await failureMessage(
    () => change(directory, (draft) => removeAccount(draft, 'bob', NOW)),
    'account',
  );
  assert.is(readFileSync(pathIn(directory), 'utf8'), before);
});

for (const step of ['create', 'write', 'fdatasync', 'rename'] as const) {
  test(`if the disk refuses to ${step}, the file is unchanged and no temporary file is left`, async () => {
    const directory = temporaryDirectory();
    await change(directory, (draft) => addAccount(draft, accountOf('ann')));
    const before = readFileSync(pathIn(directory), 'utf8');
    const disk = new RefusingDisk();
    disk.refusal = (each) => (each === step ? 'ENOSPC' : null);
    const changing = () => changeAccess(disk, directory, (draft) => endToken(draft, 'one', null));
    const message = await failureMessage(changing, 'access_file');
    assert.match(message, 'nothing was changed');
    assert.is(readFileSync(pathIn(directory), 'utf8'), before);
    assert.equal(readdirSync(directory).sort(), ['access.json', 'access.lock']);
    disk.refusal = null;
    await changing();
    assert.is(readAccess(pathIn(directory))?.tokens.size, 1, 'the lock was given back');
  });
}

test('a failed sync of the directory is reported as durability_unknown', async () => {
  const directory = temporaryDirectory();
  const disk = new RefusingDisk();
  disk.refusal = (step) => (step === 'fsync' ? 'EIO' : null);
  await failureMessage(
    () => changeAccess(disk, directory, (draft) => endToken(draft, 'one', null)),
    'durability_unknown',
  );
});

test('a temporary file that a starting server has removed is written again, at most twice', async () => {
  const directory = temporaryDirectory();
  const disk = new RefusingDisk();
  let left = 2;
  disk.refusal = (step) => (step === 'rename' && left-- > 0 ? 'ENOENT' : null);
  await changeAccess(disk, directory, (draft) => endToken(draft, 'one', null));
  left = 3;
  await failureMessage(
    () => changeAccess(disk, directory, (draft) => endToken(draft, 'two', null)),
    'access_file',
  );
  assert.equal([...(readAccess(pathIn(directory))?.tokens.keys() ?? [])], ['one']);
});

test('a revocation is removed after its tokens have expired, unless their expiry is unknown', async () => {
  const directory = temporaryDirectory();
  await change(directory, (draft, now) => {
    endToken(draft, 'known', now + 600);
    endToken(draft, 'unknown', null);
    endTokens(draft, 'ann', now);
  });
  const left = async (now: number) => {
    await change(directory, () => {}, now);
    const { tokens, subjects } = readAccess(pathIn(directory)) ?? emptyDraft();
    return [...tokens.keys(), ...subjects.keys()];
  };
  assert.equal(await left(NOW + 602), ['known', 'unknown', 'ann']);
  assert.equal(await left(NOW + 661), ['unknown', 'ann']);
  assert.equal(await left(NOW + TEN_YEARS + 2), ['unknown', 'ann']);
  assert.equal(await left(NOW + TEN_YEARS + 61), ['unknown']);
});

test('a fractional expiry is rounded up, one after year 9999 is unknown, and a known one is kept', async () => {
  const directory = temporaryDirectory();
  await change(directory, (draft) => {
    endToken(draft, 'fraction', NOW + 0.5);
    endToken(draft, 'huge', 1e300);
    endToken(draft, 'last', 253_402_300_799);
    endToken(draft, 'again', NOW + 9);
    endToken(draft, 'again', null);
  });
  assert.equal(
    [...(readAccess(pathIn(directory))?.tokens ?? [])],
    [
      ['fraction', NOW + 1],
      ['huge', null],
      ['last', 253_402_300_799],
      ['again', NOW + 9],
    ],
  );
});

test('more than 100,000 accounts and revocations are refused, and the error names keys rotate', async () => {
  const directory = temporaryDirectory();
  await change(directory, (draft) => {
    addAccount(draft, accountOf('ann'));
    endTokens(draft, 'bob', NOW);
    for (let each = 0; each < 99_998; each += 1) endToken(draft, `token ${each}`, null);
  });
  const message = await failureMessage(
    () => change(directory, (draft) => endToken(draft, 'one more', null)),
    'access_file',
  );
  assert.match(message, 'keys rotate');
  assert.is(readAccess(pathIn(directory))?.tokens.size, 99_998);
  const announced: unknown[] = [];
  const announce = async (result: unknown) => void announced.push(result);
  const another = (draft: AccessDraft) => endToken(draft, 'another', null);
  await failureMessage(
    () => changeAccess(quickDisk, directory, another, { announce }),
    'access_file',
  );
  assert.equal(announced, [], 'a change that is refused is not in the audit trail');
});

test('in a full file accounts can still be disabled and removed, which revokes their tokens', async () => {
  const directory = temporaryDirectory();
  await change(directory, (draft) => {
    addAccount(draft, accountOf('ann'));
    addAccount(draft, accountOf('bob'));
    for (let each = 0; each < 99_998; each += 1) endToken(draft, `token ${each}`, null);
  });
  await failureMessage(
    () => change(directory, (draft) => addAccount(draft, accountOf('cy'))),
    'access_file',
  );
  await change(directory, (draft, now) => changeAccount(draft, 'ann', { disabled: true }, now));
  await change(directory, (draft, now) => removeAccount(draft, 'bob', now));
  const { users, subjects } = readAccess(pathIn(directory)) ?? emptyDraft();
  assert.equal(
    [...users].map(([name, { disabled }]) => [name, disabled]),
    [['ann', true]],
  );
  assert.equal([...subjects.keys()], ['ann', 'bob']);
});

test('only a change of password or role, disabling and removal revoke the tokens of an account', () => {
  const cases: readonly (readonly [string, boolean, (draft: AccessDraft) => unknown])[] = [
    [
      'passwd',
      true,
      (draft) => changeAccount(draft, 'ann', { password: '$argon2id$v=19$m=1,t=1,p=1$' }, NOW),
    ],
    ['another role', true, (draft) => changeAccount(draft, 'ann', { role: 'viewer' }, NOW)],
    ['the same role', false, (draft) => changeAccount(draft, 'ann', { role: 'editor' }, NOW)],
    ['disable', true, (draft) => changeAccount(draft, 'ann', { disabled: true }, NOW)],
    [
      'enable what is enabled',
      false,
      (draft) => changeAccount(draft, 'ann', { disabled: false }, NOW),
    ],
    ['remove', true, (draft) => removeAccount(draft, 'ann', NOW)],
  ];
  for (const [what, ends, apply] of cases) {
    const draft = emptyDraft();
    addAccount(draft, accountOf('ann'));
    addAccount(draft, accountOf('bob'));
    assert.is(draft.subjects.size, 0, 'a new account ends nothing');
    apply(draft);
    assert.equal([...draft.subjects], ends ? [['ann', NOW]] : [], what);
  }
});

test('enabling an account revokes the tokens that were issued elsewhere while it was disabled', () => {
  const draft = emptyDraft();
  addAccount(draft, accountOf('ann'));
  changeAccount(draft, 'ann', { disabled: true }, NOW);
  changeAccount(draft, 'ann', { disabled: false }, NOW + 60);
  assert.equal([...draft.subjects], [['ann', NOW + 60]]);
});

/** Sequences of revocations, issues of tokens and steps of the clock. */
const steps = array(constantFrom('revoke', 'issue', 'second', 'minute'), { maxLength: 30 });

test('a revocation affects all tokens issued before it and none issued after it in the same second', () => {
  assertProperty(
    property(steps, (each) => {
      const draft = emptyDraft();
      let now = NOW;
      let alive: number[] = [];
      const ended: number[] = [];
      for (const step of each) {
        if (step === 'second') now += 1;
        if (step === 'minute') now += 60;
        if (step === 'revoke') {
          endTokens(draft, 'ann', now);
          ended.push(...alive);
          alive = [];
        }
        if (step === 'issue') {
          const issued = Math.max(now, (draft.subjects.get('ann') ?? 0) + 1);
          // The issuer waits if the time is beyond the leeway.
          if (issued <= now + 2) alive.push(issued);
        }
        const until = draft.subjects.get('ann') ?? 0;
        assert.ok(
          alive.every((issued) => issued > until),
          'what was issued since lives',
        );
        assert.ok(
          ended.every((issued) => issued <= until),
          'what was issued before is void',
        );
        assert.ok(until <= now + 2, 'and nobody has to wait for more than a second');
        if (step === 'revoke') assert.ok(until >= now);
      }
    }),
    { numRuns: 500 },
  );
});

test.run();
