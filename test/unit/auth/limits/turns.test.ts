/** Logins wait for turns, which clients take in rotation and cannot occupy alone (spec 6.7). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Turns, type TurnsOptions } from '../../../../src/auth/limits/turns.ts';
import { CatalogError } from '../../../../src/errors.ts';
import { codeOf, failureOf } from '../../../support/failure.ts';
import { turn } from '../../../support/turns.ts';

/** Tasks that end when the test says so. */
class Site {
  /** The tasks that have begun, in order. */
  readonly begun: string[] = [];
  readonly #turns: Turns;
  readonly #ends: ((failure: Error | null) => void)[] = [];

  constructor(options: TurnsOptions = { atOnce: 1, waiting: 4 }) {
    this.#turns = new Turns(options);
  }

  add(task: string): Promise<string> {
    const [owner = ''] = task;
    return this.#turns.run(owner, () => {
      this.begun.push(task);
      return new Promise((resolve, reject) => {
        this.#ends.push((failure) => (failure === null ? resolve(task) : reject(failure)));
      });
    });
  }

  /** Ends the task that began first. */
  async end(failure: Error | null = null): Promise<void> {
    this.#ends.shift()?.(failure);
    await turn();
  }

  /** Ends every task, one after the other. @returns the tasks that have begun. */
  async finish(): Promise<readonly string[]> {
    while (this.#ends.length > 0) await this.end();
    return this.begun;
  }
}

test('as many tasks run at a time as may, and a place is passed on after a failure too', async () => {
  const site = new Site({ atOnce: 2, waiting: 4 });
  const [first, ...others] = ['a1', 'a2', 'a3', 'a4'].map((task) => site.add(task));
  assert.equal(site.begun, ['a1', 'a2']);
  const failed = failureOf(first ?? Promise.resolve());
  await site.end(new CatalogError('unauthorized', 'expected'));
  assert.is((await failed).message, 'expected');
  assert.equal(site.begun, ['a1', 'a2', 'a3']);
  assert.equal(await site.finish(), ['a1', 'a2', 'a3', 'a4']);
  assert.equal(await Promise.all(others), ['a2', 'a3', 'a4']);
  const next = [site.add('a5'), site.add('a6')];
  assert.equal(site.begun.slice(4), ['a5', 'a6']);
  await site.finish();
  await Promise.all(next);
});

test('an owner waits for one task of each other owner, however many they have', async () => {
  const site = new Site();
  const results = ['a1', 'a2', 'a3', 'b1', 'c1'].map((task) => site.add(task));
  assert.equal(await site.finish(), ['a1', 'a2', 'b1', 'c1', 'a3']);
  await Promise.all(results);
});

test('an owner who has taken all places gives them to others, until each has as many', async () => {
  const site = new Site();
  const mine = ['a0', 'a1', 'a2', 'a3', 'a4'].map((task) => site.add(task));
  assert.is(await codeOf(site.add('a5')), 'login_throttled');
  const others = [site.add('b1'), site.add('b2')];
  for (const refused of mine.slice(3)) {
    const { code, headers } = await failureOf(refused);
    assert.is(code, 'login_throttled');
    assert.is(headers['Retry-After'], '1');
  }
  for (const task of ['a6', 'b3']) assert.is(await codeOf(site.add(task)), 'login_throttled');
  others.push(site.add('c1'));
  assert.is(await codeOf(mine[2] ?? Promise.resolve()), 'login_throttled');
  assert.equal(await site.finish(), ['a0', 'a1', 'b1', 'c1', 'b2']);
  await Promise.all([...mine.slice(0, 2), ...others]);
});

test.run();
