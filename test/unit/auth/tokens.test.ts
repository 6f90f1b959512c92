/** spec 6.3: what makes a token valid, with a stopped clock. */
import { CompactSign, decodeJwt, decodeProtectedHeader, SignJWT, UnsecuredJWT } from 'jose';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Access } from '../../../src/auth/access.ts';
import type { SigningKeys } from '../../../src/auth/keys.ts';
import { mayActAs, ROLES } from '../../../src/auth/roles.ts';
import { issueToken, TokenVerifier } from '../../../src/auth/tokens.ts';
import { accountOf, FixedCredentials, usersOf } from '../../support/credentials.ts';
import { codeOf, failureOf } from '../../support/failure.ts';

/** Seconds since the epoch. */
const NOW = 1_700_000_000;
const EXPIRES = NOW + 600;

const bytes = (fill: number) => new Uint8Array(32).fill(fill);
const NEW = { kid: 'new', secret: bytes(1) };
const OLD = { kid: 'old', secret: bytes(2) };
const KEYS: SigningKeys = [NEW, OLD];

const CLAIMS = {
  sub: 'ann',
  role: 'editor',
  iat: NOW,
  exp: EXPIRES,
  jti: 'one',
  iss: 'catalog-server',
  aud: 'catalog-admin',
};

/** A clock in seconds that moves only when a test moves it. */
class Clock {
  seconds = NOW;
  readonly now = () => this.seconds * 1000;
}

function sign(
  claims: Readonly<Record<string, unknown>> = CLAIMS,
  header: Readonly<Record<string, unknown>> = {},
  secret: Uint8Array = NEW.secret,
): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg: 'HS256', ...header }).sign(secret);
}

const verifierAt = (seconds: number) => {
  const clock = new Clock();
  clock.seconds = seconds;
  return new TokenVerifier(new FixedCredentials(KEYS), clock.now);
};

/** The refusal; fails the test if the token is accepted or another error is thrown. */
async function refusal(header: string | undefined, verifier = verifierAt(NOW)) {
  const error = await failureOf(() => verifier.verify(header));
  assert.is(error.code, 'unauthorized');
  assert.is(error.status, 401);
  return error;
}

async function requireRefused(token: string, what: string): Promise<void> {
  const error = await refusal(`Bearer ${token}`).catch((cause) => {
    throw new Error(`${what}: ${cause}`);
  });
  assert.match(error.headers['WWW-Authenticate'] ?? '', /^Bearer .*error="invalid_token"/, what);
  assert.not.ok(error.message.includes(token), what);
}

async function requireCaller(header: string, verifier = verifierAt(NOW)): Promise<void> {
  const { subject, role } = await verifier.verify(header);
  assert.equal({ subject, role }, { subject: 'ann', role: 'editor' }, header);
}

const b64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

test('a changed last character is refused, even if only its unused bits differ', async () => {
  const token = await sign();
  const last = token.at(-1) ?? '';
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  for (const other of alphabet.replace(last, '')) {
    await requireRefused(token.slice(0, -1) + other, `${other} instead of ${last}`);
  }
  await requireCaller(`Bearer ${token}`);
});

test('a valid token is accepted with either scheme in any case, and gives subject and role', async () => {
  const token = await sign();
  for (const scheme of ['Bearer', 'JWT', 'bearer', 'BEARER', 'jwt', 'Bearer ']) {
    await requireCaller(`${scheme} ${token}`);
  }
});

test('without a header the challenge contains no error', async () => {
  const error = await refusal(undefined);
  assert.is(error.headers['WWW-Authenticate'], 'Bearer realm="catalog-admin"');
});

test('a malformed Authorization header is refused', async () => {
  const token = await sign();
  for (const header of [
    '',
    ' ',
    'Bearer',
    'Bearer ',
    token,
    `Basic ${token}`,
    `Token ${token}`,
    `Bearer:${token}`,
    `Bearer${token}`,
    ` Bearer ${token}`,
    `Bearer ${token} `,
    `Bearer ${token} x`,
    `Bearer ${token}, Bearer ${token}`,
    `Bearer "${token}"`,
    `Bearer ${token.slice(0, token.lastIndexOf('.'))}`,
    `Bearer ${token}.`,
    `Bearer .${token}`,
    'Bearer a.b.c',
    'Bearer ..',
    'Bearer YW5uOnNlY3JldA==',
  ]) {
    await refusal(header);
  }
});

