/** The text of changes: an array of them, or server-sent events, in pieces. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ChangeSet } from '../../store/change-set.ts';
import { piecesOf } from '../text/pieces.ts';
import { changesIn, isPublished } from './published.ts';

/** UTF-16 units after which a piece is complete. */
const PIECE_UNITS = 32 * 1024;

/** Milliseconds of work between two turns of the event loop. */
const SLICE_MS = 2;

/** What is shown of changes. */
export interface View {
  /** Whether changes name their subjects. */
  readonly subjects: boolean;
}

/** Texts of small change sets, which many readers ask for at the same time. */
const known = {
  withSubjects: new WeakMap<ChangeSet, string>(),
  without: new WeakMap<ChangeSet, string>(),
};

/**
 * The changes of change sets as one JSON array.
 *
 * @param limit change sets with changes.
 */
export async function* arrayText(
  changeSets: AsyncIterable<ChangeSet>,
  limit: number,
  view: View,
): AsyncGenerator<string, void, void> {
  let [piece, separator, left] = ['[', '', limit];
  for await (const changeSet of changeSets) {
    if (!isPublished(changeSet)) continue;
    for await (const text of changesText(changeSet, view)) {
      piece += separator + text;
      separator = '';
      if (piece.length < PIECE_UNITS) continue;
      yield* piecesOf(piece);
      piece = '';
    }
    separator = ',';
    left -= 1;
    if (left === 0) break;
  }
  yield* piecesOf(`${piece}]`);
}

/** One change set as a server-sent event: its id is the sequence, its data the array of changes. */
export async function* eventText(
  changeSet: ChangeSet,
  view: View,
): AsyncGenerator<string, void, void> {
  let piece = `id: ${changeSet.sequence}\ndata: [`;
  for await (const text of changesText(changeSet, view)) {
    piece += text;
    if (piece.length < PIECE_UNITS) continue;
    yield* piecesOf(piece);
    piece = '';
  }
  yield* piecesOf(`${piece}]\n\n`);
}

/** The changes of one change set, separated by commas, in pieces that are not too small. */
async function* changesText(
  changeSet: ChangeSet,
  { subjects }: View,
): AsyncGenerator<string, void, void> {
  const cache = subjects ? known.withSubjects : known.without;
  const cached = cache.get(changeSet);
  if (cached !== undefined) {
    yield cached;
    return;
  }
  let [piece, isFirst, isWhole] = ['', true, true];
  let end = performance.now() + SLICE_MS;
  for (const change of changesIn(changeSet)) {
    if (change !== null) {
      piece += isFirst ? change.text(subjects) : `,${change.text(subjects)}`;
      isFirst = false;
    }
    if (piece.length >= PIECE_UNITS) {
      isWhole = false;
      yield piece;
      piece = '';
    }
    if (performance.now() < end) continue;
    await nextTurn();
    end = performance.now() + SLICE_MS;
  }
  if (isWhole) cache.set(changeSet, piece);
  if (piece !== '') yield piece;
}
