/**
 * A token that is revoked while the body of its request arrives changes nothing (spec 3.12), and an
 * import of a user whose tokens are all revoked is not written any further (spec 12.10).
 */
import { decodeJwt } from 'jose';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { endTokens } from '../../src/auth/accounts.ts';
import { changeAccess } from '../../src/auth/access.ts';
import { refusalDe } from '../../src/console/browser/api/german/refusals-de.ts';
import { type Received, send, streamOf, tokenFor } from '../support/client.ts';
import { quickDisk } from '../support/disk.ts';
import { csv, postImport } from '../support/imports.ts';
import { closeServices, openService, type Service } from '../support/service.ts';
import { until } from '../support/until.ts';

let server: Service;

test.before(async () => {
  server = await openService();
});

test.after(closeServices);

/** Sends a request whose body ends after `meanwhile`. */
async function upload(
  path: string,
  text: string,
  { token, type }: { readonly token: string | null; readonly type: string },
  meanwhile: () => Promise<void>,
): Promise<Received> {
  let hasBegun = false;
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  async function* pieces(): AsyncGenerator<Uint8Array> {
    hasBegun = true;
    yield Buffer.from(text.slice(0, 5));
    await ended;
    yield Buffer.from(text.slice(5));
  }
  const headers = { 'content-type': type };
  const answer = send(server, 'POST', path, { body: streamOf(pieces()), headers, token });
  await until('the upload has begun', () => hasBegun);
  await meanwhile();
  end();
  return answer;
}

const JSON_TYPE = 'application/json';

const UPLOADS = {
  'an item': ['/admin/brands/', JSON_TYPE, '{"name":"Ondine","logo":"","first_letter":"O"}', 201],
  'a bulk write': [
    '/admin/brands/bulk/',
    JSON_TYPE,
    '[{"name":"Ondine","logo":"","first_letter":"O"}]',
    201,
  ],
  'an account': [
    '/admin/users/',
    JSON_TYPE,
    '{"name":"backdoor","role":"admin","password":"correct horse"}',
    201,
  ],
  'an import': ['/admin/brands/imports/', 'text/csv', 'name\nOndine\n', 202],
} as const;

async function revoke(token: string): Promise<void> {
  const { status } = await send(server, 'DELETE', `/admin/tokens/${decodeJwt(token).jti}/`);
  assert.is(status, 204);
}

const counts = () =>
  Promise.all(
    ['/admin/brands/', '/admin/users/', '/admin/imports/', '/admin/audits/'].map(async (path) =>
      (await send(server, 'GET', path)).headers.get('x-total-count'),
    ),
  );

for (const [what, [path, type, text, status]] of Object.entries(UPLOADS)) {
  test(`a token that is revoked while ${what} arrives is 401, and nothing is written`, async () => {
    const token = await tokenFor('admin');
    const before = await counts();
    const refused = await upload(path, text, { token, type }, () => revoke(token));
    assert.is(refused.status, 401, refused.text);
    assert.is(refused.json.error, 'the token was revoked; get a new one');
    assert.match(refused.headers.get('www-authenticate') ?? '', 'error="invalid_token"');
    assert.equal(await counts(), before);
  });

  test(`a token that stays valid while ${what} arrives slowly writes it`, async () => {
    const token = await tokenFor('admin');
    const accepted = await upload(path, text, { token, type }, async () => {});
    assert.is(accepted.status, status, accepted.text);
  });
}

/**
 * Imports three files, of which two are of ann.
 *
 * @param meanwhile is called after the first commit of her first file.
 * @returns the reports.
 */
async function importBeside(meanwhile: (token: string, to: Service) => Promise<void>) {
  const disk = { ...quickDisk };
  const to = await openService({ disk });
  const [ann, bob] = await Promise.all(['ann', 'bob'].map((sub) => tokenFor('editor', { sub })));
  assert.ok(ann !== undefined && bob !== undefined);
  const commit = Promise.withResolvers<void>();
  let commits = 0;
  disk.publish = async (job) => {
    const isCommit = job.record !== undefined;
    if (isCommit) commits += 1;
    // The second one of the import.
    if (isCommit && commits === 2) await commit.promise;
    return quickDisk.publish(job);
  };
  const long = csv('name', ...Array.from({ length: 1000 }, (_, index) => `Brand ${index}`));
  const accepted = [
    await postImport(to, 'brands', long, { token: ann }),
    await postImport(to, 'brands', csv('name', 'Ondine'), { token: ann }),
    await postImport(to, 'brands', csv('name', 'Auralune'), { token: bob }),
  ];
  await until('rows are written', () => commits === 2);
  await meanwhile(ann, to);
  commit.resolve();
  const reports: Received['json'][] = [];
  for (const { headers } of accepted) {
    await until('the import has ended', async () => {
      const { json } = await send(to, 'GET', headers.get('location') ?? '');
      if (['checking', 'writing'].includes(json.state)) return false;
      return reports.push(json) > 0;
    });
  }
  await to.stop();
  return reports;
}

const shown = ({ state, created, errors }: Received['json']) => [
  state,
  created,
  ...errors.map(({ message }: Received['json']) => message),
];

test('imports of a user whose tokens are all revoked end before their next commit', async () => {
  const reports = await importBeside((_, { data }) =>
    changeAccess(quickDisk, data, (draft, now) => endTokens(draft, 'ann', now)),
  );
  const why = 'all tokens of the user were revoked';
  assert.equal(reports.map(shown), [
    ['failed', 500, `the rows before row 502 are written, the others are not: ${why}`],
    ['failed', 0, `no row is written: ${why}`],
    ['done', 1],
  ]);
  assert.match(refusalDe(reports[1].errors[0].message) ?? '', /: Das Konto wurde gesperrt, /);
});

test('imports of a user who logs out are written to their ends', async () => {
  const reports = await importBeside(async (token, to) => {
    const path = `/admin/tokens/${decodeJwt(token).jti}/`;
    assert.is((await send(to, 'DELETE', path, { token })).status, 204);
  });
  assert.equal(reports.map(shown), [
    ['done', 1000],
    ['done', 1],
    ['done', 1],
  ]);
});

test.run();
