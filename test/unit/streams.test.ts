/** Streams: bytes in pieces, bounds, and how a stream that waits is closed. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { messageOf } from '../../src/errors.ts';
import { allOf, bounded, closable, following, piecesOf, wholeOf } from '../../src/streams.ts';
import { turn } from '../support/turns.ts';

test('a stream is read whole, although its owner uses the memory of a piece again', async () => {
  const memory = Buffer.alloc(3);
  async function* pieces() {
    for (const text of ['one', 'two', 'six']) {
      memory.write(text);
      yield memory;
    }
  }
  assert.is((await wholeOf(pieces())).toString(), 'onetwosix');
});

test('bytes are cut into pieces of a size, of which the last is the rest', () => {
  const cut = (text: string) => Array.from(piecesOf(Buffer.from(text), 3), String);
  assert.equal([cut(''), cut('one'), cut('onetwo!')], [[], ['one'], ['one', 'two', '!']]);
});

test('a value that was read already precedes the others of its stream', async () => {
  async function* others() {
    yield* ['two', 'three'];
  }
  assert.equal(await Array.fromAsync(following('one', others())), ['one', 'two', 'three']);
});

test('a stream with more bytes than the limit is refused, and ended', async () => {
  let [read, isEnded] = [0, false];
  async function* endless() {
    try {
      for (;;) yield Buffer.alloc((read += 1));
    } finally {
      isEnded = true;
    }
  }
  const tooLong = () => new Error('more than 5');
  assert.is(await wholeOf(bounded(endless(), 5, tooLong)).then(String, messageOf), 'more than 5');
  assert.is(read, 3);
  assert.ok(isEnded);
});

test('a stream with as many bytes as the limit is passed on unchanged', async () => {
  async function* pieces() {
    yield* ['one', 'two'].map((text) => Buffer.from(text));
  }
  const tooLong = () => new Error('more than 6');
  assert.is((await wholeOf(bounded(pieces(), 6, tooLong))).toString(), 'onetwo');
});

test('the values of a stream are read in order, up to a limit', async () => {
  async function* values() {
    yield* [1, 2, 3];
  }
  const tooMany = () => new Error('more than 2');
  assert.equal(await allOf(values(), 3, tooMany), [1, 2, 3]);
  assert.is(await allOf(values(), 2, tooMany).then(String, messageOf), 'more than 2');
});

/** A stream of two values, which then waits until it is closed, and what happens to it. */
function waiting() {
  const closed = new AbortController();
  const seen: string[] = [];
  async function* values() {
    try {
      yield* ['one', 'two'];
      await new Promise((resolve) => closed.signal.addEventListener('abort', resolve));
    } finally {
      seen.push('the stream ends');
    }
  }
  const close = async () => {
    await Promise.resolve();
    if (!seen.includes('closed')) seen.push('closed');
  };
  return { stream: closable(values(), closed, close)[Symbol.asyncIterator](), seen };
}

test('a stream is closed while it waits for its next value', async () => {
  const { stream, seen } = waiting();
  const read = [await stream.next(), await stream.next()];
  assert.equal(
    read.map(({ value }) => value),
    ['one', 'two'],
  );
  const next = stream.next();
  await turn();
  await stream.return?.();
  assert.equal(seen, ['the stream ends', 'closed']);
  assert.is((await next).done, true);
});

test('a stream is closed between two values, and before it has begun', async () => {
  const [begun, other] = [waiting(), waiting()];
  await begun.stream.next();
  await begun.stream.return?.();
  assert.equal(begun.seen, ['the stream ends', 'closed']);
  await other.stream.return?.();
  assert.equal(other.seen, ['closed']);
});

test('what a stream holds is given back at its end', async () => {
  const seen: string[] = [];
  async function* values() {
    yield* ['one', 'two'];
  }
  const close = async () => {
    await Promise.resolve();
    seen.push('closed');
  };
  const read = await Array.fromAsync(closable(values(), new AbortController(), close));
  assert.equal([read, seen], [['one', 'two'], ['closed']]);
});

test.run();
