/** Logins with an injected password check: verification, counting, limits and errors. */
import { decodeJwt } from 'jose';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { endTokens } from '../../../src/auth/accounts.ts';
import { FailedAttempts } from '../../../src/auth/attempts.ts';
import type { SigningKeys } from '../../../src/auth/keys.ts';
import { issueFor, Login } from '../../../src/auth/login.ts';
import { TokenVerifier } from '../../../src/auth/tokens.ts';
import { accountOf, emptyDraft, FixedCredentials, usersOf } from '../../support/credentials.ts';
import { codeOf, failureOf } from '../../support/failure.ts';
import { turn } from '../../support/turns.ts';

const KEYS: SigningKeys = [{ kid: 'one', secret: new Uint8Array(32).fill(1) }];
const ANN = accountOf('ann', { password: '$argon2id$v=19$m=19456,t=2,p=1$YW5u$YW5u' });
const OFF = accountOf('off', {
  password: '$argon2id$v=19$m=19456,t=2,p=1$b2Zm$b2Zm',
  disabled: true,
});
const HERE = '192.0.2.1';

/** A login whose password check accepts what begins with "right" and records its calls. */
async function begin(limits = { account: 3, address: 50, window: 60_000 }) {
  const source = new FixedCredentials(KEYS, { users: usersOf(ANN, OFF) });
  const verified: { readonly password: string; readonly hash: string }[] = [];
  let atOnce = 0;
  let most = 0;
  const check = async (password: string, hash: string) => {
    verified.push({ password, hash });
    atOnce += 1;
    most = Math.max(most, atOnce);
    await meanwhile.run();
    await turn();
    atOnce -= 1;
    return password.startsWith('right');
  };
  /** Runs while a password is hashed. */
  const meanwhile = { run: (): void | Promise<void> => {} };
  const login = new Login(source, check, new FailedAttempts({ limits }));
  return { source, verified, login, meanwhile, most: () => most };
}

type Begun = Awaited<ReturnType<typeof begin>>;

const attempt = ({ login }: Begun, username: string, password: string, address = HERE) =>
  login.issue({ username, password }, 3600, address);

test('the right password returns a token with the name and role of the account', async () => {
  const begun = await begin();
  const { token, id, expires } = await attempt(begun, 'ann', 'right');
  const { sub, role, jti, exp, iat = 0 } = decodeJwt(token);
  assert.equal([sub, role, jti, exp], ['ann', 'editor', id, expires]);
  assert.is(expires - iat, 3600);
  const caller = await new TokenVerifier(begun.source).verify(`Bearer ${token}`);
  assert.is(caller.subject, 'ann');
});

const WRONG: readonly (readonly [name: string, password: string])[] = [
  ['ann', 'wrong'],
  ['nobody', 'right'],
  ['nobody', 'wrong'],
  ['off', 'right'],
  ['off', 'wrong'],
  ['', 'right'],
  ['constructor', 'right'],
  ['ANN', 'right'],
];

test('every refused login gets the same error, and one password is verified for each', async () => {
  const begun = await begin();
  const said = new Set<string>();
  for (const [index, [name, password]] of WRONG.entries()) {
    const { code, message, headers } = await failureOf(attempt(begun, name, password));
    said.add(JSON.stringify({ code, message, headers }));
    assert.is(begun.verified.length, index + 1, `${name} ${password}`);
    assert.is(begun.verified[index]?.password, password);
  }
  assert.is(said.size, 1);
  assert.match([...said][0] ?? '', /"code":"unauthorized"/);
});

test('an unknown name is verified against a hash of the same cost', async () => {
  const begun = await begin();
  await failureOf(attempt(begun, 'nobody', 'right'));
  await failureOf(attempt(begun, 'ann', 'wrong'));
  const [dummy, real] = begun.verified.map(({ hash }) => hash);
  assert.is(real, ANN.password);
  const cost = /^\$argon2id\$v=19\$m=\d+,t=\d+,p=\d+\$/;
  assert.is(cost.exec(dummy ?? '')?.[0], cost.exec(ANN.password)?.[0]);
});

test('after repeated failures the right password is refused too, with Retry-After', async () => {
  const begun = await begin();
  for (let time = 0; time < 3; time += 1) await failureOf(attempt(begun, 'ann', 'wrong'));
  const { code, headers } = await failureOf(attempt(begun, 'ann', 'right'));
  assert.is(code, 'login_throttled');
  assert.ok(Number(headers['Retry-After']) >= 1);
  assert.is(begun.verified.length, 3, 'nothing is hashed for who has to wait');
  const other = await begin();
  for (let time = 0; time < 3; time += 1) await failureOf(attempt(other, 'nobody', 'wrong'));
  assert.is(
    (await failureOf(attempt(other, 'nobody', 'wrong'))).message.replace(/\d+/, '#'),
    'too many login attempts; try again in # seconds',
  );
});

