/** spec 15.26: writes are forwarded to the writer, and carried out here if it cannot be reached. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError } from '../../../../src/errors.ts';
import { WriterForwarding } from '../../../../src/hosts/cluster/writer-forwarding.ts';
import type { HttpRequest, HttpResponse } from '../../../../src/http/message.ts';
import { withTimersOf } from '../../../support/clock.ts';
import { turn } from '../../../support/turns.ts';

const ORIGIN = 'https://writer.example';
const PSEUDONYM = 'catalog-0f3c9a71b2d44e58';
const WRITE = requestOf('/books/', 'POST');

function requestOf(path: string, method: string, headers = {}): HttpRequest {
  return { method, path: `/v1${path}`, headers, trace: { found: path } } as HttpRequest;
}

function open() {
  let time = 0;
  const waits = new Set<{ readonly work: () => void; readonly ms: number }>();
  const seen = { passed: [] as string[], caughtUp: [] as number[], pulls: 0 };
  const asked: string[] = [];
  const settings: {
    writer: string | null;
    failure: unknown;
    response: HttpResponse;
    /** Forwarded requests wait for it, if it is not null. */
    answer: Promise<void> | null;
    /** When this host shows what was written at the writer. */
    arrival: Promise<void>;
    isThere: boolean | Promise<boolean>;
  } = {
    writer: ORIGIN,
    failure: null,
    answer: null,
    arrival: turn(),
    isThere: true,
    response: { status: 201, headers: { 'Catalog-Sequence': '17' }, body: null },
  };
  const forwarding = new WriterForwarding({
    forwarder: {
      pseudonym: PSEUDONYM,
      async forward({ path }, origin) {
        if (settings.failure !== null) throw settings.failure;
        seen.passed.push(`${origin}${path}`);
        await settings.answer;
        return settings.response;
      },
    },
    cluster: {
      get writerOrigin() {
        return settings.writer;
      },
    },
    async reach(sequence) {
      await settings.arrival;
      seen.caughtUp.push(sequence);
    },
    async pullAccounts() {
      await turn();
      seen.pulls += 1;
    },
    async isThere(origin) {
      asked.push(origin);
      return settings.isThere;
    },
    now: () => time,
    delay(work, ms) {
      const waiting = { work, ms };
      waits.add(waiting);
      return () => void waits.delete(waiting);
    },
  });
  const pass = (path: string, method = 'POST') => {
    const request = requestOf(path, method);
    return forwarding.forwarding(request)?.(request);
  };
  /** Lets the time of all requests that wait pass. */
  const silence = async () => {
    for (const { work, ms } of waits) {
      assert.is(ms, 1000);
      work();
    }
    await turn();
  };
  return { forwarding, seen, asked, settings, pass, silence, wait: (ms: number) => (time += ms) };
}

test('without another writer nothing is forwarded', () => {
  const { forwarding, settings } = open();
  settings.writer = null;
  assert.is(forwarding.forwarding(WRITE), null);
});

