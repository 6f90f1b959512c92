/** Bytes that arrive in pieces, read as one. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { messageOf } from '../../src/errors.ts';
import { bounded, following, piecesOf, wholeOf } from '../../src/streams.ts';

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

test.run();
