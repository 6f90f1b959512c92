/**
 * One import: every row is checked, then all are written (spec 12.10).
 *
 * Invariants:
 * 1. The check runs every row in the order of the file, and verifies the rows of each commit
 *    together, as the write does, but on a draft over a frozen view, which is dropped afterwards.
 *    So it finds what the write would do; a dry run is only the check.
 * 2. Nothing is written if a row or the file is refused.
 * 3. A commit holds at most {@link BATCH} rows, and other requests run between commits.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isOutcomeUnknown } from '../../errors.ts';
import { JSON_LIMITS, type JsonLimits } from '../../json/json-limits.ts';
import { IntegrityError } from '../../model/failures.ts';
import type { KindName } from '../../model/kind.ts';
import type { Money } from '../../model/money.ts';
import { inSlices } from '../../slices.ts';
import { Draft, type LongTransaction } from '../../store/writer/draft.ts';
import type { FrozenView } from '../../store/memory/frozen-view.ts';
import type { ReadableStore } from '../../store/readable-store.ts';
import type { AuditedStore } from '../audit/audited-store.ts';
import { FileProblem } from './reading/file-problem.ts';
import type { FileRow } from './reading/file-row.ts';
import { fileRows } from './reading/file-rows.ts';
import type { Format } from './formats.ts';
import { readHeader } from './rows/header.ts';
import type { ImportState } from './import-state.ts';
import { Names } from './rows/names.ts';
import { CommitFailure, placedProblems, problemsOf } from './rows/row-problems.ts';
import { type ImportTask, matchedBy } from './rows/matching.ts';
import { RowWriter, type WrittenRow } from './rows/row-writer.ts';
import { Seen } from './rows/seen.ts';
import { NOTHING_WRITTEN, perhapsWritten, STOPPED, writtenBefore } from './rows/written-rows.ts';

/** Rows of one commit, at most, and about how many UTF-16 units they have. */
const BATCH = { rows: 250, units: 512 * 1024 };

export interface ImportOrder extends ImportTask {
  readonly format: Format;
  readonly dryRun: boolean;
  /** Who writes it, for the audit trail. */
  readonly subject: string | null;
  /** Called before each commit. @throws Error if the client may no longer write. */
  readonly requireAccess?: () => void;
}

/** What rows are read from and written to; a dry run does not write. */
interface ImportTarget extends Pick<AuditedStore, 'requireRoom' | 'transact'> {
  readonly store: Pick<ReadableStore, 'freeze' | 'onApply'>;
}

export interface ImporterOptions {
  readonly audited: ImportTarget;
  readonly money: Money;
  /** The JSON limits of a body, which apply to a row as well; {@link JSON_LIMITS} by default. */
  readonly jsonLimits?: JsonLimits;
  /** Whether to stop, because the process ends. */
  readonly isStopping: () => boolean;
}

export class Importer {
  readonly #options: ImporterOptions;
  readonly #order: ImportOrder;
  readonly #read: () => AsyncIterable<Uint8Array>;
  readonly #state: ImportState;
  #names = new Names();

  /** @param read reads the file from its beginning. */
  constructor(
    options: ImporterOptions,
    order: ImportOrder,
    read: () => AsyncIterable<Uint8Array>,
    state: ImportState,
  ) {
    this.#options = options;
    this.#order = order;
    this.#read = read;
    this.#state = state;
  }

  /** Runs to one of the final states. Failures are not thrown: they are in the state. */
  async run(onWriting: () => Promise<void>): Promise<void> {
    const state = this.#state;
    const unfollow = this.#options.audited.store.onApply((changes) => this.#names.follow(changes));
    try {
      await this.#check();
      if (state.hasErrors) state.forget();
      if (state.hasErrors || this.#order.dryRun) {
        state.enter(state.hasErrors ? 'refused' : 'done');
        return;
      }
      state.beginWriting();
      await onWriting();
      await this.#write();
      state.enter('done');
    } catch (error) {
      const isChecking = state.summary.state === 'checking';
      const isRefused = isChecking && error instanceof FileProblem;
      const hasSaid = isRefused || error instanceof CommitFailure;
      const begin = hasSaid
        ? ''
        : `${isChecking ? NOTHING_WRITTEN : writtenBefore(state.written, null)}: `;
      for (const { message, ...place } of placedProblems(error)) {
        state.addError({ ...place, message: `${begin}${message}` });
      }
      if (isChecking) state.forget();
      state.enter(isRefused ? 'refused' : 'failed');
    } finally {
      unfollow();
    }
  }

