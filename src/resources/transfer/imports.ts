/**
 * The imports of a server: one runs at a time, the others wait (spec 12.10). The last ones are kept,
 * and one that was not finished when the process ended is `failed`.
 */
import { createHash, type Hash } from 'node:crypto';
import { isOutcomeUnknown, messageOf, publicMessageOf } from '../../errors.ts';
import { isKept } from '../idempotency.ts';
import { filesOfImport } from './files-of-import.ts';
import { type Accepted, type Answer, firstWith, hashing } from './import-key.ts';
import { ImportPlaces, type Origin, type Place } from './import-places.ts';
import { ImportReports, type ShownImport } from './import-reports.ts';
import { type ImportProgress, ImportState, type ImportSummary } from './import-state.ts';
import { endedReport, type KeptReport, parseKept } from './kept-report.ts';
import { Importer, type ImporterOptions, type ImportOrder } from './importer.ts';
import { NOTHING_WRITTEN } from './rows/written-rows.ts';
import { UnsavedReports } from './unsaved-reports.ts';

/** Finished imports that are kept, at most. */
const MAX_KEPT = 100;

/** What the report says if it is not known whether the answer is kept under its key. */
const UNDECIDED =
  'no row is written: it was not known whether the request took effect; import the file again with another Idempotency-Key';

/** Where files and states of imports are kept. */
export interface ImportStorage {
  /**
   * Keeps a file.
   *
   * @returns its bytes.
   * @throws what the source or the disk throws; nothing is kept then.
   */
  receive(id: number, source: AsyncIterable<Uint8Array>): Promise<number>;
  /** Reads a file that was kept, in pieces of at most 16 KiB. */
  read(id: number): AsyncIterable<Uint8Array>;
  /** Removes a file, if it is there. */
  discard(id: number): Promise<void>;
  /** Keeps the state of an import as JSON text. */
  save(id: number, text: string): Promise<void>;
  /** The text in UTF-8; null if there is none. */
  load(id: number): Buffer | null;
  /** Removes a state. */
  forget(id: number): Promise<void>;
  /**
   * The namespace of the ids: a random name that stays. On another host, or after a restore, the
   * same id is another import.
   *
   * @throws what the disk throws.
   */
  namespace(): Promise<string>;
  /** @returns the next id, which no other host gives. @param last the last one; 0 for none. */
  idAfter(last: number): number;
  /** The ids of all states and files. */
  ids(): { readonly states: readonly number[]; readonly files: readonly number[] };
}

export interface ImportsOptions extends Omit<ImporterOptions, 'isStopping'> {
  readonly storage: ImportStorage;
  /** Resolves when the indexes are built, so that look-ups do not block the event loop. */
  readonly whenIndexed: () => Promise<void>;
  /** Runs an import, and bounds the memory that it takes. */
  readonly inSmallHeap: (run: () => Promise<void>) => Promise<void>;
  /** Called with failures that an import cannot show. */
  readonly onError: (error: unknown) => void;
}

export class Imports {
  readonly #options: ImportsOptions;
  readonly #reports: ImportReports;
  /** By ascending id. */
  readonly #finished = new Map<number, ImportSummary>();
  readonly #running = new Map<number, ImportState>();
  readonly #unsaved: UnsavedReports;
  /** By the ids of unfinished imports: resolves when they have ended. */
  readonly #ends = new Map<number, Promise<void>>();
  readonly #places = new ImportPlaces();
  #lastId = 0;
  #queue: Promise<void> = Promise.resolve();
  #stopping = false;

  private constructor(options: ImportsOptions) {
    this.#options = options;
    const { storage, onError } = options;
    this.#reports = new ImportReports((id) => storage.load(id));
    this.#unsaved = new UnsavedReports({ save: (id, text) => storage.save(id, text), onError });
  }

  /** Reads the imports that are kept; unfinished ones of an earlier process are `failed` now. */
  static async open(options: ImportsOptions): Promise<Imports> {
    const imports = new Imports(options);
    await imports.#recover();
    return imports;
  }

  /** See {@link ImportPlaces.isFullForCommands}. */
  get isFullForCommands(): boolean {
    return this.#places.isFullForCommands;
  }

  /**
   * Receives a file, to import it when its turn comes.
   *
   * @param key `Idempotency-Key`, as the client chose it; null without one.
   * @throws CatalogError `too_many_imports`, `busy`, `key_reused`, `write_refused`, and what `source`
   *   throws. Nothing is imported then.
   */
  async accept(
    order: ImportOrder,
    source: AsyncIterable<Uint8Array>,
    key: string | null = null,
    origin: Origin = 'request',
  ): Promise<Accepted> {
    this.#options.audited.requireRoom();
    const place = await this.#placeFor(order.subject, key, origin);
    this.#lastId += 1;
    const id = this.#lastId;
    const { storage } = this.#options;
    /** Null until its answer may be kept under the key. */
    let asked: ImportState | null = null;
    try {
      const hash = createHash('sha256');
      const bytes = await storage.receive(id, key === null ? source : hashing(source, hash));
      const refusal = await place.arrived();
      if (refusal !== null && key === null) throw refusal;
      const state = new ImportState(id, order.kind.name, order.dryRun);
      state.expect(bytes);
      const { text } = state;
      await storage.save(id, text);
      asked = state;
      const answer = { id, text, refusal };
      const first = key === null ? null : await this.#firstWith(key, order, hash, answer);
      place.answered();
      if (first !== null) {
        await this.#drop(id, place);
        return first;
      }
      this.#running.set(id, state);
      this.#queue = this.#queue.then(() => this.#run(order, state, place));
      this.#ends.set(id, this.#queue);
      return { id, text, replayed: false };
    } catch (error) {
      if (asked === null || !isOutcomeUnknown(error)) await this.#drop(id, place);
      else {
        // A repeated request may be answered with this import. Its report says what became of it.
        asked.addError({ row: null, column: null, message: UNDECIDED });
        asked.enter('failed');
        await this.#end(asked, place);
      }
      place.answered();
      throw error;
    }
  }

