/**
 * How many files of imports may be on the disk at a time (spec 12.6).
 *
 * A request that repeats an earlier one gets the stored answer, however many imports are unfinished.
 * Only its file tells that it is the same request, so while all places are taken it is received into
 * one of a few more, from which nothing is imported unless a place has become free.
 */
import { CatalogError } from '../../errors.ts';

/** Unfinished imports, at most: their files are on the disk. */
const MAX_UNFINISHED = 8;

/** Files that are received beyond that because their key is known, at most. */
const MAX_REPEATED = 4;

/** Seconds after which a client may try again. */
const RETRY_AFTER_S = '10';

/** A place for a file. */
export interface Place {
  /** Waits for an earlier request with the same key. @returns whether the file may be imported. */
  readonly ready: () => Promise<boolean>;
  /** Call this when the answer is stored, or the place of a file that was refused is free. */
  readonly answered: () => void;
  /** Call this when the file is removed. */
  readonly free: () => void;
}

export class ImportPlaces {
  #unfinished = 0;
  #repeated = 0;
  /** By the names of keys: ends when the latest request with the key is answered. */
  readonly #receptions = new Map<string, Promise<void>>();

  /** Whether no more can be accepted until one has ended. */
  get isFull(): boolean {
    return this.#unfinished >= MAX_UNFINISHED;
  }

  /**
   * @param name of the key and its subject; null without a key.
   * @param isKept whether an answer is stored under the key.
   * @throws CatalogError `too_many_imports`, and what `isKept` throws.
   */
  async take(name: string | null, isKept: () => Promise<boolean>): Promise<Place> {
    if (!this.isFull) return this.#place(name, false);
    const earlier = name === null ? undefined : this.#receptions.get(name);
    const isRepeated = earlier !== undefined || (name !== null && (await isKept()));
    if (!this.isFull) return this.#place(name, false);
    if (!isRepeated || this.#repeated >= MAX_REPEATED) throw tooManyImports();
    return this.#place(name, true, earlier);
  }

  #place(name: string | null, isExtra: boolean, earlier?: Promise<void>): Place {
    const { promise, resolve } = Promise.withResolvers<void>();
    let isRepeated = isExtra;
    if (isExtra) this.#repeated += 1;
    else this.#unfinished += 1;
    if (name !== null) this.#receptions.set(name, promise);
    return {
      ready: async () => {
        await earlier;
        if (!isRepeated || this.isFull) return !isRepeated;
        this.#repeated -= 1;
        this.#unfinished += 1;
        isRepeated = false;
        return true;
      },
      answered: () => {
        if (name !== null && this.#receptions.get(name) === promise) this.#receptions.delete(name);
        resolve();
      },
      free: () => {
        if (isRepeated) this.#repeated -= 1;
        else this.#unfinished -= 1;
      },
    };
  }
}

/** The refusal of a file while all places are taken; `Retry-After` has seconds. */
export function tooManyImports(): CatalogError {
  return new CatalogError(
    'too_many_imports',
    `${MAX_UNFINISHED} imports are not finished yet; wait for one of them`,
    { headers: { 'Retry-After': RETRY_AFTER_S } },
  );
}
