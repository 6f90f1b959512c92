/** Owners take turns: of large bodies that are parsed (spec 3.3), and of logins (spec 6.7). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FairQueue } from '../../src/fair-queue.ts';
import { turn } from '../support/turns.ts';

/** Tasks of a queue that end when the test says so. */
class Site {
  /** The tasks that have begun, in order. */
  readonly begun: string[] = [];
  readonly #queue: FairQueue<string | null>;
  readonly #atOnce: number;
  readonly #ends: ((outcome: Error | null) => void)[] = [];

  constructor({ atOnce = 1, waiting = Number.POSITIVE_INFINITY } = {}) {
    this.#queue = new FairQueue({ atOnce, waiting, refusal: () => new Error('refused') });
    this.#atOnce = atOnce;
  }

  add(owner: string | null, task: string): Promise<string> {
    return this.#queue.run(owner, () => {
      this.begun.push(task);
      return new Promise((resolve, reject) => {
        this.#ends.push((failure) => (failure === null ? resolve(task) : reject(failure)));
      });
    });
  }

  /** Adds a task of the owner with its first letter. @returns it, or why it was refused. */
  readonly outcome = (task: string): Promise<string> =>
    this.add(task.charAt(0), task).catch((error: Error) => error.message);

  /** Ends the task that began first. */
  async end(failure: Error | null = null): Promise<void> {
    this.#ends.shift()?.(failure);
    await turn();
    assert.ok(this.#ends.length <= this.#atOnce, `${this.#ends.length} tasks run at once`);
  }

  /** Ends every task, one after the other. @returns the tasks that have begun. */
  async finish(): Promise<readonly string[]> {
    while (this.#ends.length > 0) await this.end();
    return this.begun;
  }
}

test('one task runs at a time, and those of one owner in order', async () => {
  const site = new Site();
  const results = ['a1', 'a2', 'a3'].map((task) => site.add('a', task));
  assert.equal(site.begun, ['a1']);
  for (let nth = 0; nth < 3; nth += 1) await site.end();
  assert.equal(site.begun, ['a1', 'a2', 'a3']);
  assert.equal(await Promise.all(results), ['a1', 'a2', 'a3']);
});

test('an owner waits for one task of each other owner, however many they have', async () => {
  const site = new Site();
  for (let nth = 0; nth < 60; nth += 1) void site.add(null, `-${nth}`);
  void site.add('a', 'a0');
  void site.add('a', 'a1');
  void site.add('b', 'b0');
  for (let nth = 0; nth < 6; nth += 1) await site.end();
  assert.equal(site.begun, ['-0', '-1', 'a0', 'b0', '-2', 'a1', '-3']);
  // Who comes back waits for no more than those who have waited.
  void site.add('b', 'b1');
  await site.end();
  await site.end();
  assert.equal(site.begun.slice(7), ['-4', 'b1']);
});

test('a task that is added just as another ends does not run beside the one that waits', async () => {
  const queue = new FairQueue<string>();
  const { promise, resolve } = Promise.withResolvers<void>();
  const begun: string[] = [];
  let running = 0;
  const add = (name: string) =>
    queue.run(name, async () => {
      begun.push(name);
      running += 1;
      assert.is(running, 1);
      await turn();
      running -= 1;
    });
  const first = queue.run('a', () => promise);
  const second = add('b');
  resolve();
  // In the microtask after the one in which the first task ends, and before the next one begins.
  const third = Promise.resolve().then(() => add('c'));
  await Promise.all([first, second, third]);
  assert.equal(begun, ['b', 'c']);
});

test('a task that fails rejects, and the next one runs', async () => {
  const site = new Site();
  const failing = site.add('a', 'a0');
  void site.add('a', 'a1');
  const caught = failing.catch((error: unknown) => String(error));
  await site.end(new Error('no'));
  assert.is(await caught, 'Error: no');
  assert.equal(site.begun, ['a0', 'a1']);
  await site.end();
  void site.add('b', 'b0');
  assert.equal(site.begun, ['a0', 'a1', 'b0']);
});

test('as many tasks run at a time as may, also after all have ended', async () => {
  const site = new Site({ atOnce: 2 });
  const results = ['a1', 'a2', 'a3', 'a4'].map((task) => site.add('a', task));
  assert.equal(site.begun, ['a1', 'a2']);
  await site.end();
  assert.equal(site.begun, ['a1', 'a2', 'a3']);
  assert.equal(await site.finish(), ['a1', 'a2', 'a3', 'a4']);
  results.push(...['a5', 'a6', 'a7'].map((task) => site.add('a', task)));
  assert.equal(site.begun.slice(4), ['a5', 'a6']);
  await site.finish();
  await Promise.all(results);
});

test('an owner who has taken all places gives them to others, until each has as many', async () => {
  const site = new Site({ waiting: 4 });
  const mine = ['a0', 'a1', 'a2', 'a3', 'a4'].map(site.outcome);
  assert.is(await site.outcome('a5'), 'refused');
  const others = ['b1', 'b2'].map(site.outcome);
  assert.equal(await Promise.all(mine.slice(3)), ['refused', 'refused']);
  for (const task of ['a6', 'b3']) assert.is(await site.outcome(task), 'refused');
  others.push(site.outcome('c1'));
  assert.is(await mine[2], 'refused');
  assert.equal(await site.finish(), ['a0', 'a1', 'b1', 'c1', 'b2']);
  assert.equal(await Promise.all([...mine.slice(0, 2), ...others]), ['a0', 'a1', 'b1', 'b2', 'c1']);
});

test('an owner takes no place from one who then has fewer', async () => {
  const site = new Site({ waiting: 3 });
  const waiting = ['a0', 'a1', 'a2', 'b1'].map(site.outcome);
  // Otherwise the two would take the place from each other for ever.
  assert.is(await site.outcome('b2'), 'refused');
  assert.equal(await site.finish(), ['a0', 'a1', 'b1', 'a2']);
  assert.equal(await Promise.all(waiting), ['a0', 'a1', 'a2', 'b1']);
});

test('the place of a task that has begun is free for another one', async () => {
  const site = new Site({ waiting: 2 });
  for (let round = 0; round < 4; round += 1) {
    const tasks = [0, 1, 2].map((nth) => site.outcome(`a${nth}`));
    assert.is(await site.outcome('a3'), 'refused', `round ${round}`);
    await site.finish();
    assert.equal(await Promise.all(tasks), ['a0', 'a1', 'a2'], `round ${round}`);
  }
});

test.run();
