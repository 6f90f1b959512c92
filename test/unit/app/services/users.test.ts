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

/** The service in a directory without accounts. @param acts to which entries are added. */
function usersOf(acts: Act[], shared?: SharedFiles): Users {
  return new Users({
    directory: temporaryDirectory(),
    disk: quickDisk,
    credentials: { current: () => ({ access: emptyDraft(), keys: new Map() }) } as never,
    shared,
    hash: () => Promise.resolve('$argon2id$v=19$m=1,t=1,p=1$'),
    audited: {
      async record(_subject, act) {
        acts.push(act);
      },
    },
    onError(error) {
      throw error;
    },
  });
}

/** The actions of the entries for the creation of an account whose original refuses the change. */
async function entriesAfter(code: Code): Promise<string[]> {
  const acts: Act[] = [];
  const users = usersOf(acts, {
    pull: () => Promise.resolve(),
    push: () => Promise.reject(new CatalogError(code, 'the change failed')),
    requireConfirmed() {},
  });
  const ann = { name: 'ann', role: 'editor', disabled: false, password: 'secret' } as const;
  await users.create(ROOT, ann).then(
    () => assert.unreachable(),
    (error: unknown) => assert.ok(hasCode(error, code), String(error)),
  );
  return acts.map(({ action }) => action);
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
