/**
 * spec 6.1 to 6.5, for every path and method in /openapi.json: bad tokens are rejected, and each
 * role has exactly its permissions. A new path is covered automatically.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SignJWT, UnsecuredJWT } from 'jose';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { send } from '../support/client.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { closeServices, openService, type Service } from '../support/service.ts';

type Claims = Readonly<Record<string, unknown>>;

interface Operation {
  readonly template: string;
  /** A path of the demo catalog. */
  readonly path: string;
  readonly method: string;
  /** True if the operation needs no token. */
  readonly open: boolean;
}

/** A key that is long enough for each of the algorithms. */
const bytes = (fill: number) => new Uint8Array(64).fill(fill);
const base64 = (value: Uint8Array) => Buffer.from(value).toString('base64url');
const KEY = bytes(1);
const ENDED = bytes(2);

const now = () => Math.floor(Date.now() / 1000);

/** When this file began: times of its tokens that are compared with those of the files below. */
const BEGUN = now();
const iso = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');

const good = (): Claims => ({
  sub: 'tester',
  role: 'admin',
  iat: now(),
  exp: now() + 600,
  jti: 'good',
  iss: 'catalog-server',
  aud: 'catalog-admin',
});

function sign(changes: Claims = {}, header: Claims = {}, secret = KEY): Promise<string> {
  const claims = Object.entries({ ...good(), ...changes }).filter(
    ([, value]) => value !== undefined,
  );
  return new SignJWT(Object.fromEntries(claims))
    .setProtectedHeader({ alg: 'HS256', kid: 'now', ...header })
    .sign(secret);
}

