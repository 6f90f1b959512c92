/** One key of etcd is followed by a watch and by questions: what each of them tells is told on. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError } from '../../../../src/errors.ts';
import { followKey } from '../../../../src/hosts/cluster/etcd-watch.ts';
import { MemoryEtcd } from '../../../support/memory-etcd.ts';
import { until } from '../../../support/until.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** An answer of a watch with these values of the key; undefined for a key that was removed. */
const answer = (...values: readonly (string | undefined)[]) => ({
  result: { events: values.map((value) => ({ kv: value ? { value: base64(value) } : {} })) },
});

/** A node that gives some answers to a watch, and then keeps it open. */
class WatchedEtcd extends MemoryEtcd {
  readonly #answers: readonly unknown[];

  constructor(answers: readonly unknown[]) {
    super();
    this.#answers = answers;
  }

  override async *stream(_: string, __: object, signal: AbortSignal): AsyncGenerator {
    for (const each of this.#answers) yield each;
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  }
}

/** Follows a key of a node that gives these answers, whose question is answered by `ask`. */
function follow(answers: readonly unknown[], ask: () => Promise<string>) {
  const told: (string | null)[] = [];
  const end = followKey(new WatchedEtcd(answers), 'head', {
    decode: (value) => `watch: ${value.toString()}`,
    ask,
    listener: (value) => told.push(value),
  });
  return { told, end };
}

test('what a watch tells is told before the question is answered, the last of several values', async () => {
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

test('a question without an answer is told as null', async () => {
  const { told, end } = follow([], () =>
    Promise.reject(new CatalogError('log_unavailable', 'etcd does not answer')),
  );
  await until('it is told', () => told.length > 0);
  await end();
  assert.is(told[0], null);
});

test('what is answered after the end is not told', async () => {
  const asked = Promise.withResolvers<string>();
  const { told, end } = follow([], () => asked.promise);
  const ended = end();
  asked.resolve('late');
  await ended;
  assert.equal(told, []);
});

test.run();
