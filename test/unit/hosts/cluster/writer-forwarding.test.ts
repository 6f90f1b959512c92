/** spec 15.26: writes are forwarded to the writer, and carried out here if it cannot be reached. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError } from '../../../../src/errors.ts';
import { WriterForwarding } from '../../../../src/hosts/cluster/writer-forwarding.ts';
import type { HttpRequest, HttpResponse } from '../../../../src/http/message.ts';

const ORIGIN = 'https://writer.example';

function open() {
  let time = 0;
  const seen = { passed: [] as string[], caughtUp: [] as number[], pulls: 0 };
  const settings: { writer: string | null; failure: unknown; response: HttpResponse } = {
    writer: ORIGIN,
    failure: null,
    response: { status: 201, headers: { 'Catalog-Sequence': '17' }, body: null },
  };
  const forwarding = new WriterForwarding({
    forwarder: {
      async forward({ path }, origin) {
        if (settings.failure !== null) throw settings.failure;
        seen.passed.push(`${origin}${path}`);
        return settings.response;
      },
    },
    cluster: {
      get writerOrigin() {
        return settings.writer;
      },
    },
    reach: async (sequence) => void seen.caughtUp.push(sequence),
    pullAccounts: async () => void (seen.pulls += 1),
    now: () => time,
  });
  const pass = (path: string, method = 'POST') =>
    forwarding.forwarding()?.({
      method,
      path: `/v1${path}`,
      trace: { found: path },
    } as HttpRequest);
  return { forwarding, seen, settings, pass, wait: (ms: number) => (time += ms) };
}

test('without another writer nothing is forwarded', () => {
  const { forwarding, settings } = open();
  settings.writer = null;
  assert.is(forwarding.forwarding(), null);
});

test('after a forwarded write this host catches up to it, and fetches accounts if they changed', async () => {
  const { seen, settings, pass } = open();
  assert.is((await pass('/books/'))?.status, 201);
  assert.equal(seen, { passed: [`${ORIGIN}/v1/books/`], caughtUp: [17], pulls: 0 });
  await pass('/admin/users/');
  assert.is(seen.pulls, 1);
  await pass('/admin/users/', 'GET');
  assert.is(seen.pulls, 1, 'a read changes nothing');
  settings.response = { ...settings.response, status: 422 };
  await pass('/books/');
  assert.equal(seen.caughtUp, [17, 17], 'a refused write changes nothing');
});

test('nothing is forwarded for 5 seconds after the writer could not be reached', async () => {
  const { forwarding, settings, pass, wait } = open();
  settings.failure = new CatalogError('primary_unreachable', 'away');
  const failure = await pass('/books/')?.catch((error: unknown) => error);
  assert.is(failure, settings.failure);
  assert.is(forwarding.forwarding(), null, 'this host carries its writes out');
  wait(5000);
  assert.ok(forwarding.forwarding() !== null);
  settings.failure = new CatalogError('busy', 'too many');
  await pass('/books/')?.catch(() => {});
  assert.ok(forwarding.forwarding() !== null, 'a writer that answers is there');
});

test.run();
