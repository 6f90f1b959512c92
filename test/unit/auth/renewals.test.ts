/** A renewal checks account and token as they are when the new token is issued (spec 6.8). */
import { decodeJwt } from 'jose';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Access } from '../../../src/auth/access.ts';
import type { SigningKeys } from '../../../src/auth/keys.ts';
import { Renewals } from '../../../src/auth/renewals.ts';
import type { Verified } from '../../../src/auth/tokens.ts';
import { CatalogError } from '../../../src/errors.ts';
import { accountOf, FixedCredentials, usersOf } from '../../support/credentials.ts';

const KEYS: SigningKeys = [{ kid: 'one', secret: new Uint8Array(32).fill(1) }];
const users = usersOf(accountOf('ann'));

/** A token that was verified a moment ago. */
function verified(): Verified {
  const issued = Math.floor(Date.now() / 1000) - 60;
  const times = { issued, expires: issued + 3600, loggedIn: issued };
  return { subject: 'ann', role: 'editor', id: 'old', ...times };
}

/** The code of the refusal; null if a token is issued. */
async function refusal(
  token: Verified,
  access: Partial<Access>,
  now = Date.now,
): Promise<string | null> {
  try {
    await new Renewals(new FixedCredentials(KEYS, { users, ...access }), now).renew(token);
    return null;
  } catch (error) {
    assert.ok(error instanceof CatalogError, String(error));
    return error.code;
  }
}

test('a token that was revoked after it was verified is not renewed', async () => {
  const token = verified();
  assert.is(await refusal(token, { tokens: new Map([['old', null]]) }), 'unauthorized');
  assert.is(await refusal(token, { tokens: new Map([['another', null]]) }), null);
});

test('a token issued up to the second in which its subject was revoked is not renewed', async () => {
  const token = verified();
  const until = (second: number) => ({ subjects: new Map([['ann', second]]) });
  assert.is(await refusal(token, until(token.issued + 1)), 'unauthorized');
  assert.is(await refusal(token, until(token.issued)), 'unauthorized');
  assert.is(await refusal(token, until(token.issued - 1)), null, 'issued after it');
  const fraction = { ...token, issued: token.issued + 0.9 };
  assert.is(await refusal(fraction, until(token.issued)), 'unauthorized');
});

test('a token is renewed until 30 days after the login, to the second', async () => {
  const token = verified();
  const end = ((token.loggedIn ?? 0) + 30 * 86_400) * 1000;
  assert.is(await refusal(token, {}, () => end - 1), null);
  assert.is(await refusal(token, {}, () => end), 'unauthorized');
});

test('a token of an account that was disabled or removed is not renewed', async () => {
  const token = verified();
  const disabled = usersOf(accountOf('ann', { disabled: true }));
  assert.is(await refusal(token, { users: disabled }), 'unauthorized');
  assert.is(await refusal(token, { users: new Map() }), 'unauthorized');
});

test('a user whose renewals take all places does not keep others from renewing', async () => {
  const credentials = new FixedCredentials(KEYS, {
    users: usersOf(accountOf('ann'), accountOf('bob')),
  });
  const renewals = new Renewals(credentials);
  const mine = Array.from({ length: 150 }, () => renewals.renew(verified()));
  const theirs = renewals.renew({ ...verified(), subject: 'bob' });
  const results = await Promise.allSettled(mine);
  assert.is(results.filter(({ status }) => status === 'fulfilled').length, 100);
  for (const each of results) {
    if (each.status === 'fulfilled') continue;
    const { code, headers } = each.reason;
    assert.equal([code, headers], ['login_throttled', { 'Retry-After': '1' }]);
  }
  assert.is(decodeJwt((await theirs).token).sub, 'bob');
});

test.run();
