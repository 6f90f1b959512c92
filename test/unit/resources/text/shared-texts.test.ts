/** Texts that readers share: made once, one at a time, in bounded memory. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { TurnQueue } from '../../../../src/resources/text/turn-queue.ts';
import { SharedTexts } from '../../../../src/resources/text/shared-texts.ts';
import { countingTurns, turn } from '../../../support/turns.ts';

const STAYS = new AbortController().signal;

/** Texts of two pieces of five bytes each, with a record of which were made. */
class Stage {
  readonly made: string[] = [];
  readonly shared: SharedTexts;
  making = 0;
  most = 0;
  #now = 0;
  #due: { readonly at: number; readonly work: () => void }[] = [];

  constructor(maxBytes: number) {
    const delay = (work: () => void, milliseconds: number) => {
      const job = { at: this.#now + milliseconds, work };
      this.#due.push(job);
      return () => void (this.#due = this.#due.filter((other) => other !== job));
    };
    this.shared = new SharedTexts({ maxBytes, now: () => this.#now, delay });
  }

  /** Advances the clock. */
  pass(milliseconds: number): void {
    this.#now += milliseconds;
    for (const { at, work } of this.#due.filter((job) => job.at <= this.#now)) {
      this.#due = this.#due.filter((job) => job.at !== at);
      work();
    }
  }

  read(key: string, gone = STAYS) {
    const make = async () => {
      this.making += 1;
      this.most = Math.max(this.most, this.making);
      await turn();
      this.making -= 1;
      this.made.push(key);
      return [Buffer.from(`${key}:one`), Buffer.from(`${key}:two`)];
    };
    return this.shared.read(key, make, gone);
  }
}

/** Waits until everything has run that does not wait for a reader or the clock. */
async function settle(): Promise<void> {
  for (let turns = 0; turns < 50; turns += 1) await turn();
}

const textOf = async (reading: ReturnType<Stage['read']>) =>
  (await Array.fromAsync(reading)).map(({ content }) => Buffer.from(content).toString());

test('concurrent readers of a text share the same bytes, which are made once', async () => {
  const stage = new Stage(100);
  const readers = [stage.read('a'), stage.read('a'), stage.read('a')];
  const first = await Promise.all(readers.map((reader) => reader.next()));
  assert.equal(stage.made, ['a']);
  const bytes = first.map(({ value }) => value?.content);
  assert.ok(bytes[0] !== undefined && bytes[1] === bytes[0] && bytes[2] === bytes[0]);
  const rest = await Promise.all(readers.map((reader) => textOf(reader)));
  assert.equal(rest, [['a:two'], ['a:two'], ['a:two']]);
});

test('texts are made one at a time, in the order of the requests', async () => {
  const stage = new Stage(1000);
  await Promise.all(['c', 'a', 'b', 'a'].map((key) => textOf(stage.read(key))));
  assert.equal(stage.made, ['c', 'a', 'b']);
  assert.is(stage.most, 1);
});

test('a text without readers is kept while there is room, and the oldest is removed first', async () => {
  const stage = new Stage(20);
  for (const key of ['a', 'b', 'a', 'c', 'b', 'a']) await textOf(stage.read(key));
  assert.equal(stage.made, ['a', 'b', 'c', 'a'], 'c took the room of a');
  assert.is(stage.shared.bytes, 20);
});

test('however many texts are requested, memory exceeds the limit by at most one text', async () => {
  const stage = new Stage(25);
  const readers = Array.from({ length: 20 }, (_, index) =>
    stage.read(String.fromCodePoint(65 + index)),
  );
  for (const reader of readers) void reader.next();
  for (let turns = 0; turns < 20; turns += 1) {
    await settle();
    assert.ok(stage.shared.bytes <= 25 + 10, `${stage.shared.bytes} bytes`);
    stage.pass(5000);
  }
  assert.is(stage.made.length, 20, 'each had its turn');
});

test('a reader that is stuck holds up others for at most 5 seconds, and then continues where it was', async () => {
  const stage = new Stage(0);
  const slow = stage.read('a');
  assert.is(String((await slow.next()).value?.content), 'a:one');
  const other = textOf(stage.read('b'));
  await settle();
  stage.pass(4999);
  await settle();
  assert.equal(stage.made, ['a'], 'others wait in their turn');
  stage.pass(1);
  assert.equal(await other, ['b:one', 'b:two']);
  assert.equal(await textOf(slow), ['a:two']);
  assert.equal(stage.made, ['a', 'b', 'a']);
});

test('a reader that ends makes room at once', async () => {
  const stage = new Stage(0);
  const first = stage.read('a');
  await first.next();
  const other = textOf(stage.read('b'));
  await settle();
  assert.equal(stage.made, ['a']);
  await first.return();
  assert.equal(await other, ['b:one', 'b:two']);
  assert.is(stage.shared.bytes, 0);
});

test('a waiting reader that disconnects ends, and a text without readers is not made', async () => {
  const stage = new Stage(0);
  const first = stage.read('a');
  await first.next();
  const gone = new AbortController();
  const waiting = [stage.read('b', gone.signal).next(), stage.read('b', gone.signal).next()];
  const last = textOf(stage.read('c'));
  await settle();
  gone.abort();
  assert.equal(
    (await Promise.all(waiting)).map(({ done }) => done),
    [true, true],
  );
  await first.return();
  assert.equal(await last, ['c:one', 'c:two']);
  assert.equal(stage.made, ['a', 'c']);
});

test('a text without readers takes no room from others', async () => {
  const stage = new Stage(0);
  await stage.read('a').next();
  const second = stage.read('b');
  const begun = second.next();
  const gone = new AbortController();
  const waiting = stage.read('c', gone.signal).next();
  await settle();
  gone.abort();
  await waiting;
  stage.pass(5000);
  await begun;
  await settle();
  stage.pass(5000);
  await settle();
  assert.equal(await textOf(second), ['b:two']);
  assert.equal(stage.made, ['a', 'b']);
});

test('a reader that has disconnected does not wait', async () => {
  const stage = new Stage(0);
  await stage.read('a').next();
  assert.is((await stage.read('b', AbortSignal.abort()).next()).done, true);
});

test('a text whose readers leave while it is made is not kept if there is no room', async () => {
  const stage = new Stage(0);
  const gone = new AbortController();
  const waiting = stage.read('a', gone.signal).next();
  while (stage.making === 0) await Promise.resolve();
  gone.abort();
  await waiting;
  await settle();
  assert.equal(stage.made, ['a']);
  assert.is(stage.shared.bytes, 0);
});

test('a text that cannot be made fails for waiting readers, and is made again for the next one', async () => {
  const shared = new SharedTexts({ maxBytes: 100 });
  let attempts = 0;
  const make = async () => {
    attempts += 1;
    await turn();
    if (attempts === 1) throw new Error('the disk is gone');
    return [Buffer.from('text')];
  };
  const waiting = [shared.read('a', make, STAYS).next(), shared.read('a', make, STAYS).next()];
  for (const failed of await Promise.allSettled(waiting)) assert.is(failed.status, 'rejected');
  assert.is(attempts, 1);
  const { value } = await shared.read('a', make, STAYS).next();
  assert.equal(value, { content: Buffer.from('text'), isFirst: true, isLast: true });
});

test('a TurnQueue lets at most 4 callers continue in each turn of the event loop, in order', () =>
  countingTurns(async (turns) => {
    const queue = new TurnQueue(4);
    const order: number[] = [];
    const perTurn = new Map<number, number>();
    await Promise.all(
      // One is alone in the last turn.
      Array.from({ length: 29 }, async (_, index) => {
        await queue.next();
        order.push(index);
        perTurn.set(turns(), (perTurn.get(turns()) ?? 0) + 1);
      }),
    );
    assert.equal(order, [...order.keys()]);
    assert.ok(Math.max(...perTurn.values()) <= 4, String([...perTurn.values()]));
  }));

test('a caller who is alone continues in the next turn', () =>
  countingTurns(async (turns) => {
    const queue = new TurnQueue(4);
    for (let nth = 1; nth <= 3; nth += 1) {
      const before = turns();
      await queue.next();
      assert.ok(turns() - before <= 2, `${turns() - before} turns`);
    }
  }));

test.run();