test('a token is valid until two seconds after exp', async () => {
  const header = `Bearer ${await sign()}`;
  for (const late of [-600, -1, 0, 1, 1.999]) {
    await requireCaller(header, verifierAt(EXPIRES + late));
  }
  for (const late of [2, 2.001, 3, 86_400]) {
    const error = await refusal(header, verifierAt(EXPIRES + late));
    assert.match(error.message, /expired/);
    assert.match(error.headers['WWW-Authenticate'] ?? '', /error="invalid_token"/);
  }
});

test('a token that was accepted before expires at the same time', async () => {
  const clock = new Clock();
  const verifier = new TokenVerifier(new FixedCredentials(KEYS), clock.now);
  const header = `Bearer ${await sign()}`;
  for (const late of [-600, 0, 1, 1.999]) {
    clock.seconds = EXPIRES + late;
    await requireCaller(header, verifier);
  }
  for (const late of [2, 3, 2]) {
    clock.seconds = EXPIRES + late;
    const error = await refusal(header, verifier);
    assert.match(error.message, /expired/);
  }
});

test('after a token was accepted, variations of it are still refused', async () => {
  const verifier = verifierAt(NOW);
  const token = await sign();
  await requireCaller(`Bearer ${token}`, verifier);
  await requireCaller(`Bearer ${token}`, verifier);
  await refusal(`Bearer ${token}x`, verifier);
  await refusal(`Bearer ${token.slice(0, -1)}`, verifier);
  await refusal(`Basic ${token}`, verifier);
});

test('a token whose iat or nbf is more than two seconds ahead is refused', async () => {
  await requireCaller(`Bearer ${await sign({ ...CLAIMS, iat: NOW + 2 })}`);
  await requireRefused(await sign({ ...CLAIMS, iat: NOW + 3 }), 'iat');
  await requireCaller(`Bearer ${await sign({ ...CLAIMS, nbf: NOW + 2 })}`);
  await requireRefused(await sign({ ...CLAIMS, nbf: NOW + 3 }), 'nbf');
});

test('every claim is required', async () => {
  for (const name of Object.keys(CLAIMS)) {
    const rest = Object.fromEntries(Object.entries(CLAIMS).filter(([each]) => each !== name));
    await requireRefused(await sign(rest), `without ${name}`);
  }
});

test('a claim of a wrong value or type is refused', async () => {
  for (const wrong of [
    { iss: 'catalog' },
    { iss: 'Catalog-Server' },
    { iss: '' },
    { iss: ['catalog-server'] },
    { aud: 'catalog' },
    { aud: ['catalog', 'admin'] },
    { aud: '' },
    { role: 'root' },
    { role: 'Editor' },
    { role: '' },
    { role: null },
    { role: 2 },
    { role: ['editor'] },
    { role: 'constructor' },
    { sub: '' },
    { sub: 7 },
    { sub: null },
    { sub: 'a\ud800' },
    { jti: '\udc00' },
    { exp: String(EXPIRES) },
    { exp: null },
    { exp: true },
    { exp: 0 },
    { exp: NOW - 2 },
    { exp: -EXPIRES },
    { iat: 'now' },
    { iat: null },
    { auth_time: 'yesterday' },
    { auth_time: true },
  ]) {
    await requireRefused(await sign({ ...CLAIMS, ...wrong }), JSON.stringify(wrong));
  }
});

/** The same claims with a number that JSON.stringify cannot write, such as 1e400. */
function signWith(claim: string, number: string): Promise<string> {
  const payload = JSON.stringify({ ...CLAIMS, [claim]: '#' }).replace('"#"', number);
  return new CompactSign(Buffer.from(payload))
    .setProtectedHeader({ alg: 'HS256' })
    .sign(NEW.secret);
}

test('a time that is infinite, negative or after the year 9999 is refused', async () => {
  for (const claim of ['exp', 'iat', 'nbf', 'auth_time']) {
    for (const number of ['1e400', '-1e400', '1e300', '-1', '253402300800']) {
      await requireRefused(await signWith(claim, number), `${claim} ${number}`);
    }
  }
  await requireCaller(`Bearer ${await signWith('exp', '253402300799')}`);
});

test('a time may have a fraction of a second (RFC 7519, section 2)', async () => {
  await requireCaller(`Bearer ${await sign({ ...CLAIMS, iat: NOW - 0.5, exp: NOW + 0.5 })}`);
});

