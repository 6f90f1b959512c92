/** Bytes that arrive in pieces, read as one. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { wholeOf } from '../../src/streams.ts';

test('a stream is read whole, although its owner uses the memory of a piece again', async () => {
  const memory = Buffer.alloc(3);
  async function* pieces() {
    for (const text of ['one', 'two', 'six']) {
      memory.write(text);
      yield memory;
    }
    yield '7';
  }
  assert.is((await wholeOf(pieces())).toString(), 'onetwosix7');
});

test('a stream is ended when enough of it is read', async () => {
  let [read, isEnded] = [0, false];
  async function* endless() {
    try {
      for (;;) yield Buffer.alloc((read += 1));
    } finally {
      isEnded = true;
    }
  }
  assert.is((await wholeOf(endless(), 6)).length, 6);
  assert.is(read, 3);
  assert.ok(isEnded);
});

test.run();
