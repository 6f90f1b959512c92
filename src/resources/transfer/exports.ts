/** Whole collections as files (spec 12.2). */
import { stringify } from 'csv-stringify/sync';
import type { Kind, Row } from '../../model/kind.ts';
import type { Money } from '../../model/money.ts';
import { ownersOf, soughtByObject } from '../../model/relations.ts';
import type { FrozenView } from '../../store/memory/frozen-view.ts';
import type { RowSelection } from '../../store/memory/selection.ts';
import type { ReadableStore } from '../../store/readable-store.ts';
import type { View } from '../../store/view.ts';
import { inPieces } from '../text/pieces.ts';
import { represent } from '../represent.ts';
import { columnsOf } from './columns.ts';
import type { Format } from './formats.ts';
import { guardFormula } from './formulas.ts';

export interface ExportFile {
  /** `skus-2026-11-21.csv`. */
  readonly name: string;
  /**
   * The file in pieces of at most 64 Ki UTF-16 units, made on demand. It shows one state of the
   * store, as of the first piece.
   */
  readonly text: AsyncIterable<string>;
}

export class Exports {
  readonly #store: ReadableStore;
  readonly #money: Money;
  readonly #now: () => number;

  /**
   * @param money of the prices.
   * @param now milliseconds since the epoch.
   */
  constructor(store: ReadableStore, money: Money, now: () => number = Date.now) {
    this.#store = store;
    this.#money = money;
    this.#now = now;
  }

  /** @throws CatalogError `busy` if too many orders are sorted at once. */
  async open(kind: Kind, format: Format, selection: RowSelection): Promise<ExportFile> {
    return this.#prepared(kind, selection, () => ({
      name: `${kind.name}-${new Date(this.#now()).toISOString().slice(0, 10)}.${format}`,
      text: this.#pieces(kind, format, selection),
    }));
  }

  /**
   * Prepares a scan, in a loop, because commits may undo what was prepared.
   *
   * @param use called before any other commit. @returns what it returns.
   */
  async #prepared<T>(kind: Kind, selection: RowSelection, use: () => T): Promise<T> {
    for (;;) {
      const preparing =
        this.#store.prepare(kind.name, selection) ??
        this.#store.prepareIndexes(soughtByObject(kind.name));
      if (preparing === undefined) return use();
      await preparing;
    }
  }

  async *#pieces(kind: Kind, format: Format, selection: RowSelection): AsyncGenerator<string> {
    const { view, rows } = await this.#prepared(kind, selection, () => ({
      rows: this.#store.scan(kind.name, selection),
      view: this.#store.freeze(),
    }));
    try {
      yield* inPieces(WRITERS[format](kind, rows, readingOnce(view), this.#money));
    } finally {
      view.close();
    }
  }
}

/**
 * A view that does not keep rows that belong to other rows as objects: an export reads each of them
 * once. Rows to which many others refer are kept.
 */
function readingOnce(view: FrozenView): View {
  return {
    get: (kind, id) => (ownersOf(kind).length > 0 ? view.peek(kind, id) : view.get(kind, id)),
    matching: (kind, attribute, value) => view.matching(kind, attribute, value),
  };
}

/** @param rows null for a row that is skipped: its text is empty. */
type Writer = (
  kind: Kind,
  rows: Iterable<Row | null>,
  view: View,
  money: Money,
) => Iterable<string>;

const WRITERS: Readonly<Record<Format, Writer>> = {
  *csv(kind, rows, view, money) {
    const columns = columnsOf(kind, money);
    yield csvRecord(columns.map(({ name }) => name));
    for (const row of rows) {
      if (row === null) yield '';
      else yield csvRecord(columns.map(({ text }) => guardFormula(text(row, view))));
    }
  },
  *ndjson(kind, rows, view) {
    for (const row of rows) yield row === null ? '' : `${represent(kind, row, view).text}\n`;
  },
  *json(kind, rows, view) {
    let separator = '[';
    for (const row of rows) {
      if (row === null) yield '';
      else {
        yield `${separator}${represent(kind, row, view).text}`;
        separator = ',';
      }
    }
    yield separator === '[' ? '[]' : ']';
  },
};

/** RFC 4180, section 2, rule 6: cells with a line end of any kind are quoted. */
function csvRecord(cells: readonly string[]): string {
  return stringify([cells], { record_delimiter: 'windows', quoted_match: /[\r\n]/ });
}