async function altered(part: 0 | 1 | 2, change: (text: string) => string): Promise<string> {
  const parts = (await sign()).split('.');
  parts[part] = change(parts[part] ?? '');
  return parts.join('.');
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const bearer = async (token: Promise<string> | string) => `Bearer ${await token}`;

/** Every kind of bad token, as an `Authorization` header; null sends none. */
const BAD: Readonly<Record<string, () => Promise<string> | string | null>> = {
  'no header': () => null,
  'no token': () => 'Bearer',
  'no scheme': () => sign(),
  'another scheme': async () => `Basic ${await sign()}`,
  'not a JWT': () => 'Bearer secret',
  'two tokens': async () => `Bearer ${await sign()}, Bearer ${await sign()}`,
  'not signed': () => bearer(new UnsecuredJWT(good()).encode()),
  'signed with alg none': () => bearer(altered(0, () => encode({ alg: 'none', kid: 'now' }))),
  'signed with another algorithm': () => bearer(sign({}, { alg: 'HS512' })),
  'signed with another secret': () => bearer(sign({}, {}, bytes(3))),
  'without its signature': () => bearer(altered(2, () => '')),
  'a truncated signature': () => bearer(altered(2, (text) => text.slice(0, 20))),
  'claims that were changed after signing': () =>
    bearer(altered(1, () => encode({ ...good(), sub: 'root' }))),
  'an unknown key': () => bearer(sign({}, { kid: 'other' })),
  'a key that is no longer valid': () => bearer(sign({}, { kid: 'ended' }, ENDED)),
  'an unknown critical extension': () =>
    bearer(altered(0, () => encode({ alg: 'HS256', kid: 'now', crit: ['x'], x: 1 }))),
  expired: () => bearer(sign({ iat: now() - 600, exp: now() - 10 })),
  'from the future': () => bearer(sign({ iat: now() + 60 })),
  'not valid yet': () => bearer(sign({ nbf: now() + 60 })),
  ...Object.fromEntries(
    Object.keys(good()).map((claim) => [
      `without ${claim}`,
      () => bearer(sign({ [claim]: undefined })),
    ]),
  ),
  'of another issuer': () => bearer(sign({ iss: 'somebody' })),
  'for another audience': () => bearer(sign({ aud: 'somebody' })),
  'an unknown role': () => bearer(sign({ role: 'root' })),
  'a role in another letter case': () => bearer(sign({ role: 'Admin' })),
  'an empty subject': () => bearer(sign({ sub: '' })),
  'a jti of 256 characters': () => bearer(sign({ jti: 'x'.repeat(256) })),
  'revoked by its jti': () => bearer(sign({ jti: 'revoked' })),
  'revoked by its subject': () => bearer(sign({ sub: 'revoked', iat: BEGUN - 60 })),
  'of a disabled account': () => bearer(sign({ sub: 'disabled' })),
};

const KEYS_FILE = {
  keys: [
    { kid: 'now', secret: base64(KEY) },
    { kid: 'ended', secret: base64(ENDED), until: iso(BEGUN - 60) },
  ],
};

const ACCESS_FILE = {
  users: [
    {
      name: 'disabled',
      role: 'admin',
      disabled: true,
      created: iso(BEGUN - 600),
      password: '$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA',
    },
  ],
  revoked_subjects: [{ subject: 'revoked', until: iso(BEGUN - 30) }],
  revoked_tokens: [{ jti: 'revoked', expires: null }],
};

let server: Service;
let operations: readonly Operation[];

test.before(async () => {
  const data = temporaryDirectory();
  writeFileSync(join(data, 'keys.json'), JSON.stringify(KEYS_FILE), { mode: 0o600 });
  writeFileSync(join(data, 'access.json'), JSON.stringify(ACCESS_FILE), { mode: 0o600 });
  server = await openService({ data, demo: true, ownKeys: true });
  operations = await described();
});

test.after(closeServices);

const METHODS = ['get', 'head', 'options', 'post', 'put', 'patch', 'delete'];

async function described(): Promise<Operation[]> {
  const { json } = await send(server, 'GET', '/openapi.json', { token: null });
  const found: Operation[] = [];
  const entries = Object.entries<Readonly<Record<string, { readonly security: unknown[] }>>>(
    json.paths,
  );
  for (const [template, item] of entries) {
    const path = await real(template);
    for (const method of METHODS) {
      const operation = item[method];
      if (operation === undefined) continue;
      found.push({
        template,
        path,
        method: method.toUpperCase(),
        open: operation.security.length === 0,
      });
    }
  }
  return found;
}

/** A path of the demo catalog: parent 1, and a child that belongs to it. */
async function real(template: string): Promise<string> {
  const path = template
    .replace(/\{(?:pk|id)\}/, '1')
    .replace('{part}', '2')
    .replace('{name}', 'skus-1')
    .replace('{jti}', 'another')
    .replace('{file}', 'start.js')
    .replace('{path}', 'skus/17');
  if (!path.includes('{child}')) return path;
  const listed = await send(server, 'GET', path.replace('{child}/', ''), { token: await sign() });
  return path.replace('{child}', String(listed.json[0].id));
}

/**
 * A request that passes path, method, token and role, and fails at a later check: nothing is
 * written, and a status other than 401 and 403 means that access was granted.
 */
async function knock({ method, path }: Operation, authorization: string | null) {
  return send(server, method, path, {
    token: null,
    headers: {
      ...(authorization !== null && { authorization }),
      ...(method === 'DELETE' && { 'if-match': '"stale"' }),
    },
    ...(/^(?:POST|PUT|PATCH)$/.test(method) && { body: '{' }),
  });
}

test('exactly the operations under /admin/ require a token, except OPTIONS and POST /admin/tokens/', () => {
  const guarded = operations.filter(({ open }) => !open);
  assert.ok(guarded.length > 60, `${guarded.length} operations`);
  assert.ok(guarded.every(({ template }) => template.startsWith('/admin/')));
  const unguarded = operations.filter(
    ({ template, method, open }) => open && template.startsWith('/admin/') && method !== 'OPTIONS',
  );
  assert.equal(
    unguarded.map(({ template, method }) => `${method} ${template}`),
    ['POST /admin/tokens/'],
  );
});

test('every operation accepts the valid token from which the bad ones are derived', async () => {
  for (const operation of operations) {
    const { status } = await knock(operation, await bearer(sign()));
    assert.ok(status !== 401 && status !== 403, `${operation.method} ${operation.path}: ${status}`);
  }
});

for (const [kind, make] of Object.entries(BAD)) {
  test(`every operation that requires a token is 401 for a bad token: ${kind}`, async () => {
    let asked = 0;
    for (const operation of operations) {
      if (operation.open) continue;
      const at = `${operation.method} ${operation.path}`;
      const { status, headers } = await knock(operation, await make());
      assert.is(status, 401, at);
      const challenge = headers.get('www-authenticate') ?? '';
      const expected = kind === 'no header' ? /^Bearer realm="[^"]+"$/ : /error="invalid_token"$/;
      assert.match(challenge, expected, at);
      asked += 1;
    }
    assert.ok(asked > 60, `${asked} requests`);
  });
}

