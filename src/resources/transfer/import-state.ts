/** The state of an import, as clients see it (spec 12.7). */
import { randomUUID } from 'node:crypto';
import { entityTag } from '../entity-tag.ts';
import type { CreatedMissing } from './rows/named-rows.ts';
import type { RowChange, WrittenRow } from './rows/row-writer.ts';

/** Entries of each list, at most. */
const MAX_LISTED = 1000;

/** UTF-16 units of all listed changes, about: descriptions of SPUs are long. */
const MAX_CHANGE_UNITS = 4 * 1024 * 1024;

/** UTF-16 units of a message, at most: some quote the file, of which a row has up to 4 MiB. */
const MAX_MESSAGE_UNITS = 1000;

export interface ImportError {
  readonly row: number | null;
  readonly column: string | null;
  readonly message: string;
}

export type ImportPhase = 'checking' | 'writing' | 'done' | 'refused' | 'failed';

/** Whether a state is final. */
export function hasEnded(state: ImportPhase): boolean {
  return state !== 'checking' && state !== 'writing';
}

/** An import without its lists. */
export interface ImportSummary {
  readonly id: number;
  readonly collection: string;
  readonly state: ImportPhase;
  readonly dry_run: boolean;
  /** Rows of the file, without the header and empty rows. */
  readonly rows: number;
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly refused: number;
  readonly error_count: number;
  readonly change_count: number;
  /** Absent from reports of earlier versions, like {@link ImportReport.created_missing}. */
  readonly created_missing_count?: number;
}

/** A row that changes, and where it is in the file. */
interface ListedChange extends Pick<RowChange, 'action' | 'id'> {
  readonly row: number;
  readonly fields: ReturnType<RowChange['fields']>;
}

/** A row that was created for a name, and the row of the file that has it. */
export interface ListedMissing extends CreatedMissing {
  readonly row: number;
}

/** An import with its lists. */
export interface ImportReport extends ImportSummary {
  readonly errors: readonly ImportError[];
  readonly changes: readonly ListedChange[];
  readonly created_missing?: readonly ListedMissing[];
}

type Counted = 'rows' | 'created' | 'changed' | 'unchanged' | 'refused';

/** Bytes that were read, and that will be read in all: the file is read once or twice. */
export interface ImportProgress {
  readonly done: number;
  readonly total: number;
}

/** A snapshot of an import, for slow readers. */
export interface ImportMoment {
  /** Unique to this snapshot, also among other imports. */
  readonly etag: string;
  /** UTF-16 units of its JSON text, about. */
  readonly units: number;
  /** Makes the JSON text of an {@link ImportReport}, in short parts. */
  readonly parts: () => Iterable<string>;
}

export class ImportState {
  readonly id: number;
  readonly #collection: string;
  readonly #dryRun: boolean;
  #state: ImportPhase = 'checking';
  #counts: Record<Counted, number> = { ...NOTHING };
  readonly #errors = new List<ImportError>();
  #changes = new List<ListedChange>(MAX_CHANGE_UNITS);
  /** Rows that were created for names. */
  #missing = new List<ListedMissing>();
  #bytesRead = 0;
  #bytesInAll = 0;
  readonly #nonce = randomUUID();
  /** How often the report has changed. */
  #version = 0;

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
      error_count: this.#errors.count,
      change_count: this.#changes.count,
      created_missing_count: this.#missing.count,
    };
  }

  /** JSON text of an {@link ImportReport}. */
  get text(): string {
    return [...this.moment.parts()].join('');
  }

  /** A snapshot of its state now, without later changes. */
  get moment(): ImportMoment {
    const head = JSON.stringify(this.summary).slice(0, -1);
    const lists = [
      ['errors', this.#errors.now()],
      ['changes', this.#changes.now()],
      ['created_missing', this.#missing.now()],
    ] as const;
    return {
      etag: entityTag(`${this.#nonce} ${this.#version}`),
      units: head.length + this.#errors.units + this.#changes.units + this.#missing.units,
      *parts() {
        yield head;
        for (const [name, kept] of lists) {
          yield `,"${name}":[`;
          yield* kept();
          yield ']';
        }
        yield '}';
      },
    };
  }

  get hasEnded(): boolean {
    return hasEnded(this.#state);
  }

  get hasErrors(): boolean {
    return this.#errors.count > 0;
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

  /** The number of rows of the file that are written, or need not be. */
  get written(): number {
    const { created, changed, unchanged } = this.#counts;
    return created + changed + unchanged;
  }

  enter(state: ImportPhase): void {
    this.#version += 1;
    this.#state = state;
  }

  /** Counts a row, its change, and what was created for its names. */
  count(row: number, { change, created }: WrittenRow): void {
    if (this.#state === 'checking') this.#add('rows');
    for (const one of created) this.#missing.add(() => ({ row, ...one }));
    if (change === null) {
      this.#add('unchanged');
      return;
    }
    this.#add(change.action === 'create' ? 'created' : 'changed');
    const { id, action } = change;
    this.#changes.add(() => ({ row, id, action, fields: change.fields() }));
  }

  /** Counts a row that cannot be imported. */
  countRefused(): void {
    this.#add('rows');
    this.#add('refused');
  }

  addError({ row, column, message }: ImportError): void {
    this.#version += 1;
    this.#errors.add(() => ({
      row,
      column: column && shortened(column),
      message: shortened(message),
    }));
  }

  /** Forgets the changes that the check has counted, because they are not written. */
  forget(): void {
    this.#version += 1;
    const { rows, refused } = this.#counts;
    this.#counts = { ...NOTHING, rows, refused };
    // Replaced instead of cleared, because snapshots still read them.
    this.#changes = new List(MAX_CHANGE_UNITS);
    this.#missing = new List();
  }

  /** Call this before rows are written: what becomes of them is counted again. */
  beginWriting(): void {
    this.forget();
    this.enter('writing');
  }

  #add(name: Counted): void {
    this.#version += 1;
    this.#counts[name] += 1;
  }
}

/** A list of a report, of which the first elements are kept. */
class List<T> {
  /** Its elements, also those that are not kept. */
  count = 0;
  /** UTF-16 units of the elements that are kept. */
  units = 0;
  readonly #maxUnits: number;
  /** As JSON because clients poll for them. Elements are only appended. */
  readonly #kept: string[] = [];

  constructor(maxUnits = Number.POSITIVE_INFINITY) {
    this.#maxUnits = maxUnits;
  }

  /** @param make is called only if the element is kept. */
  add(make: () => T): void {
    this.count += 1;
    if (this.#kept.length >= MAX_LISTED || this.units >= this.#maxUnits) return;
    const text = JSON.stringify(make());
    this.units += text.length;
    this.#kept.push(text);
  }

  /** @returns a function that gives what is kept now, separated by commas. */
  now(): () => Iterable<string> {
    const [kept, length] = [this.#kept, this.#kept.length];
    return function* () {
      for (let at = 0; at < length; at += 1) yield `${at > 0 ? ',' : ''}${kept[at]}`;
    };
  }
}

function shortened(text: string): string {
  if (text.length <= MAX_MESSAGE_UNITS) return text;
  // A copy, because a slice would keep the whole text in memory.
  return `${Buffer.from(text.slice(0, MAX_MESSAGE_UNITS)).toString()}…`;
}

const NOTHING: Readonly<Record<Counted, number>> = {
  rows: 0,
  created: 0,
  changed: 0,
  unchanged: 0,
  refused: 0,
};
