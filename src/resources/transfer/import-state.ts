/** What an import has come to, as clients see it (spec 12.7). */
import type { RowChange } from './rows/row-writer.ts';

/** Entries of each list, at most. */
const MAX_LISTED = 1000;

/** About the bytes of all changes that are listed: descriptions of SPUs are long. */
const MAX_CHANGE_UNITS = 4 * 1024 * 1024;

export interface ImportError {
  readonly row: number | null;
  readonly column: string | null;
  readonly message: string;
}

export type ImportPhase = 'checking' | 'writing' | 'done' | 'refused' | 'failed';

/** An import without its lists. */
export interface ImportSummary {
  readonly id: number;
  readonly collection: string;
  readonly state: ImportPhase;
  readonly dry_run: boolean;
  /** Rows of the file that are no header and not empty. */
  readonly rows: number;
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly refused: number;
  readonly error_count: number;
  readonly change_count: number;
}

/** A row that changes, and where it is in the file. */
interface ListedChange extends Pick<RowChange, 'action' | 'id'> {
  readonly row: number;
  readonly fields: ReturnType<RowChange['fields']>;
}

/** An import with its lists. */
export interface ImportReport extends ImportSummary {
  readonly errors: readonly ImportError[];
  readonly changes: readonly ListedChange[];
}

type Counted = 'rows' | 'created' | 'changed' | 'unchanged' | 'refused';

/** Bytes of the file that are read, of those that will be: it is read once or twice. */
export interface ImportProgress {
  readonly done: number;
  readonly total: number;
}

export class ImportState {
  readonly id: number;
  readonly #collection: string;
  readonly #dryRun: boolean;
  #state: ImportPhase = 'checking';
  #counts: Record<Counted, number> = { ...NOTHING };
  #errors: ImportError[] = [];
  #errorCount = 0;
  /** The changes that are listed, as JSON: a client asks for them again and again. */
  #changes: string[] = [];
  #changeCount = 0;
  #changeUnits = 0;
  #bytesRead = 0;
  #bytesInAll = 0;

  constructor(id: number, collection: string, dryRun: boolean) {
    this.id = id;
    this.#collection = collection;
    this.#dryRun = dryRun;
  }

  get summary(): ImportSummary {
    return {
      id: this.id,
      collection: this.#collection,
      state: this.#state,
      dry_run: this.#dryRun,
      ...this.#counts,
      error_count: this.#errorCount,
      change_count: this.#changeCount,
    };
  }

  /** JSON text of an {@link ImportReport}. */
  get text(): string {
    const head = JSON.stringify({ ...this.summary, errors: this.#errors }).slice(0, -1);
    return `${head},"changes":[${this.#changes.join(',')}]}`;
  }

  get hasErrors(): boolean {
    return this.#errorCount > 0;
  }

  get progress(): ImportProgress {
    return { done: this.#bytesRead, total: this.#bytesInAll };
  }

  /** @param bytes of the file, which is read once to check it and once to write it. */
  expect(bytes: number): void {
    this.#bytesInAll = this.#dryRun ? bytes : 2 * bytes;
  }

  /** Counts what is read of the file. */
  async *reading(file: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of file) {
      this.#bytesRead += piece.length;
      yield piece;
    }
  }

  /** Rows of the file that were looked at. */
  get rows(): number {
    return this.#counts.rows;
  }

  enter(state: ImportPhase): void {
    this.#state = state;
  }

  /** Counts a row and what it does; null if it changes nothing. */
  count(row: number, change: RowChange | null): void {
    this.#add('rows');
    if (change === null) {
      this.#add('unchanged');
      return;
    }
    this.#add(change.action === 'create' ? 'created' : 'changed');
    this.#changeCount += 1;
    if (this.#changes.length >= MAX_LISTED || this.#changeUnits >= MAX_CHANGE_UNITS) return;
    const { id, action } = change;
    const listed: ListedChange = { row, id, action, fields: change.fields() };
    const text = JSON.stringify(listed);
    this.#changeUnits += text.length;
    this.#changes.push(text);
  }

  /** Counts a row that cannot be imported. */
  countRefused(): void {
    this.#add('rows');
    this.#add('refused');
  }

  addError(error: ImportError): void {
    this.#errorCount += 1;
    if (this.#errors.length < MAX_LISTED) this.#errors.push(error);
  }

  /** Nothing is written, or nothing was written yet: what the check counted does not count. */
  forget(): void {
    const { rows, refused } = this.#counts;
    this.#counts = { ...NOTHING, rows, refused };
    this.#changes = [];
    this.#changeCount = 0;
    this.#changeUnits = 0;
  }

  /** Before the rows are counted again as they are written. */
  beginWriting(): void {
    this.forget();
    this.#counts = { ...NOTHING };
    this.enter('writing');
  }

  #add(name: Counted): void {
    this.#counts[name] += 1;
  }
}

const NOTHING: Readonly<Record<Counted, number>> = {
  rows: 0,
  created: 0,
  changed: 0,
  unchanged: 0,
  refused: 0,
};