/** Whether only admins may do it: tokens of others, audits, accounts, webhooks, page builds. */
function isManagement(template: string, reads: boolean): boolean {
  if (template.startsWith('/admin/page-builds/')) return !reads;
  if (template.endsWith('/reversal/') || template === RENEWAL) return false;
  return /^\/admin\/(?:tokens|audits|users|webhooks)\//.test(template);
}

/** Every account may renew its own token (spec 6.8). */
const RENEWAL = '/admin/tokens/renewal/';

/** Only editors and admins may read the audit entries of an item (spec 6.5). */
const isItemTrail = (template: string) => /^\/admin\/\w+\/\{pk\}\/audits\/$/.test(template);

/** The permissions of each role. */
const ROLES = {
  viewer: { reads: true, writes: false, manages: false },
  editor: { reads: true, writes: true, manages: false },
  admin: { reads: true, writes: true, manages: true },
} as const;

for (const [role, may] of Object.entries(ROLES)) {
  test(`the role ${role} has exactly its permissions, for every operation`, async () => {
    let refused = 0;
    for (const operation of operations) {
      const { template, method, path, open } = operation;
      const isRead = method === 'GET' || method === 'HEAD';
      const reads = (isRead && !isItemTrail(template)) || template === RENEWAL;
      const manages = isManagement(template, reads);
      const allowed = open || (manages ? may.manages : reads ? may.reads : may.writes);
      const { status } = await knock(operation, await bearer(sign({ role })));
      assert.is.not(status, 401, `${method} ${path}`);
      assert.is(status === 403, !allowed, `${method} ${path}: ${status}`);
      if (status === 403) refused += 1;
    }
    assert.is(refused > 0, role !== 'admin', `${refused} refusals`);
  });
}

test('a 403 says what the role may not do, and which role may', async () => {
  const refusals = [
    ['viewer', 'POST', '/admin/brands/', 'the role viewer may read, but not write'],
    [
      'viewer',
      'GET',
      '/admin/brands/1/audits/',
      'the role viewer may not read this; it requires the role editor',
    ],
    [
      'editor',
      'GET',
      '/admin/audits/',
      'the role editor may not read this; it requires the role admin',
    ],
    [
      'editor',
      'POST',
      '/admin/users/',
      'the role editor may not do this; it requires the role admin',
    ],
  ] as const;
  for (const [role, method, path, error] of refusals) {
    const token = await sign({ role });
    const { status, json } = await send(server, method, path, { token });
    assert.equal([status, json], [403, { error }], `${role}: ${method} ${path}`);
  }
});

test('an operation that needs no token ignores an expired one', async () => {
  for (const operation of operations.filter(({ open }) => open)) {
    const without = await knock(operation, null);
    const expired = await knock(operation, (await BAD['expired']?.()) ?? null);
    assert.is(expired.status, without.status, `${operation.method} ${operation.path}`);
    assert.is.not(expired.status, 401, operation.path);
  }
});

test('a method that a path does not have is 405 without a token, with a valid and with a bad one', async () => {
  let asked = 0;
  const authorizations = [
    null,
    await bearer(sign()),
    await bearer(sign({ role: 'viewer' })),
    (await BAD['expired']?.()) ?? null,
  ];
  for (const template of new Set(operations.map((each) => each.template))) {
    const there = operations.filter((each) => each.template === template);
    const { path } = there[0] as Operation;
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      if (there.some((each) => each.method === method)) continue;
      for (const authorization of authorizations) {
        const headers = authorization === null ? {} : { authorization };
        const { status } = await send(server, method, path, { token: null, headers });
        assert.is(status, 405, `${method} ${path} ${authorization}`);
        asked += 1;
      }
    }
  }
  assert.ok(asked > 80, `${asked} requests`);
});

test.run();
