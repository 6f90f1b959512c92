/** src/pages/refresh/retry.ts: failed pages, and reports. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Clock } from '../../../../src/delay.ts';
import { Retry } from '../../../../src/pages/refresh/retry.ts';

/** A clock that moves only when a test moves it. */
class StoppedClock implements Clock {
  #now = 1000;
  #set: { readonly at: number; readonly run: () => void } | null = null;
  readonly delays: number[] = [];

  now(): number {
    return this.#now;
  }

  after(run: () => void, milliseconds: number): () => void {
    assert.is(this.#set, null, 'one round at a time');
    this.delays.push(milliseconds);
    this.#set = { at: this.#now + milliseconds, run };
    return () => (this.#set = null);
  }

  get waits(): boolean {
    return this.#set !== null;
  }

  pass(milliseconds: number): void {
    this.#now += milliseconds;
  }

  /** Advances the clock to the next round. */
  next(): void {
    const set = this.#set;
    if (set === null) throw new Error('nothing is set');
    this.#set = null;
    this.#now = Math.max(this.#now, set.at);
    set.run();
  }
}

/** Takes what is due. */
function taken(retry: Retry<string>): string[] {
  const values: string[] = [];
  for (let next = retry.take(); next !== undefined; next = retry.take()) values.push(next);
  return values;
}

/** @param takes whether the values of a round are taken at once. */
function outage(takes = true) {
  const clock = new StoppedClock();
  /** The values of each round. */
  const again: string[][] = [];
  const reports: string[] = [];
  const retry: Retry<string> = new Retry(
    () => takes && again.push(taken(retry)),
    (error) => reports.push(String(error)),
    clock,
  );
  return { clock, again, reports, retry };
}

test('failed pages are tried again together, after 500 ms, then twice as long, up to a minute', () => {
  const { clock, again, retry } = outage();
  retry.failed('a', 'first');
  retry.failed('b', 'second');
  assert.is(retry.size, 2);
  for (let round = 0; round < 10; round += 1) {
    clock.next();
    assert.equal(again.at(-1), ['a', 'b']);
    retry.failed('a', 'again');
    retry.failed('b', 'again');
  }
  const doubling = [500, 1000, 2000, 4000, 8000, 16_000, 32_000];
  assert.equal(clock.delays, [...doubling, 60_000, 60_000, 60_000, 60_000]);
});

test('an outage is reported in rounds 1, 2, 4, 8 and so on', () => {
  const { clock, reports, retry } = outage();
  for (let round = 1; round <= 20; round += 1) {
    retry.failed('a', round);
    retry.failed('b', `b of ${round}`);
    clock.next();
  }
  assert.equal(reports, ['1', '2', '4', '8', '16']);
});

test('an outage ends when all its pages have succeeded, and the next one is reported again', () => {
  const { clock, reports, retry } = outage();
  retry.failed('a', 'one');
  retry.failed('b', 'one');
  clock.next();
  retry.succeeded('a');
  retry.failed('b', 'two');
  retry.failed('c', 'two');
  assert.equal(reports, ['one', 'two']);
  clock.next();
  // The outage continues: c is still waiting, and the third round is not reported.
  retry.succeeded('b');
  retry.failed('c', 'three');
  assert.equal(reports, ['one', 'two']);
  clock.next();
  retry.succeeded('c');
  assert.not.ok(clock.waits);
  retry.failed('d', 'anew');
  assert.equal(reports, ['one', 'two', 'anew']);
  assert.is(clock.delays.at(-1), 500, 'and soon tried again');
});

test('a failed page that succeeds otherwise is not tried again', () => {
  const { clock, again, retry } = outage();
  retry.failed('a', 'one');
  retry.failed('b', 'one');
  retry.succeeded('a');
  assert.is(retry.size, 1);
  clock.next();
  assert.equal(again, [['b']]);
});

test('the success of a page that did not fail does not end an outage', () => {
  const { clock, reports, retry } = outage();
  for (const page of ['a', 'b']) retry.failed(page, 'one');
  clock.next();
  for (const page of ['a', 'c']) retry.failed(page, 'two');
  retry.succeeded('d');
  clock.next();
  retry.failed('a', 'three');
  assert.equal(reports, ['one', 'two']);
});

test('a page that fails after an outage begins another one, also if no page was tried again', () => {
  const { clock, again, reports, retry } = outage();
  retry.failed('a', 'one');
  clock.pass(400);
  retry.succeeded('a');
  retry.failed('b', 'another');
  assert.equal(reports, ['one', 'another']);
  clock.next();
  assert.equal([again, clock.delays], [[['b']], [500, 500]]);
  retry.succeeded('b');
  retry.failed('c', 'a third');
  assert.equal(reports, ['one', 'another', 'a third']);
});

test('the age is that of the oldest failure that waits, or 0 if none waits', () => {
  const { clock, retry } = outage();
  assert.is(retry.age, 0);
  retry.failed('a', 'one');
  clock.pass(300);
  retry.failed('b', 'two');
  assert.is(retry.age, 300);
  clock.next();
  assert.is(retry.age, 0, 'they have their turn');
  retry.failed('a', 'three');
  assert.is(retry.age, 500);
  retry.succeeded('a');
  retry.succeeded('b');
  assert.is(retry.age, 0);
});

test('at the end the failed pages are tried again, and a failure after that is reported once', () => {
  const { clock, again, reports, retry } = outage();
  for (const round of ['one', 'two']) {
    retry.failed('a', round);
    retry.failed('b', round);
    if (round === 'one') clock.next();
  }
  retry.end();
  assert.equal(again.at(-1), ['a', 'b']);
  assert.not.ok(clock.waits);
  retry.failed('a', 'last of a');
  retry.failed('b', 'last of b');
  assert.equal(reports, ['one', 'two', 'last of a'], 'whatever the number of rounds');
  assert.not.ok(clock.waits, 'no more rounds');
});

test('while a round is under way, those that fail again wait for another one', () => {
  const { clock, retry } = outage(false);
  const counts = () => [retry.size, retry.due];
  for (const page of ['a', 'b', 'c']) retry.failed(page, 'one');
  assert.equal(counts(), [3, 0]);
  assert.is(retry.take(), undefined, 'no round has begun');
  clock.next();
  assert.equal(counts(), [3, 3]);
  assert.is(retry.take(), 'a');
  retry.failed('a', 'two');
  assert.equal(counts(), [3, 2]);
  clock.next();
  assert.equal(counts(), [3, 3], 'the next round is due as well');
  assert.equal([retry.take(), retry.take()], ['b', 'c']);
  retry.succeeded('b');
  retry.failed('c', 'two');
  assert.equal([retry.take(), retry.take()], ['a', 'c']);
  assert.equal([retry.take(), ...counts()], [undefined, 0, 0]);
});

test('a page that fails after a round without pages is not tried again at once', () => {
  const { clock, retry } = outage();
  for (const page of ['a', 'b']) retry.failed(page, 'one');
  clock.next();
  retry.failed('a', 'two');
  retry.succeeded('a');
  clock.next();
  retry.failed('b', 'two');
  assert.equal([retry.size, retry.due], [1, 0]);
});

test('the last round begins while another one is under way', () => {
  const { clock, retry } = outage(false);
  for (const page of ['a', 'b']) retry.failed(page, 'one');
  clock.next();
  assert.is(retry.take(), 'a');
  retry.failed('a', 'two');
  retry.end();
  assert.equal(taken(retry), ['b', 'a']);
  retry.failed('b', 'two');
  assert.equal(taken(retry), []);
});

test.run();