test('a request that comes back is carried out here: two hosts take each other for the writer', () => {
  const { forwarding } = open();
  const via = (...hosts: string[]) => ({ via: hosts.map((host) => `1.1 ${host}`).join(', ') });
  const others = ['catalog-1111111111111111', 'catalog-2222222222222222'];
  const forwards = (headers: { readonly via: string }) =>
    forwarding.forwarding(requestOf('/books/', 'POST', headers)) !== null;
  assert.is(forwards(via(...others)), true, 'other hosts have passed it on');
  assert.is(forwards(via(PSEUDONYM, ...others.slice(1))), false, 'this host has');
  assert.is(forwards(via(...others, 'catalog-3333333333333333')), false, 'three hosts have');
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

test('a response that waits for this host is sent at once when the host stops', async () => {
  const { forwarding, seen, settings, pass } = open();
  settings.arrival = new Promise(() => {});
  let status: number | undefined;
  const passing = pass('/books/')?.then((response) => (status = response.status));
  for (let turns = 0; turns < 5; turns += 1) await turn();
  assert.equal([seen.passed.length, status], [1, undefined]);
  forwarding.stop();
  for (let turns = 0; turns < 5; turns += 1) await turn();
  assert.is(status, 201);
  await passing;
});

test('nothing is forwarded for 5 seconds after the writer could not be reached', async () => {
  const { forwarding, settings, pass, wait } = open();
  settings.failure = new CatalogError('primary_unreachable', 'away');
  const failure = await pass('/books/')?.catch((error: unknown) => error);
  assert.is(failure, settings.failure);
  assert.is(forwarding.forwarding(WRITE), null, 'this host carries its writes out');
  wait(5000);
  assert.ok(forwarding.forwarding(WRITE) !== null);
  settings.failure = new CatalogError('busy', 'too many');
  await pass('/books/')?.catch(() => {});
  assert.ok(forwarding.forwarding(WRITE) !== null, 'a writer that answers is there');
});

test('a writer that could not be reached is avoided for as long as it does not answer', async () => {
  const { forwarding, settings, pass, wait } = open();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  settings.isThere = promise;
  settings.failure = new CatalogError('primary_unreachable', 'away');
  await pass('/books/')?.catch(() => {});
  wait(4000);
  resolve(false);
  await turn();
  wait(4000);
  assert.is(forwarding.forwarding(WRITE), null, '5 seconds count from the last question');
  forwarding.stop();
});

test('a writer that leaves a request without an answer is avoided if it does not answer others either', async () => {
  const { forwarding, settings, pass, silence } = open();
  const { promise, resolve } = Promise.withResolvers<void>();
  settings.answer = promise;
  const waiting = pass('/books/');
  await silence();
  assert.ok(forwarding.forwarding(WRITE) !== null, 'it is only busy');
  settings.isThere = false;
  await silence();
  assert.is(forwarding.forwarding(WRITE), null, 'this host carries its writes out');
  forwarding.stop();
  resolve();
  assert.is((await waiting)?.status, 201);
});

test('after a 503 that the writer has not made, it is avoided unless it answers', async () => {
  const { forwarding, settings, pass } = open();
  settings.isThere = false;
  settings.response = { ...settings.response, status: 503 };
  await pass('/books/');
  await turn();
  assert.ok(forwarding.forwarding(WRITE) !== null, 'it has made this one');
  settings.response = { ...settings.response, headers: {} };
  assert.is((await pass('/books/'))?.status, 503);
  await turn();
  assert.is(forwarding.forwarding(WRITE), null, 'this host carries its writes out');
  forwarding.stop();
});

test('a writer that answers in time is not asked whether it is there', async () => {
  const { forwarding, settings, pass, silence } = open();
  settings.isThere = false;
  await pass('/books/');
  await silence();
  assert.ok(forwarding.forwarding(WRITE) !== null);
});

test('a writer that broke off a write, and may have carried it out, is avoided too', async () => {
  const { forwarding, settings, pass } = open();
  settings.failure = new CatalogError('write_unknown', 'it may have carried it out');
  await pass('/books/')?.catch(() => {});
  assert.is(forwarding.forwarding(WRITE), null, 'this host carries its writes out');
  forwarding.stop();
});

test('a new writer is not avoided because of the one before', async () => {
  const { forwarding, settings, pass } = open();
  settings.failure = new CatalogError('primary_unreachable', 'away');
  await pass('/books/')?.catch(() => {});
  settings.writer = 'https://next.example';
  assert.ok(forwarding.forwarding(WRITE) !== null);
  forwarding.stop();
});

test('a writer is asked one question at a time, and no more once another host is the writer', () =>
  withTimersOf(1000, async (timers) => {
    const { forwarding, asked, settings, pass, wait } = open();
    settings.isThere = false;
    settings.failure = new CatalogError('primary_unreachable', 'away');
    for (let nth = 0; nth < 3; nth += 1) {
      await pass('/books/')?.catch(() => {});
      wait(5000);
    }
    assert.equal(asked, [ORIGIN]);
    settings.writer = 'https://next.example';
    for (const end of timers.running.values()) end();
    await turn();
    assert.equal(asked, [ORIGIN]);
    settings.writer = ORIGIN;
    wait(5000);
    await pass('/books/')?.catch(() => {});
    assert.equal(asked, [ORIGIN, ORIGIN], 'it is the writer again');
    forwarding.stop();
  }));

test('an answer without a sequence that is not 503 asks no question', async () => {
  const { asked, settings, pass } = open();
  settings.response = { status: 400, headers: {}, body: null };
  await pass('/books/');
  assert.equal(asked, []);
});

test.run();
