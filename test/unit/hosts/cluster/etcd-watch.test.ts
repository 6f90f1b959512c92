/** A key of etcd is followed by a watch and by queries, whose values are passed to a listener. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError } from '../../../../src/errors.ts';
import { followKey } from '../../../../src/hosts/cluster/etcd-watch.ts';
import { MemoryEtcd } from '../../../support/memory-etcd.ts';
import { until } from '../../../support/until.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** A message of a watch with these values of the key; undefined for a key that was removed. */
const answer = (...values: readonly (string | undefined)[]) => ({
  result: { events: values.map((value) => ({ kv: value ? { value: base64(value) } : {} })) },
});

/** A node that sends some messages on a watch, and then keeps it open. */
class WatchedEtcd extends MemoryEtcd {
  readonly #answers: readonly unknown[];
  /** Watches that are open. */
  open = 0;

  constructor(answers: readonly unknown[]) {
    super();
    this.#answers = answers;
  }

  override async *watch(_: object, signal: AbortSignal): AsyncGenerator {
    signal.throwIfAborted();
    this.open += 1;
    signal.addEventListener('abort', () => (this.open -= 1));
    for (const each of this.#answers) yield each;
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  }
}

/** Follows a key of a node that sends these messages; `ask` answers the query. */
function follow(answers: readonly unknown[], ask: () => Promise<string>) {
  const told: (string | null)[] = [];
  const client = new WatchedEtcd(answers);
  const end = followKey(client, 'head', {
    decode: (value) => `watch: ${value.toString()}`,
    ask,
    listener: (value) => told.push(value),
  });
  return { client, told, end };
}

test('the listener gets the last value of each watch message without waiting for the query', async () => {
  const asked = Promise.withResolvers<string>();
  const answers = [{ result: {} }, answer('1'), answer('2', '3'), answer(undefined)];
  const { told, end } = follow(answers, () => asked.promise);
  await until('it is told', () => told.length === 2);
  assert.equal(told, ['watch: 1', 'watch: 3']);
  asked.resolve('asked: 3');
  await until('the answer is told', () => told.length === 3);
  assert.is(told[2], 'asked: 3');
  await end();
});

test('the listener gets null if the query fails', async () => {
  const { told, end } = follow([], () =>
    Promise.reject(new CatalogError('log_unavailable', 'etcd does not answer')),
  );
  await until('it is told', () => told.length > 0);
  await end();
  assert.is(told[0], null);
});

test('the listener gets nothing after the end', async () => {
  const asked = Promise.withResolvers<string>();
  const { client, told, end } = follow([], () => asked.promise);
  await until('the watch is open', () => client.open === 1);
  const ended = end();
  asked.resolve('late');
  await ended;
  assert.equal(told, []);
  assert.is(client.open, 0, 'the watch is ended');
});

test('a watch that etcd has cancelled is closed, and opened again', async () => {
  const asked = Promise.withResolvers<string>();
  const answers: unknown[] = [{ result: { created: true, canceled: true } }];
  const { told, end } = follow(answers, () => asked.promise);
  // The first watch reads its messages before this; a later one gets another.
  await new Promise(setImmediate);
  answers[0] = answer('1');
  await until('it is told', () => told.length > 0);
  assert.equal(told, ['watch: 1']);
  asked.resolve('asked');
  await end();
});

test.run();