test('a blocked address is refused for every name, and a successful login does not reset its count', async () => {
  const begun = await begin({ account: 3, address: 4, window: 60_000 });
  for (const name of ['a', 'b', 'c']) await failureOf(attempt(begun, name, 'wrong'));
  await attempt(begun, 'ann', 'right');
  await failureOf(attempt(begun, 'd', 'wrong'));
  assert.is(await codeOf(attempt(begun, 'ann', 'right')), 'login_throttled');
  await attempt(begun, 'ann', 'right', '192.0.2.2');
});

test('the right password of a disabled account counts as a failure', async () => {
  const begun = await begin();
  for (let time = 0; time < 3; time += 1) await failureOf(attempt(begun, 'off', 'right'));
  assert.is(await codeOf(attempt(begun, 'off', 'right')), 'login_throttled');
});

test('a name is the same in every Unicode form, for its login and for its failures', async () => {
  const begun = await begin({ account: 2, address: 50, window: 60_000 });
  const composed = 'jos\u00e9';
  begun.source.become({ access: { users: usersOf(accountOf(composed)) } });
  const decomposed = composed.normalize('NFD');
  const { token } = await attempt(begun, decomposed, 'right');
  assert.is(decodeJwt(token).sub, composed);
  for (const name of [composed, decomposed]) await failureOf(attempt(begun, name, 'wrong'));
  assert.is(await codeOf(attempt(begun, decomposed, 'right')), 'login_throttled');
});

test('successful logins are not counted', async () => {
  const begun = await begin({ account: 3, address: 4, window: 60_000 });
  for (let time = 0; time < 20; time += 1) await attempt(begun, 'ann', 'right');
});

test('a successful login resets the failures of its name', async () => {
  const begun = await begin();
  for (let round = 0; round < 3; round += 1) {
    for (let time = 0; time < 2; time += 1) await failureOf(attempt(begun, 'ann', 'wrong'));
    await attempt(begun, 'ann', 'right');
  }
});

test('a name that has to wait is refused at once, also while other passwords are hashed', async () => {
  const begun = await begin();
  for (let time = 0; time < 3; time += 1) await failureOf(attempt(begun, 'off', 'wrong'));
  const released = Promise.withResolvers<void>();
  begun.meanwhile.run = () => released.promise;
  const others = Array.from({ length: 2 }, () => attempt(begun, 'ann', 'right'));
  let refused = '';
  void codeOf(attempt(begun, 'off', 'wrong')).then((code) => (refused = code));
  await turn();
  assert.is(refused, 'login_throttled');
  released.resolve();
  await Promise.all(others);
});

test('concurrent guesses are limited like sequential guesses, plus at most one', async () => {
  const begun = await begin();
  const results = await Promise.all(
    Array.from({ length: 40 }, () => failureOf(attempt(begun, 'ann', 'wrong'))),
  );
  const guessed = results.filter(({ code }) => code === 'unauthorized').length;
  // Two are in progress when the last allowed failure is counted.
  assert.ok(guessed >= 3 && guessed <= 4, `${guessed}`);
  assert.is(begun.verified.length, guessed);
});

test('two passwords are hashed at a time, up to 100 logins wait, and further ones are refused', async () => {
  const begun = await begin({ account: 1000, address: 1000, window: 60_000 });
  const results = await Promise.allSettled(
    Array.from({ length: 150 }, () => attempt(begun, 'ann', 'right')),
  );
  assert.is(begun.most(), 2);
  const refused = results.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  assert.ok(refused.length >= 40 && refused.length <= 50, `${refused.length}`);
  for (const error of refused) {
    assert.is(error.code, 'login_throttled');
    assert.is(error.headers['Retry-After'], '1');
  }
  await attempt(begun, 'ann', 'right');
});

test('clients take turns, and one that keeps 100 logins waiting does not keep others out', async () => {
  const begun = await begin({ account: 1000, address: 1000, window: 60_000 });
  const released = Promise.withResolvers<void>();
  begun.meanwhile.run = () => released.promise;
  const many = Array.from({ length: 102 }, () => attempt(begun, 'ann', 'right'));
  await turn();
  const others = ['192.0.2.2', '2001:db8::1', '2001:db8::2'].map((address) =>
    attempt(begun, 'ann', `right ${address}`, address),
  );
  released.resolve();
  const results = await Promise.allSettled([...many, ...others]);
  assert.equal(
    results.map(({ status }) => status === 'fulfilled'),
    results.map((_, nth) => nth < 99 || nth > 101),
  );
  // Two were in progress, and one network has two addresses.
  const first = begun.verified.slice(0, 10).map(({ password }) => password);
  assert.ok(first.includes('right 2001:db8::2'), first.join());
});