  async #firstWith(
    key: string,
    order: ImportOrder,
    hash: Hash,
    answer: Omit<Answer, 'namespace'>,
  ): Promise<Accepted | null> {
    const { audited, storage } = this.#options;
    const namespace = await storage.namespace();
    return firstWith(audited, key, order, hash.digest('hex'), { ...answer, namespace });
  }

  #placeFor(subject: string | null, key: string | null, origin: Origin): Promise<Place> {
    return this.#places.take({
      subject,
      origin,
      name: key === null ? null : JSON.stringify([subject, key]),
      isKept: async () =>
        key !== null &&
        this.#options.audited.transact(subject, false, function* (transaction, now) {
          yield;
          return isKept(transaction, { subject, key }, now);
        }),
    });
  }

  /** Removes what was received for an import that will not run. */
  async #drop(id: number, place: Place): Promise<void> {
    const { storage, onError } = this.#options;
    await storage.discard(id).catch(onError);
    await storage.forget(id).catch(onError);
    place.free();
  }

  /** How far an import is; null if it has ended. */
  progress(id: number): ImportProgress | null {
    return this.#running.get(id)?.progress ?? null;
  }

  /** Waits until an import has ended. */
  async ended(id: number): Promise<void> {
    await this.#ends.get(id);
  }

  /** JSON text of an import; null if it is not kept. */
  find(id: number): string | null {
    const state = this.#running.get(id) ?? this.#unsaved.get(id);
    if (state !== undefined || !this.#finished.has(id)) return state?.text ?? null;
    return this.#options.storage.load(id)?.toString() ?? null;
  }

  /** An import for a client; null if it is not kept. @throws as {@link ImportReports.finished}. */
  async show(id: number): Promise<ShownImport | null> {
    const running = this.#running.get(id);
    // The report on the disk has another ETag than the state.
    if (running?.hasEnded) await this.ended(id);
    const state = this.#running.get(id) ?? this.#unsaved.get(id);
    if (state !== undefined) return this.#reports.unfinished(state.moment);
    return this.#finished.has(id) ? this.#reports.finished(id) : null;
  }

  /** The imports that are kept, without their lists; the latest first. */
  all(): readonly ImportSummary[] {
    const running = [...this.#running.values()].map(({ summary }) => summary);
    return [...this.#finished.values(), ...running].toSorted((a, b) => b.id - a.id);
  }

  /** Ends the import that runs between two of its commits; those that wait are `failed`. */
  async close(): Promise<void> {
    this.#stopping = true;
    await this.#queue;
    await this.#unsaved.save();
  }

  async #run(order: ImportOrder, state: ImportState, place: Place): Promise<void> {
    const { whenIndexed, inSmallHeap, onError } = this.#options;
    const options = { ...this.#options, isStopping: () => this.#stopping };
    const files = filesOfImport(options, state.id);
    const importer = new Importer(options, order, () => state.reading(files.read()), state);
    try {
      await whenIndexed();
      await inSmallHeap(() => importer.run(() => files.save(state.text)));
    } catch (error) {
      onError(error);
      // The importer shows its own failures, so it has not begun.
      const message = `${NOTHING_WRITTEN}: ${publicMessageOf(error)}`;
      state.addError({ row: null, column: null, message });
      state.enter('failed');
    }
    await this.#end(state, place);
  }

  /** Keeps the report of an import that has ended, and removes its file. */
  async #end(state: ImportState, place: Place): Promise<void> {
    const { storage, onError } = this.#options;
    const { id } = state;
    this.#unsaved.add(id, state);
    await this.#unsaved.save();
    await storage.discard(id).catch(onError);
    this.#running.delete(id);
    this.#ends.delete(id);
    place.free();
    this.#finished.set(id, state.summary);
    await this.#prune();
  }

  /** Removes the reports of the oldest imports. Never rejects. */
  async #prune(): Promise<void> {
    const { storage, onError } = this.#options;
    for (const id of this.#finished.keys()) {
      if (this.#finished.size <= MAX_KEPT) return;
      this.#finished.delete(id);
      this.#unsaved.forget(id);
      this.#reports.forget(id);
      await storage.forget(id).catch(onError);
    }
  }

  async #recover(): Promise<void> {
    const { storage, onError } = this.#options;
    const { states, files } = storage.ids();
    this.#lastId = storage.idAfter(Math.max(0, ...states, ...files)) - 1;
    for (const id of files) await storage.discard(id).catch(onError);
    for (const id of states.toSorted((a, b) => a - b)) {
      const summary = this.#recovered(id);
      if (summary !== null) this.#finished.set(id, summary);
    }
    await this.#unsaved.save();
    await this.#prune();
  }

  /** @returns null if the state is damaged. Its file stays: nothing else has what it says. */
  #recovered(id: number): ImportSummary | null {
    const { storage, onError } = this.#options;
    const text = storage.load(id);
    let kept: KeptReport;
    try {
      kept = parseKept(String(text ?? ''));
    } catch (error) {
      const what = `imports/${id}.json is damaged: ${messageOf(error)}`;
      onError(new Error(`${what}; the import is not listed; move the file away`));
      return null;
    }
    if (kept.interrupted !== null) this.#unsaved.add(id, endedReport(kept.interrupted));
    return kept.summary;
  }
}
