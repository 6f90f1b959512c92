/** When groups begin: soon if the event loop is idle, and 7 ms apart while it is busy. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { GroupCommitDelay, type Loop } from '../../../../src/store/writer/group-commit-delay.ts';

/** An event loop whose turns take a given time. */
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
  await new GroupCommitDelay(loop).wait();
  assert.is(loop.turns, 0);
});

test('a group begins at once if none has begun for 7 ms, even if the event loop is busy', async () => {
  const loop = new SlowLoop();
  const delay = new GroupCommitDelay(loop);
  await delay.wait();
  loop.pass(7);
  loop.turnMs = 5;
  await delay.wait();
  assert.is(loop.turns, 0);
});

test('if the event loop is idle, a group waits for one turn', async () => {
  const loop = new SlowLoop();
  const delay = new GroupCommitDelay(loop);
  for (let groups = 1; groups <= 10; groups += 1) {
    await delay.wait();
    assert.is(loop.turns, groups - 1);
  }
});

test('if the event loop is busy, groups begin 7 ms apart, and at most one turn later', async () => {
  const loop = new SlowLoop();
  const delay = new GroupCommitDelay(loop);
  loop.turnMs = 1;
  for (let groups = 0; groups < 10; groups += 1) {
    await delay.wait();
    assert.is(loop.now(), groups * 7);
  }
  loop.turnMs = 25;
  const before = loop.now();
  await delay.wait();
  assert.is(loop.now() - before, 25);
});

test('a group that waits begins as soon as the event loop is idle', async () => {
  const loop = new SlowLoop();
  const delay = new GroupCommitDelay(loop);
  await delay.wait();
  loop.turnMs = 1;
  const begun = delay.wait();
  await Promise.resolve();
  loop.turnMs = 0.01;
  await begun;
  assert.ok(loop.now() < 3, `${loop.now()} ms`);
});

test.run();
