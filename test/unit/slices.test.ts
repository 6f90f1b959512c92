/** Work in slices shares the turns of the event loop. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { inTurns, Slices } from '../../src/slices.ts';
import { turn } from '../support/turns.ts';

const SLICE_MS = 2;

/** A clock that only work advances, and turns that the test runs. */
class Loop {
  clock = 0;
  /** The names of the work, one for each step, in the order of the steps. */
  readonly done: string[] = [];
  readonly slices = new Slices({
    now: () => this.clock,
    nextTurn: (work) => this.#next.push(work),
  });
  #next: (() => void)[] = [];

  /** Whether work is scheduled for the next turn. */
  get isScheduled(): boolean {
    return this.#next.length > 0;
  }

  /** @returns how many milliseconds the turn took. */
  turn(): number {
    const begun = this.clock;
    for (const work of this.#next.splice(0)) work();
    return this.clock - begun;
  }

  /** Work of some steps, each of which takes `stepMs` milliseconds. */
  *work(name: string, steps: number, stepMs = 1): Generator<undefined, string> {
    for (let step = 0; step < steps; step += 1) {
      this.clock += stepMs;
      this.done.push(name);
      yield;
    }
    return name;
  }

  /** Starts several pieces of work later. */
  begin(count: number, steps: number): void {
    for (let nth = 0; nth < count; nth += 1) {
      void this.slices.runLater(this.work(`long ${nth}`, steps));
    }
  }
}

test('however much work is in progress, a turn runs one slice of it', () => {
  for (const count of [1, 2, 8, 300]) {
    const loop = new Loop();
    loop.begin(count, 1000);
    for (let nth = 0; nth < 100; nth += 1) assert.is(loop.turn(), SLICE_MS, `${count} works`);
  }
});

test('pieces of work in progress take turns', () => {
  const loop = new Loop();
  loop.begin(3, 4);
  while (loop.isScheduled) loop.turn();
  const round = ['long 0', 'long 0', 'long 1', 'long 1', 'long 2', 'long 2'];
  assert.equal(loop.done, [...round, ...round]);
});

test('the rest of a slice that a piece of work does not need is used by the next one', () => {
  const loop = new Loop();
  void loop.slices.runLater(loop.work('short', 1));
  loop.begin(2, 3);
  loop.turn();
  assert.equal(loop.done, ['short', 'long 0']);
  loop.turn();
  assert.equal(loop.done.slice(2), ['long 1', 'long 1']);
});

test('new short work ends at once, however much work is in progress', async () => {
  const loop = new Loop();
  loop.begin(300, 1000);
  for (let nth = 0; nth < 10; nth += 1) {
    loop.turn();
    const before = loop.clock;
    assert.is(await loop.slices.run(loop.work('short', 1)), 'short');
    assert.is(loop.clock - before, 1);
  }
});

test('however much work is started in a turn, one slice of it runs, and the rest waits', () => {
  const loop = new Loop();
  for (let nth = 0; nth < 100; nth += 1) void loop.slices.run(loop.work(`new ${nth}`, 10));
  assert.is(loop.clock, SLICE_MS);
  loop.turn();
  assert.is(loop.clock, 2 * SLICE_MS);
  loop.turn();
  assert.equal(loop.done.slice(-2), ['new 1', 'new 1']);
});

test('runLater does not run the work in the current turn', () => {
  const loop = new Loop();
  void loop.slices.runLater(loop.work('later', 1));
  assert.equal(loop.done, []);
  loop.turn();
  assert.equal(loop.done, ['later']);
});

test('work that waits for other work to end does not delay the work in progress', async () => {
  const loop = new Loop();
  const waiting = loop.slices
    .run(loop.work('first', 3))
    .then(() => loop.slices.run(loop.work('second', 3)));
  loop.begin(2, 3);
  while (loop.isScheduled) {
    loop.turn();
    await turn();
  }
  assert.is(await waiting, 'second');
  const slices = [
    ['first', 'first'],
    ['first', 'long 0'],
    ['second', 'second'],
    ['long 1', 'long 1'],
    ['long 0', 'long 0'],
    ['second', 'long 1'],
  ];
  assert.equal(loop.done, slices.flat());
});

test('a slice of 0 ms runs one step in a turn', () => {
  const loop = new Loop();
  void loop.slices.run(loop.work('step', 3, 0), 0);
  assert.is(loop.done.length, 1);
  loop.turn();
  assert.is(loop.done.length, 2);
});

test('work that throws an error rejects its promise, and other work continues', async () => {
  const loop = new Loop();
  const failing = loop.slices.runLater(
    (function* () {
      yield;
      throw new Error('it fails');
    })(),
  );
  loop.begin(1, 1);
  loop.turn();
  await failing.then(
    () => assert.unreachable('it fails'),
    (error: unknown) => assert.match(String(error), 'it fails'),
  );
  assert.equal(loop.done, ['long 0']);
});

test('items are passed on in order, and the event loop turns after each slice of their work', async () => {
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const seen: [item: number, turns: number][] = [];
  for await (const item of inTurns([1, 2, 3])) {
    seen.push([item, turns]);
    const begun = performance.now();
    while (performance.now() - begun <= SLICE_MS);
  }
  isOver = true;
  assert.equal(
    seen.map(([item]) => item),
    [1, 2, 3],
  );
  const [first, second, third] = seen.map(([, when]) => when) as [number, number, number];
  assert.ok(first < second && second < third, String(seen));
});

test('items that are no longer taken end their source, and its errors are passed on', async () => {
  const ended: string[] = [];
  const source = function* (name: string) {
    try {
      yield name;
      throw new Error('it fails');
    } finally {
      ended.push(name);
    }
  };
  for await (const name of inTurns(source('first'))) {
    assert.is(name, 'first');
    break;
  }
  assert.equal(ended, ['first']);
  const all = inTurns(source('second'));
  await all.next();
  await all.next().then(
    () => assert.unreachable('it fails'),
    (error: unknown) => assert.match(String(error), 'it fails'),
  );
  assert.equal(ended, ['first', 'second']);
});

test.run();