  get #jsonLimits(): JsonLimits {
    return this.#options.jsonLimits ?? JSON_LIMITS;
  }

  async #check(): Promise<void> {
    const view = this.#options.audited.store.freeze();
    try {
      const draft = new Draft(view);
      const writer = this.#writer(this.#names, new Seen());
      for await (const batch of this.#batches(writer, view)) {
        this.#goOn();
        await inSlices(this.#checkBatch(draft, writer, batch));
        for (const kind of this.#readOnce()) draft.forget(kind);
      }
    } finally {
      view.close();
    }
  }

  /**
   * Kinds whose rows no later row of the file reads: they belong to rows that occur only once, as a
   * second row with the same id, code or name is an error. They are most of what a file of SKUs
   * writes.
   */
  #readOnce(): readonly KindName[] {
    return Object.values(this.#order.kind.attributes).flatMap((declared) =>
      declared.role === 'children' ? [declared.kind] : [],
    );
  }

  /** Checks the rows of one commit: each by itself, and then what they break together. */
  *#checkBatch(
    draft: Draft,
    writer: RowWriter,
    batch: readonly FileRow[],
  ): Generator<undefined, void> {
    const written: WrittenRow[] = [];
    const failures = new Map<number, unknown>();
    const write: LongTransaction<void> = function* (transaction) {
      for (const [index, row] of batch.entries()) {
        const undo = draft.savepoint(index);
        try {
          written[index] = yield* writer.write(transaction, row);
        } catch (error) {
          undo();
          failures.set(index, error);
        }
        yield;
      }
    };
    yield* draft.runInParts(write, (error) => {
      if (!(error instanceof IntegrityError) || error.element === undefined) throw error;
      // A row that fails stays in the draft: rows after it are not to fail because it is missing.
      if (!failures.has(error.element)) failures.set(error.element, error);
    });
    for (const [index, { row }] of batch.entries()) {
      const done = written[index];
      if (done !== undefined && !failures.has(index)) this.#state.count(row, done);
      else this.#refuse(row, failures.get(index), writer);
      yield;
    }
  }

  /** @throws `error` if it is not about the row. */
  #refuse(row: number, error: unknown, writer: RowWriter): void {
    const problems = problemsOf(error, writer.columnOf);
    if (problems === null) throw error;
    this.#state.countRefused();
    for (const problem of problems) this.#state.addError({ row, ...problem });
  }

  async #write(): Promise<void> {
    this.#names = this.#names.fresh();
    const writer = this.#writer(this.#names, null);
    for await (const batch of this.#batches(writer, null)) await this.#commit(writer, batch);
  }

  async #commit(writer: RowWriter, batch: readonly FileRow[]): Promise<void> {
    const [first] = batch;
    if (first === undefined) return;
    const { audited } = this.#options;
    let written: WrittenRow[];
    // The index of the row that is being written; -1 before and after the rows are.
    let writing = -1;
    try {
      this.#goOn();
      written = await audited.transact(this.#order.subject, true, function* (tx) {
        const results: WrittenRow[] = [];
        for (const row of batch) {
          writing = results.length;
          results.push(yield* tx.element(writing, () => writer.write(tx, row)));
          yield;
        }
        writing = -1;
        return results;
      });
      this.#names.settle();
    } catch (error) {
      const element = error instanceof IntegrityError ? error.element : writing;
      const problems = problemsOf(error, writer.columnOf) ?? [];
      const last = batch.at(-1)?.row ?? first.row;
      const words = isOutcomeUnknown(error)
        ? perhapsWritten(this.#state.written, first.row, last)
        : writtenBefore(this.#state.written, first.row);
      throw new CommitFailure(words, error, {
        row: batch[element ?? -1]?.row ?? null,
        problems,
      });
    }
    for (const [index, done] of written.entries()) {
      this.#state.count(batch[index]?.row ?? 0, done);
    }
    await nextTurn();
  }

  #goOn(): void {
    if (this.#options.isStopping()) throw new Error(STOPPED);
    this.#order.requireAccess?.();
    this.#options.audited.requireRoom();
  }

  #writer(names: Names, seen: Seen | null): RowWriter {
    const task = { ...this.#order, jsonLimits: this.#jsonLimits };
    return new RowWriter(task, this.#options.money, names, seen);
  }

  /** The rows of each commit; at least one. @param view see {@link Importer.#rows}. */
  async *#batches(writer: RowWriter, view: FrozenView | null): AsyncGenerator<readonly FileRow[]> {
    let batch: FileRow[] = [];
    let units = 0;
    try {
      for await (const rows of this.#rows(writer, view)) {
        for (const row of rows) {
          batch.push(row);
          units += writer.unitsOf(row);
          if (batch.length < BATCH.rows && units < BATCH.units) continue;
          const full = batch;
          batch = [];
          units = 0;
          yield full;
        }
      }
    } catch (error) {
      // The report of a file that is refused has the errors of the rows before as well.
      if (error instanceof FileProblem && batch.length > 0) yield batch;
      throw error;
    }
    if (batch.length > 0) yield batch;
  }

  /** @param view to read the names from; null if they were read before. */
  async *#rows(writer: RowWriter, view: FrozenView | null): AsyncGenerator<readonly FileRow[]> {
    const { kind, format, match } = this.#order;
    let kinds: readonly KindName[] = match === 'name' ? [kind.name] : [];
    const pieces = fileRows(format, this.#read(), this.#jsonLimits, (names, row) => {
      const columns = readHeader(kind, this.#options.money, names, row);
      if (
        match !== 'id' &&
        !columns.some((column) => column?.attribute === matchedBy(this.#order))
      ) {
        throw new FileProblem(
          `the file has no column ${matchedBy(this.#order)}, by which rows are to be matched`,
          row,
        );
      }
      writer.useColumns(columns);
      kinds = [...kinds, ...columns.flatMap((column) => column?.names ?? [])];
    });
    let begun = false;
    for await (const rows of pieces) {
      if (!begun && view !== null) await this.#readNames(kinds, view);
      begun = true;
      yield rows;
    }
  }

  async #readNames(kinds: readonly KindName[], view: FrozenView): Promise<void> {
    for (const kind of kinds) await inSlices(this.#names.read(kind, view));
  }
}