test('the addresses of one IPv6 network take turns as one client', async () => {
  const begun = await begin({ account: 1000, address: 1000, window: 60_000 });
  const released = Promise.withResolvers<void>();
  begun.meanwhile.run = () => released.promise;
  // Two are in progress, and 100 wait.
  const network = Array.from({ length: 102 }, (_, nth) =>
    attempt(begun, 'ann', 'right', `2001:db8::${nth.toString(16)}`),
  );
  await turn();
  const other = attempt(begun, 'ann', 'right', '192.0.2.2');
  assert.is(await codeOf(network.at(-1) ?? Promise.resolve()), 'login_throttled');
  released.resolve();
  await other;
  await Promise.all(network.slice(0, -1));
});

test('new passwords wait in the queue of the logins, which cannot keep them out', async () => {
  const begun = await begin();
  const released = Promise.withResolvers<void>();
  begun.meanwhile.run = () => released.promise;
  // Two are in progress, and 100 wait.
  const logins = Array.from({ length: 102 }, () => attempt(begun, 'ann', 'right'));
  await turn();
  let isHashed = false;
  const hashed = begun.login.hash('a new password').then((hash) => {
    isHashed = true;
    return hash;
  });
  const refused = [logins.at(-1), attempt(begun, 'ann', 'right')];
  for (const login of refused) {
    const { code, headers } = await failureOf(login ?? Promise.resolve());
    assert.is(code, 'login_throttled');
    assert.is(headers['Retry-After'], '1');
  }
  assert.not(isHashed, 'it waits');
  released.resolve();
  assert.match(await hashed, /^\$argon2id\$/);
  await Promise.all(logins.slice(0, -1));
});

test('a change of the account while the password is hashed is applied to the login', async () => {
  for (const users of [
    usersOf({ ...ANN, disabled: true }),
    usersOf(),
    usersOf({ ...ANN, password: OFF.password }),
  ]) {
    const begun = await begin();
    begun.meanwhile.run = () => begun.source.become({ access: { users } });
    assert.is(await codeOf(attempt(begun, 'ann', 'right')), 'unauthorized');
  }
  const begun = await begin();
  begun.meanwhile.run = () =>
    begun.source.become({ access: { users: usersOf({ ...ANN, role: 'viewer' }) } });
  const { token } = await attempt(begun, 'ann', 'right');
  assert.is(decodeJwt(token)['role'], 'viewer');
});

test('a password that is changed while a login waits for the accounts issues no token', async () => {
  for (const users of [usersOf({ ...ANN, password: OFF.password }), usersOf()]) {
    const begun = await begin();
    const { source } = begun;
    const settled = source.settled.bind(source);
    source.settled = (use) => {
      source.become({ access: { users, subjects: new Map([['ann', seconds()]]) } });
      return settled(use);
    };
    assert.is(await codeOf(attempt(begun, 'ann', 'right')), 'unauthorized');
  }
});

const seconds = () => Math.floor(Date.now() / 1000);
const ann = () => ({ subject: 'ann', role: 'admin' }) as const;
const minute = (issued: number) => ({ expires: issued + 60 });

test('a token issued after a revocation in the same second is valid', async () => {
  for (const ahead of [0, 1, 2]) {
    const revoked = seconds() + ahead;
    const source = new FixedCredentials(KEYS, { subjects: new Map([['ann', revoked]]) });
    const { token } = await issueFor(source, ann, minute);
    assert.ok((decodeJwt(token).iat ?? 0) > revoked);
    await new TokenVerifier(source).verify(`Bearer ${token}`);
  }
});

test('a host whose clock is up to 2 seconds behind revokes a token that another has just issued', async () => {
  for (const behind of [0, 1, 2]) {
    const source = new FixedCredentials(KEYS);
    source.clockDifference = 2;
    const { token } = await issueFor(source, ann, minute);
    const header = `Bearer ${token}`;
    const verifier = new TokenVerifier(source);
    assert.is((await verifier.verify(header)).subject, 'ann');
    const draft = emptyDraft();
    endTokens(draft, 'ann', seconds() - behind);
    source.become({ access: draft });
    assert.is(await codeOf((async () => verifier.verify(header))()), 'unauthorized');
    const { token: next } = await issueFor(source, ann, minute);
    assert.is((await verifier.verify(`Bearer ${next}`)).subject, 'ann', 'the next login counts');
  }
});

test('a clock that is far behind the last revocation is reported as an error, with what to do', async () => {
  const until = Date.parse('2101-01-01T00:00:00Z') / 1000;
  const source = new FixedCredentials(KEYS, { subjects: new Map([['ann', until]]) });
  const error = await failureOf(issueFor(source, ann, minute));
  assert.is(error.code, 'access_file');
  assert.match(error.message, 'tokens of ann are revoked until 2101-01-01T00:00:00Z, which is in');
  assert.match(error.message, 'correct the clock of this machine, or, if it is right, see docs/');
});

test.run();