test('an unsigned token is refused', async () => {
  await requireRefused(new UnsecuredJWT(CLAIMS).encode(), 'alg none');
  const signature = (await sign()).split('.')[2] ?? '';
  for (const alg of ['none', 'None', 'NONE', '', null]) {
    const token = `${b64({ alg })}.${b64(CLAIMS)}`;
    await requireRefused(`${token}.`, String(alg));
    await requireRefused(`${token}.${signature}`, String(alg));
  }
  await requireRefused(`${b64({ typ: 'JWT' })}.${b64(CLAIMS)}.${signature}`, 'no alg');
});

test('other algorithms are refused, even with the right secret', async () => {
  for (const [alg, size] of [
    ['HS384', 48],
    ['HS512', 64],
  ] as const) {
    const secret = new Uint8Array(size).fill(9);
    const verifier = new TokenVerifier(
      new FixedCredentials([{ kid: 'new', secret }]),
      () => NOW * 1000,
    );
    await refusal(`Bearer ${await sign(CLAIMS, { alg }, secret)}`, verifier);
    await requireCaller(`Bearer ${await sign(CLAIMS, {}, secret)}`, verifier);
  }
});

test('a wrong signature is refused', async () => {
  const [header, payload, signature = ''] = (await sign()).split('.');
  await requireRefused(await sign(CLAIMS, {}, bytes(3)), 'another secret');
  await requireRefused(
    `${header}.${b64({ ...CLAIMS, role: 'admin' })}.${signature}`,
    'changed claims',
  );
  await requireRefused(`${b64({ alg: 'HS256', typ: 'JWT' })}.${payload}.${signature}`, 'header');
  await requireRefused(`${b64({ alg: 'RS256' })}.${payload}.${signature}`, 'another algorithm');
  await requireRefused(`${header}.${payload}.`, 'no signature');
  await requireRefused(`${header}.${payload}.${signature.slice(0, 20)}`, 'half a signature');
  await requireRefused(`${header}.${payload}.${signature}${signature}`, 'two signatures');
  const { message } = await refusal(`Bearer ${await sign(CLAIMS, {}, bytes(3))}`);
  assert.is(message, 'the token is not valid', 'it is not called expired');
});

test('a token that marks an unknown extension as critical is refused', async () => {
  const token = `${b64({ alg: 'HS256', crit: ['x'], x: 1 })}.${b64(CLAIMS)}`;
  const key = await crypto.subtle.importKey(
    'raw',
    NEW.secret,
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  );
  const signature = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(token));
  await requireRefused(`${token}.${Buffer.from(signature).toString('base64url')}`, 'crit');
});

test('a token whose header has more than 512 characters is refused', async () => {
  const long = (length: number) => sign(CLAIMS, { x: 'x'.repeat(length) });
  const [longest, longer] = [await long(362), await long(363)];
  assert.equal([longest.indexOf('.'), longer.indexOf('.')], [512, 514]);
  assert.is((await verifierAt(NOW).verify(`Bearer ${longest}`)).subject, 'ann');
  await requireRefused(longer, 'a long header');
});

test('kid selects the key that verifies a token', async () => {
  await requireCaller(`Bearer ${await sign(CLAIMS, { kid: 'new' })}`);
  await requireCaller(`Bearer ${await sign(CLAIMS, { kid: 'old' }, OLD.secret)}`);
  await requireRefused(await sign(CLAIMS, { kid: 'old' }, NEW.secret), 'new secret as old');
  await requireRefused(await sign(CLAIMS, { kid: 'new' }, OLD.secret), 'old secret as new');
});

test('an unknown kid is refused, whichever secret signed the token', async () => {
  for (const kid of ['other', '', 'NEW', 'constructor', 0]) {
    for (const { secret } of KEYS) {
      await requireRefused(await sign(CLAIMS, { kid }, secret), String(kid));
    }
  }
});

test('a token without kid is verified with the first key', async () => {
  await requireCaller(`Bearer ${await sign()}`);
  await requireRefused(await sign(CLAIMS, {}, OLD.secret), 'old secret without kid');
});

test('a token of a removed key is refused', async () => {
  const token = await sign(CLAIMS, { kid: 'old' }, OLD.secret);
  await refusal(
    `Bearer ${token}`,
    new TokenVerifier(new FixedCredentials([NEW]), () => NOW * 1000),
  );
});

