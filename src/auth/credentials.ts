/**
 * Keys, accounts and revocations as the files have them now.
 *
 * Invariant: who asks gets what both files said {@link CACHE_MS} milliseconds ago or later. Whoever
 * changes a file waits longer than that before saying so: once a command has ended, its change
 * counts. Where a file cannot be read or does not say what it should, nobody gets anything:
 * no token passes until it is put right.
 *
 * A look costs two system calls, a tenth of a small request; under load many requests share it.
 */
import { WatchedFile } from '../disk/watched-file.ts';
import { CatalogError } from '../errors.ts';
import { type Access, accessPath, NO_ACCESS, readAccess } from './access.ts';
import { keysPath, loadKeys, readKeys, type SigningKeys } from './keys.ts';
import { exclusively, CACHE_MS } from './private-file.ts';

export interface Credentials {
  readonly keys: SigningKeys;
  readonly access: Access;
}

/** Where credentials come from. */
export interface CredentialSource {
  /** @throws CatalogError `key_file`, `access_file`. */
  current(): Credentials;
  /**
   * Calls `use` at a moment when no change of accounts or revocations is under way: what is issued
   * then is ended by the next change that ends it.
   *
   * @throws CatalogError `key_file`, `access_file`, and what `use` throws.
   */
  settled<T>(use: (credentials: Credentials) => T): Promise<T>;
}

export class LiveCredentials implements CredentialSource {
  readonly #directory: string;
  readonly #access: Watched<Access>;
  readonly #keys: Watched<SigningKeys>;
  readonly #clock: () => number;
  /** When the next look is due, by the clock. */
  #due = Number.NEGATIVE_INFINITY;
  #latest: Credentials | null = null;

  private constructor(
    directory: string,
    access: Watched<Access>,
    keys: Watched<SigningKeys>,
    clock: () => number,
  ) {
    this.#clock = clock;
    this.#directory = directory;
    this.#access = access;
    this.#keys = keys;
  }

  /**
   * Makes the keys where there are none.
   *
   * @param fromEnvironment the value of CATALOG_JWT_SECRET, which takes the place of the file.
   * @param clock milliseconds, only ever growing.
   * @throws CatalogError `key_file`, `access_file`.
   */
  static async open(
    directory: string,
    fromEnvironment: string | undefined,
    clock = () => performance.now(),
  ): Promise<LiveCredentials> {
    const keys = await loadKeys(directory, fromEnvironment);
    const live = new LiveCredentials(
      directory,
      watched(accessPath(directory), readAccess, NO_ACCESS),
      fromEnvironment === undefined
        ? watched(keysPath(directory), readKeys, null)
        : { current: () => keys },
      clock,
    );
    live.current();
    return live;
  }

  current(): Credentials {
    const now = this.#clock();
    if (this.#latest !== null && now < this.#due) return this.#latest;
    // Set again only by a look that ends well.
    this.#due = Number.NEGATIVE_INFINITY;
    const keys = this.#keys.current();
    const access = this.#access.current();
    if (this.#latest?.keys !== keys || this.#latest.access !== access) {
      this.#latest = { keys, access };
    }
    this.#due = now + CACHE_MS;
    return this.#latest;
  }

  async settled<T>(use: (credentials: Credentials) => T): Promise<T> {
    // Without accounts and revocations there is nothing to wait for, and no lock is left behind.
    if (this.current().access === NO_ACCESS) return use(this.current());
    return exclusively(this.#directory, async () => {
      this.#due = Number.NEGATIVE_INFINITY;
      return use(this.current());
    });
  }
}

interface Watched<T> {
  /** The content as it is now. @throws what is wrong with it, each time. */
  current(): T;
}

/** @param absent what counts where there never was a file; null where there has to be one. */
function watched<T>(
  path: string,
  parse: (path: string, read: () => ReturnType<WatchedFile['read']>) => T | null,
  absent: T | null,
): Watched<T> {
  const file = new WatchedFile(path);
  let content: T | null = null;
  let failure: unknown;
  let there = absent === null;
  const read = (): T => {
    const found = parse(path, () => file.read());
    if (found !== null) {
      there = true;
      return found;
    }
    if (absent !== null && !there) return absent;
    throw gone(path);
  };
  return {
    current() {
      if (file.changed()) {
        try {
          [content, failure] = [read(), undefined];
        } catch (error) {
          [content, failure] = [null, error];
        }
      }
      if (content === null) throw failure;
      return content;
    },
  };
}

function gone(path: string): CatalogError {
  return new CatalogError(
    path.endsWith('keys.json') ? 'key_file' : 'access_file',
    `${path} was removed while the server ran, and no token passes; put it back, or restart to go on without it`,
  );
}
