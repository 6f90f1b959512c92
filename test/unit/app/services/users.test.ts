/** spec 6.9: the audit entries of changes of accounts that fail. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Users } from '../../../../src/app/services/users.ts';
import type { SharedFiles } from '../../../../src/auth/sharing/shared-files.ts';
import { CatalogError, type Code, hasCode } from '../../../../src/errors.ts';
import type { Act } from '../../../../src/resources/audit.ts';
import { emptyDraft } from '../../../support/credentials.ts';
import { quickDisk } from '../../../support/disk.ts';
import { temporaryDirectory } from '../../../support/directory.ts';

const ROOT = { subject: 'root', confirm: () => Promise.resolve() };

const ANN = { name: 'ann', role: 'editor', disabled: false, password: 'secret' } as const;

/**
 * The service in a directory without accounts.
 *
 * @param acts to which entries are added.
 * @param most entries that can be added.
 * @param errors to which those are added that the service reports.
 */
function usersOf(acts: Act[], shared?: SharedFiles, most = 9, errors: unknown[] = []): Users {
  return new Users({
    directory: temporaryDirectory(),
    disk: quickDisk,
    credentials: { current: () => ({ access: emptyDraft(), keys: new Map() }) } as never,
    shared,
    hash: () => Promise.resolve('$argon2id$v=19$m=1,t=1,p=1$'),
    audited: {
      async record(_subject, act) {
        if (acts.length === most) throw new CatalogError('write_refused', 'the disk is full');
        acts.push(act);
      },
    },
    onError: (error) => void errors.push(error),
  });
}

/**
 * The actions of the entries for the creation of an account whose original refuses the change, and
 * the codes of errors that are reported.
 */
async function entriesAfter(code: Code, most?: number): Promise<string[]> {
  const acts: Act[] = [];
  const errors: unknown[] = [];
  const shared = {
    pull: () => Promise.resolve(),
    push: () => Promise.reject(new CatalogError(code, 'the change failed')),
    requireConfirmed() {},
  };
  const users = usersOf(acts, shared, most, errors);
  await users.create(ROOT, ANN).then(
    () => assert.unreachable(),
    (error: unknown) => assert.ok(hasCode(error, code), String(error)),
  );
  const reported = errors.map((error) => (error instanceof CatalogError ? error.code : ''));
  return [...acts.map(({ action }) => action), ...reported];
}

test('a second entry reverts that of a change that was not made', async () => {
  for (const code of ['busy', 'log_unavailable'] as const) {
    assert.equal(await entriesAfter(code), ['create', 'delete'], code);
  }
});

test('the entry of a change stays if it is unknown whether it was made', async () => {
  for (const code of ['write_unknown', 'durability_unknown'] as const) {
    assert.equal(await entriesAfter(code), ['create'], code);
  }
});

test('an entry that cannot be reverted is reported, and the request fails with its own error', async () => {
  assert.equal(await entriesAfter('busy', 1), ['create', 'write_refused']);
});

test('an account is not removed if its guard refuses what it has become meanwhile', async () => {
  const acts: Act[] = [];
  const users = usersOf(acts);
  // It is made, but the credentials here do not show it.
  await users.create(ROOT, ANN).catch(() => {});
  const outdated = new CatalogError('precondition_failed', 'it has another tag');
  const guard = () => {
    throw outdated;
  };
  const refusal = await users.remove(ROOT, 'ann', guard).catch((error: unknown) => error);
  assert.is(refusal, outdated);
  await users.remove(ROOT, 'ann', ({ role }) => assert.is(role, 'editor'));
  assert.equal(
    acts.map(({ action }) => action),
    ['create', 'delete'],
  );
});

test('the tokens of an account that was removed meanwhile are 404, and leave no entry', async () => {
  const acts: Act[] = [];
  await usersOf(acts)
    .endTokens(ROOT, 'ann')
    .then(
      () => assert.unreachable(),
      (error: unknown) => assert.ok(hasCode(error, 'not_found'), String(error)),
    );
  assert.equal(acts, []);
});

test.run();
