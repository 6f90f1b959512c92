/**
 * How many imports are accepted, so that nobody can keep others from importing (spec 12.6).
 *
 * Invariants:
 * 1. A request has a place among the uploads while its file arrives, and then one among the
 *    unfinished imports. An import of a command has a place that no request can take: its file is on
 *    the disk already.
 * 2. A request that repeats an earlier one gets the stored response, however many imports are
 *    unfinished. Only its file tells that it is the same request, so while all places are taken it
 *    is received into one of a few more, from which nothing is imported unless a place has become
 *    free.
 */
import { CatalogError } from '../../errors.ts';
import { Places } from '../../places.ts';

/** Files that arrive, and imports that are not finished, at most. Their files are on the disk. */
export const MAX_OF_EACH = 16;

/** The same of one subject, so that others get places. */
export const MAX_OF_SUBJECT = 8;

/** Files that are received beyond that because their key is known, at most. */
const MAX_REPEATED = 4;

/** Seconds after which a client may try again. */
const RETRY_AFTER_S = '10';

/** Who asks for an import. */
export type Origin = 'request' | 'command';

/** What is known of an import before its file arrives. */
export interface Asked {
  readonly subject: string | null;
  readonly origin: Origin;
  /** The name of its key and its subject; null without a key. */
  readonly name: string | null;
  /** Whether a response is stored under the key; false without a key. */
  readonly isKept: () => Promise<boolean>;
}

/** A place for a file. */
export interface Place {
  /**
   * Call this when the file is there. Waits for an earlier request with the same key.
   *
   * @returns null if the file may be imported; otherwise the refusal, if it repeats no request.
   */
  readonly arrived: () => Promise<CatalogError | null>;
  /** Call this when the response is stored, or the place of a file that was refused is free. */
  readonly answered: () => void;
  /** Call this when the file is removed. */
  readonly free: () => void;
}

export class ImportPlaces {
  readonly #uploads = placesFor('uploads are not', MAX_OF_EACH, MAX_OF_SUBJECT);
  readonly #unfinished = placesFor('imports are not', MAX_OF_EACH, MAX_OF_SUBJECT);
  readonly #commands = placesFor('imports of commands are not', 1, 1);
  readonly #repeated = placesFor('repeated uploads are not', MAX_REPEATED, MAX_REPEATED);
  /** By the names of keys: ends when the latest request with the key is answered. */
  readonly #receptions = new Map<string, Promise<void>>();

  /** Whether an import of a command has to wait. */
  get isFullForCommands(): boolean {
    return this.#commands.taken > 0;
  }

  /** @throws CatalogError `too_many_imports`, and what `isKept` throws. */
  async take(asked: Asked): Promise<Place> {
    const { subject, origin, name, isKept } = asked;
    if (origin === 'command') return this.#place(asked, this.#commands.take(subject));
    let leave: () => void;
    try {
      // A file that could not be imported is not received.
      this.#unfinished.take(subject)();
      leave = this.#uploads.take(subject);
    } catch (refusal) {
      const earlier = name === null ? undefined : this.#receptions.get(name);
      const isRepeated = earlier !== undefined || (await isKept());
      if (!isRepeated) throw refusal;
      return this.#place(asked, this.#repeated.take(subject), earlier);
    }
    return this.#place(asked, leave);
  }

  #place({ subject, origin, name }: Asked, leave: () => void, earlier?: Promise<void>): Place {
    const { promise, resolve } = Promise.withResolvers<void>();
    let free = leave;
    if (name !== null) this.#receptions.set(name, promise);
    return {
      arrived: async () => {
        await earlier;
        if (origin === 'command') return null;
        try {
          const next = this.#unfinished.take(subject);
          free();
          free = next;
          return null;
        } catch (error) {
          if (error instanceof CatalogError) return error;
          throw error;
        }
      },
      answered: () => {
        if (name !== null && this.#receptions.get(name) === promise) this.#receptions.delete(name);
        resolve();
      },
      free: () => free(),
    };
  }
}

function placesFor(what: string, total: number, share: number): Places {
  return new Places({
    total,
    share,
    refusal: (limit) => {
      const message = limit === 'own' ? `${share} of your ${what}` : `${total} ${what}`;
      return new CatalogError('too_many_imports', `${message} finished; wait for one of them`, {
        headers: { 'Retry-After': RETRY_AFTER_S },
      });
    },
  });
}
