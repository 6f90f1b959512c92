/** Long texts in pieces share the turns of the event loop. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { inPieces } from '../../../../src/resources/text/pieces.ts';
import { countingTurns } from '../../../support/turns.ts';

/** Milliseconds of a slice: a text that takes as long uses up its turn. */
const SLICE_MS = 2;

test('however many texts are read concurrently, a turn makes a slice of one of them', async () => {
  const readers = 16;
  const texts = 8;
  function* slow() {
    for (let text = 0; text < texts; text += 1) {
      const end = performance.now() + SLICE_MS;
      while (performance.now() < end);
      yield 'x';
    }
  }
  const turns = await countingTurns(async (count) => {
    const all = Array.from({ length: readers }, () => Array.fromAsync(inPieces(slow())));
    for (const pieces of await Promise.all(all)) assert.equal(pieces, ['x'.repeat(texts)]);
    return count();
  });
  // In a turn one text may begin and another continue.
  assert.ok(turns >= (readers * texts) / 2, `${turns} turns`);
});

test('a piece ends between two texts, and only a text that is longer than a piece is cut', async () => {
  const full = 64 * 1024;
  const texts = ['a', 'b'.repeat(full - 1), 'c', '', 'd'.repeat(full), '😀'.repeat(full), 'e'];
  const pieces = await Array.fromAsync(inPieces(texts));
  assert.is(pieces.join(''), texts.join(''));
  assert.equal(
    pieces.map((piece) => `${piece.length} ${piece[0]}`),
    [`${full} a`, '1 c', `${full} d`, `${full} \ud83d`, `${full} \ud83d`, '1 e'],
  );
});

test('the source of a text is closed when its reader stops', async () => {
  let closed = false;
  function* endless() {
    try {
      for (;;) yield 'x'.repeat(1000);
    } finally {
      closed = true;
    }
  }
  for await (const piece of inPieces(endless())) {
    assert.is(piece.length, 65_000);
    break;
  }
  assert.ok(closed);
});

test.run();