test('an issued token has every claim, is signed by the first key and is accepted', async () => {
  const issued = Math.floor(Date.now() / 1000);
  const { token, id, expires } = await issueToken(
    KEYS,
    { subject: 'ann', role: 'editor' },
    { issued, expires: issued + 3600 },
  );
  assert.equal(decodeProtectedHeader(token), { alg: 'HS256', typ: 'JWT', kid: 'new' });
  const { iat = 0, exp, jti, ...rest } = decodeJwt(token);
  assert.equal(rest, {
    sub: 'ann',
    role: 'editor',
    iss: 'catalog-server',
    aud: 'catalog-admin',
  });
  assert.is(iat, issued);
  assert.is(exp, iat + 3600);
  assert.match(jti ?? '', /^\S{16,}$/);
  assert.equal([id, expires], [jti, exp]);

  await requireCaller(`Bearer ${token}`, new TokenVerifier(new FixedCredentials(KEYS)));
  await requireCaller(`Bearer ${token}`, verifierAt(iat + 3600));
  await refusal(`Bearer ${token}`, verifierAt(iat + 3602));
});

test('every issued token has a different jti', async () => {
  const caller = { subject: 'ann', role: 'viewer' } as const;
  const tokens = await Promise.all(
    Array.from({ length: 50 }, () => issueToken(KEYS, caller, { issued: 0, expires: 60 })),
  );
  assert.is(new Set(tokens.map(({ token }) => decodeJwt(token).jti)).size, 50);
});

/** A verifier, and its credentials and clock. */
function verifierOf(access: Partial<Access> = {}, keys: SigningKeys = KEYS) {
  const source = new FixedCredentials(keys, access);
  const clock = new Clock();
  return { source, clock, verifier: new TokenVerifier(source, clock.now) };
}

interface Ending {
  readonly name: string;
  readonly access: Partial<Access>;
  readonly message: RegExp;
}

const ENDINGS: readonly Ending[] = [
  {
    name: 'its jti was revoked',
    access: { tokens: new Map([['one', EXPIRES]]) },
    message: /revoked/,
  },
  {
    name: 'its jti was revoked without its expiry',
    access: { tokens: new Map([['one', null]]) },
    message: /revoked/,
  },
  {
    name: 'its subject was revoked in the second of its issue',
    access: { subjects: new Map([['ann', NOW]]) },
    message: /revoked/,
  },
  {
    name: 'its subject was revoked later',
    access: { subjects: new Map([['ann', NOW + 100]]) },
    message: /revoked/,
  },
  {
    name: 'the account of its subject is disabled',
    access: { users: usersOf(accountOf('ann', { disabled: true })) },
    message: /revoked/,
  },
];

for (const { name, access, message } of ENDINGS) {
  test(`a token is refused if ${name}, even if it was accepted before`, async () => {
    const header = `Bearer ${await sign()}`;
    assert.match((await refusal(header, verifierOf(access).verifier)).message, message);
    const { source, verifier } = verifierOf();
    await requireCaller(header, verifier);
    await requireCaller(header, verifier);
    source.become({ access });
    assert.match((await refusal(header, verifier)).message, message);
    const other = `Bearer ${await sign({ ...CLAIMS, sub: 'bob', jti: 'two' })}`;
    assert.is((await verifier.verify(other)).subject, 'bob');
    assert.match((await refusal(header, verifier)).message, message);
  });
}

test('a token stays valid if other tokens, subjects or earlier tokens were revoked', async () => {
  const header = `Bearer ${await sign()}`;
  for (const access of [
    { tokens: new Map([['two', null]]) },
    { subjects: new Map([['ann', NOW - 1]]) },
    { subjects: new Map([['bob', NOW + 100]]) },
    { users: usersOf(accountOf('ann'), accountOf('bob', { disabled: true })) },
  ]) {
    await requireCaller(header, verifierOf(access).verifier);
  }
});

test('a token issued within the second of the revocation of its subject is refused', async () => {
  const { verifier } = verifierOf({ subjects: new Map([['ann', NOW]]) });
  await refusal(`Bearer ${await sign({ ...CLAIMS, iat: NOW + 0.9 })}`, verifier);
  await requireCaller(`Bearer ${await sign({ ...CLAIMS, iat: NOW + 1 })}`, verifier);
});

