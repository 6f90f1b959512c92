/** Reports of imports that are sent to many slow clients. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { entityTag } from '../../../../src/resources/entity-tag.ts';
import {
  ImportReports,
  type ShownImport,
} from '../../../../src/resources/transfer/import-reports.ts';
import { ImportState } from '../../../../src/resources/transfer/import-state.ts';
import { codeOf } from '../../../support/failure.ts';
import { countingTurns } from '../../../support/turns.ts';

const PIECE_BYTES = 64 * 1024;

const LONG = `{"name":"${'\u{1f600}\u00e9'.repeat(100_000)}"}`;

function iteratorOf({ text }: ShownImport): AsyncIterator<string | Uint8Array> {
  assert.ok(typeof text !== 'string' && !(text instanceof Uint8Array));
  return text[Symbol.asyncIterator]();
}

async function restOf(iterator: AsyncIterator<string | Uint8Array>): Promise<string> {
  const pieces: Buffer[] = [];
  for (;;) {
    const { done, value } = await iterator.next();
    if (done === true) return Buffer.concat(pieces).toString();
    pieces.push(Buffer.from(value as string));
  }
}

test('concurrent readers of a report share its pieces, and it is read once', async () => {
  let loaded = 0;
  const reports = new ImportReports(() => {
    loaded += 1;
    return Buffer.from(LONG);
  });
  const shown = await Promise.all([1, 2, 3].map(() => reports.finished(7)));
  const readers = shown.map(iteratorOf);
  const first = await Promise.all(readers.map(async (reader) => (await reader.next()).value));
  assert.ok(first[0] instanceof Uint8Array && first[0].length === PIECE_BYTES);
  assert.is(first[0].buffer.byteLength, PIECE_BYTES, 'a slow client keeps only one piece');
  assert.ok(first[1] === first[0] && first[2] === first[0]);
  for (const reader of readers) await restOf(reader);
  assert.is(loaded, 1);
  assert.equal(
    shown.map(({ etag }) => etag),
    [entityTag(LONG), entityTag(LONG), entityTag(LONG)],
  );
});

test('at most 16 pieces of reports are sent in each turn of the event loop', () =>
  countingTurns(async (turns) => {
    const reports = new ImportReports(() => Buffer.from(LONG));
    const perTurn = new Map<number, number>();
    const ended = await reports.finished(7);
    const { moment } = stateWith(1000);
    await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        await iteratorOf(index % 2 === 0 ? ended : reports.unfinished(moment)).next();
        perTurn.set(turns(), (perTurn.get(turns()) ?? 0) + 1);
      }),
    );
    assert.ok(Math.max(...perTurn.values()) <= 16, String([...perTurn.values()]));
  }));

test('a report is sent unchanged, and a short one in one piece', async () => {
  const reports = new ImportReports((id) => Buffer.from(id === 1 ? LONG : '{}'));
  const pieces: Uint8Array[] = [];
  const { text } = await reports.finished(1);
  for await (const piece of text as AsyncIterable<Uint8Array>) pieces.push(piece);
  assert.ok(Buffer.concat(pieces).toString() === LONG);
  const short = await reports.finished(2);
  assert.is(short.etag, entityTag('{}'));
  assert.is(Buffer.from(short.text as Uint8Array).toString(), '{}');
});

test('a report that does not exist is not_found', async () => {
  assert.is(await codeOf(new ImportReports(() => null).finished(3)), 'not_found');
});

/** A state with long changes. */
function stateWith(rows: number): ImportState {
  const state = new ImportState(5, 'goods', false);
  for (let row = 1; row <= rows; row += 1) addTo(state, row);
  return state;
}

const addTo = (state: ImportState, id: number) =>
  state.count(id, {
    change: { id, action: 'update', fields: () => ({ desc_detail: ['', 'x'.repeat(4000)] }) },
    created: [],
  });

test('an import in progress is shown as of the request, however slow the client', async () => {
  const state = stateWith(500);
  const expected = state.text;
  const reports = new ImportReports(() => null);
  const reader = iteratorOf(reports.unfinished(state.moment));
  const begun = String((await reader.next()).value);
  for (let row = 501; row <= 600; row += 1) addTo(state, row);
  state.addError({ row: 1, column: null, message: 'it is wrong' });
  state.beginWriting();
  assert.ok(begun + (await restOf(reader)) === expected);
  assert.not.equal(state.text, expected);
});

test('the text of an import in progress is made as its client reads it', async () => {
  const { etag, units, parts } = stateWith(1000).moment;
  let made = 0;
  const counted = function* () {
    for (const part of parts()) {
      made += part.length;
      yield part;
    }
  };
  assert.ok(units > 10 * PIECE_BYTES);
  const reports = new ImportReports(() => null);
  const reader = iteratorOf(reports.unfinished({ etag, units, parts: counted }));
  assert.is(made, 0);
  await reader.next();
  assert.ok(made < 2 * PIECE_BYTES, `${made} units are made`);
  await reader.return?.();
});

test('every change of an import changes its entity tag', () => {
  const state = new ImportState(5, 'goods', false);
  const tags = [state.moment.etag];
  const changes = [
    () => state.countRefused(),
    () => state.addError({ row: 1, column: null, message: 'it is wrong' }),
    () => addTo(state, 2),
    () => state.count(3, { change: null, created: [] }),
    () => state.forget(),
    () => state.beginWriting(),
    () => state.enter('done'),
  ];
  for (const change of changes) {
    change();
    tags.push(state.moment.etag);
  }
  assert.is(new Set(tags).size, changes.length + 1);
  assert.is(state.moment.etag, tags.at(-1));
  assert.not.equal(new ImportState(5, 'goods', false).moment.etag, tags[0], 'of another import');
});

test.run();
