/** When groups begin: at once beside nothing else, and together while requests come. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Loop, Pace } from '../../../../src/store/writer/pace.ts';

/** An event loop whose turns take as long as they are told. */
class SlowLoop implements Loop {
  turns = 0;
  #now = 0;
  /** Milliseconds of a turn. */
  turnMs = 0.01;

  now(): number {
    return this.#now;
  }

  async turn(): Promise<void> {
    this.turns += 1;
    this.pass(this.turnMs);
  }

  pass(milliseconds: number): void {
    this.#now += milliseconds;
  }
}

test('the first group begins at once', async () => {
  const loop = new SlowLoop();
  loop.turnMs = 5;
  await new Pace(loop).begin();
  assert.is(loop.turns, 0);
});

test('a group begins at once if none has begun for a while, however busy the loop is', async () => {
  const loop = new SlowLoop();
  const pace = new Pace(loop);
  await pace.begin();
  loop.pass(7);
  loop.turnMs = 5;
  await pace.begin();
  assert.is(loop.turns, 0);
});

test('while there is nothing else to do, a group waits for one turn', async () => {
  const loop = new SlowLoop();
  const pace = new Pace(loop);
  for (let groups = 1; groups <= 10; groups += 1) {
    await pace.begin();
    assert.is(loop.turns, groups - 1);
  }
});

test('while requests are served, groups begin 7 ms apart, and a turn later at most', async () => {
  const loop = new SlowLoop();
  const pace = new Pace(loop);
  loop.turnMs = 1;
  for (let groups = 0; groups < 10; groups += 1) {
    await pace.begin();
    assert.is(loop.now(), groups * 7);
  }
  loop.turnMs = 25;
  const before = loop.now();
  await pace.begin();
  assert.is(loop.now() - before, 25);
});

test('a group that waits begins as soon as there is nothing else to do', async () => {
  const loop = new SlowLoop();
  const pace = new Pace(loop);
  await pace.begin();
  loop.turnMs = 1;
  const begun = pace.begin();
  await Promise.resolve();
  loop.turnMs = 0.01;
  await begun;
  assert.ok(loop.now() < 3, `${loop.now()} ms`);
});

test.run();
