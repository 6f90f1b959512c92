/** spec 15.11: after a forwarded write, the response waits until this host shows the write. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { awaitOwnWrite, type CatchingUp } from '../../../../src/hosts/forwarding/own-writes.ts';
import type { HttpRequest, HttpResponse } from '../../../../src/http/message.ts';
import { withTimers } from '../../../support/clock.ts';
import { turn } from '../../../support/turns.ts';

const write = (found: string, method = 'POST') => ({ method, trace: { found } }) as HttpRequest;

const created: HttpResponse = {
  status: 201,
  headers: { 'Catalog-Sequence': '17' },
  body: null,
};

/** Records what is waited for. */
function host(reached: Promise<void> = Promise.resolve()) {
  const waits: (number | 'accounts')[] = [];
  const catchingUp: CatchingUp = {
    reach(sequence) {
      waits.push(sequence);
      return reached;
    },
    async pullAccounts() {
      waits.push('accounts');
    },
  };
  return { waits, catchingUp };
}

const never = new Promise<void>(() => {});

const unstopped = new AbortController().signal;

test('the response waits for the change set, and for accounts only if they may have changed', async () => {
  for (const [path, expected] of [
    ['/admin/skus/5/', [17]],
    ['/admin/users/ann/', [17, 'accounts']],
    ['/admin/tokens/7/', [17, 'accounts']],
    ['/books/admin/users/', [17]],
  ] as const) {
    const { waits, catchingUp } = host();
    await awaitOwnWrite(write(path), created, catchingUp, unstopped);
    assert.equal(waits, expected, path);
  }
});

test('the report of an import waits for what the import has written', async () => {
  for (const [path, method] of [
    ['/admin/imports/5/', 'GET'],
    ['/admin/imports/5/', 'HEAD'],
    ['/admin/imports/', 'GET'],
  ] as const) {
    const { waits, catchingUp } = host();
    await awaitOwnWrite(write(path, method), { ...created, status: 200 }, catchingUp, unstopped);
    assert.equal(waits, [17], `${method} ${path}`);
  }
});

test('another read and a refused request do not wait', async () => {
  const { waits, catchingUp } = host(never);
  await awaitOwnWrite(write('/admin/users/', 'GET'), created, catchingUp, unstopped);
  await awaitOwnWrite(write('/admin/users/', 'HEAD'), created, catchingUp, unstopped);
  for (const status of [400, 422]) {
    await awaitOwnWrite(write('/books/'), { ...created, status }, catchingUp, unstopped);
  }
  const unknown = { ...created, status: 404 };
  await awaitOwnWrite(write('/admin/imports/9/', 'GET'), unknown, catchingUp, unstopped);
  assert.equal(waits, []);
});

test('a response that names no change set waits for none', async () => {
  const { waits, catchingUp } = host();
  await awaitOwnWrite(write('/books/'), { ...created, headers: {} }, catchingUp, unstopped);
  assert.equal(waits, [0]);
});

test('a host that cannot catch up does not fail the write', async () => {
  const { waits, catchingUp } = host(Promise.reject(new Error('it fails')));
  await awaitOwnWrite(write('/books/'), created, catchingUp, unstopped);
  assert.equal(waits, [17]);
});

test('the response waits for at most a second', async () => {
  await withTimers(1000, async (pass) => {
    const waiting = awaitOwnWrite(write('/books/'), created, host(never).catchingUp, unstopped);
    let isOver = false;
    void waiting.then(() => (isOver = true));
    pass(999);
    await turn();
    assert.is(isOver, false);
    pass(1);
    await waiting;
  });
});

test('a host that stops ends the wait', async () => {
  await withTimers(1000, async () => {
    const stopped = new AbortController();
    const { catchingUp } = host(never);
    const waiting = awaitOwnWrite(write('/books/'), created, catchingUp, stopped.signal);
    let isOver = false;
    void waiting.then(() => (isOver = true));
    await turn();
    assert.is(isOver, false);
    stopped.abort();
    await turn();
    assert.is(isOver, true);
  });
});

test.run();