test('tokens that were accepted before are refused once their key is removed or replaced', async () => {
  const { source, verifier } = verifierOf();
  const old = `Bearer ${await sign(CLAIMS, { kid: 'old' }, OLD.secret)}`;
  const recent = `Bearer ${await sign(CLAIMS, { kid: 'new' })}`;
  await requireCaller(old, verifier);
  await requireCaller(recent, verifier);
  source.become({ keys: [NEW] });
  await refusal(old, verifier);
  // The token of the request before is remembered apart from the others.
  for (const _ of ['verified', 'cached']) await requireCaller(recent, verifier);
  source.become({ keys: [{ kid: 'new', secret: bytes(4) }] });
  await refusal(recent, verifier);
});

test('a key that has expired verifies no tokens, not even those that were accepted before', async () => {
  const { clock, verifier } = verifierOf({}, [NEW, { ...OLD, until: NOW + 10 }]);
  const old = `Bearer ${await sign(CLAIMS, { kid: 'old' }, OLD.secret)}`;
  const fresh = `Bearer ${await sign({ ...CLAIMS, jti: 'two' }, { kid: 'old' }, OLD.secret)}`;
  clock.seconds = NOW + 9;
  await requireCaller(old, verifier);
  clock.seconds = NOW + 10;
  assert.match((await refusal(old, verifier)).message, /key that is no longer valid/);
  assert.match((await refusal(fresh, verifier)).message, /key that is no longer valid/);
  await requireCaller(`Bearer ${await sign()}`, verifier);
});

test('a revocation or a removal of the key while a signature is verified is applied', async () => {
  const header = `Bearer ${await sign(CLAIMS, { kid: 'new' })}`;
  const revoked = verifierOf();
  const verifying = revoked.verifier.verify(header);
  revoked.source.become({ access: { tokens: new Map([['one', null]]) } });
  assert.is(await codeOf(() => verifying), 'unauthorized');
  const rotated = verifierOf();
  const meanwhile = rotated.verifier.verify(header);
  rotated.source.become({ keys: [OLD] });
  assert.is(await codeOf(() => meanwhile), 'unauthorized');
});

test('a jti that is not a string of 1 to 255 characters is refused', async () => {
  for (const jti of ['', 7, null, ['one'], 'x'.repeat(256)]) {
    await requireRefused(await sign({ ...CLAIMS, jti }), JSON.stringify(jti));
  }
  await requireCaller(`Bearer ${await sign({ ...CLAIMS, jti: 'x'.repeat(255) })}`);
});

test('the latest 10,000 tokens are cached, and an evicted one is verified anew and can be revoked', async () => {
  const { source, verifier } = verifierOf();
  const headerOf = async (id: string) => `Bearer ${await sign({ ...CLAIMS, jti: id })}`;
  const first = `Bearer ${await sign()}`;
  await requireCaller(first, verifier);
  for (let each = 1; each <= 10_050; each += 1) await verifier.verify(await headerOf(`id ${each}`));
  const isCached = async (header: string) => {
    const verifying = verifier.verify(header);
    await verifying;
    return !(verifying instanceof Promise);
  };
  assert.ok(await isCached(await headerOf('id 51')));
  assert.not.ok(await isCached(await headerOf('id 50')));
  assert.not.ok(await isCached(first));
  await requireCaller(first, verifier);
  source.become({ access: { subjects: new Map([['ann', NOW]]) } });
  await refusal(first, verifier);
});

test('one token with different numbers of spaces before it does not evict others from the cache', async () => {
  const { verifier } = verifierOf();
  const other = `Bearer ${await sign({ ...CLAIMS, jti: 'other' })}`;
  await requireCaller(other, verifier);
  const token = await sign();
  for (let spaces = 2; spaces < 10_050; spaces += 1) {
    await verifier.verify(`Bearer${' '.repeat(spaces)}${token}`);
  }
  assert.not.instance(verifier.verify(other), Promise, 'it is remembered');
  await requireCaller(`jwt   ${token}`, verifier);
});

test('each role includes the permissions of the role before it', () => {
  const table = ROLES.map((role) => ROLES.filter((needed) => mayActAs(role, needed)));
  assert.equal(table, [['viewer'], ['viewer', 'editor'], ['viewer', 'editor', 'admin']]);
});

test.run();
