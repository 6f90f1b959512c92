/**
 * Keys, accounts and revocations as they are in the files now.
 *
 * Invariant: a caller gets what both files contained {@link CACHE_MS} milliseconds ago or later. A
 * command that changes a file waits longer than that before it ends, so its change is in effect
 * when it has ended. If a file cannot be read or is not valid, no token is accepted until the file
 * is repaired. If hosts share the files, no token is accepted while the copies of this host have
 * not been confirmed for some seconds.
 *
 * Comparing the files costs two system calls, a tenth of a small request; under load many requests
 * share one comparison.
 */
import { DATA_FILES } from '../data-files.ts';
import { WatchedFile } from '../disk/watched-file.ts';
import { CatalogError } from '../errors.ts';
import { type Access, NO_ACCESS, readAccess } from './access.ts';
import { loadKeys, readKeys, type SigningKeys } from './keys.ts';
import { CACHE_MS, exclusively, type PrivateFile, privateFile } from './private-file.ts';
import type { SharedFiles } from './sharing/shared-files.ts';
import { LEEWAY_S } from './time.ts';

export interface Credentials {
  readonly keys: SigningKeys;
  readonly access: Access;
}

/** What tokens are verified with. */
export interface CurrentCredentials {
  /** @throws CatalogError `key_file`, `access_file`; `cut_off`, `log_unavailable` between hosts. */
  current(): Credentials;
}

/** What tokens are issued with. */
export interface CredentialSource extends CurrentCredentials {
  /** Seconds by which the clocks of the hosts that issue and revoke tokens may differ. */
  readonly clockDifference: number;
  /**
   * Calls `use` while no process can change accounts or revocations, so that the next revocation
   * ends a token issued in `use`.
   *
   * @throws CatalogError `key_file`, `access_file`, `busy` if a change does not end, and what `use`
   *   throws.
   */
  settled<T>(use: (credentials: Credentials) => T): Promise<T>;
}

interface CredentialsOptions {
  /** Milliseconds on a monotonic clock. */
  readonly clock?: (() => number) | undefined;
  /** The original of the files, if hosts share it. */
  readonly shared?: SharedFiles | undefined;
}

export class LiveCredentials implements CredentialSource {
  readonly #directory: string;
  readonly #access: Watched<Access>;
  readonly #keys: Watched<SigningKeys>;
  readonly #clock: () => number;
  readonly #shared: SharedFiles | undefined;
  /** When the files must be compared again, by `#clock`. */
  #due = Number.NEGATIVE_INFINITY;
  #latest: Credentials | null = null;

  private constructor(
    directory: string,
    access: Watched<Access>,
    keys: Watched<SigningKeys>,
    clock: () => number,
    shared?: SharedFiles,
  ) {
    this.#clock = clock;
    this.#shared = shared;
    this.#directory = directory;
    this.#access = access;
    this.#keys = keys;
  }

  /**
   * Creates the keys if there are none.
   *
   * @param fromEnvironment the value of CATALOG_JWT_SECRET, which replaces the file.
   * @throws CatalogError `key_file`, `access_file`.
   */
  static async open(
    directory: string,
    fromEnvironment: string | undefined,
    { clock = () => performance.now(), shared }: CredentialsOptions = {},
  ): Promise<LiveCredentials> {
    const keys = await loadKeys(directory, fromEnvironment);
    const live = new LiveCredentials(
      directory,
      watched(privateFile(directory, DATA_FILES.access), readAccess, NO_ACCESS),
      fromEnvironment === undefined
        ? watched(privateFile(directory, DATA_FILES.keys), readKeys, null)
        : { current: () => keys },
      clock,
      shared,
    );
    live.current();
    return live;
  }

  get clockDifference(): number {
    return this.#shared === undefined ? 0 : LEEWAY_S;
  }

  current(): Credentials {
    this.#shared?.requireConfirmed();
    const now = this.#clock();
    if (this.#latest !== null && now < this.#due) return this.#latest;
    const keys = this.#keys.current();
    const access = this.#access.current();
    if (this.#latest?.keys !== keys || this.#latest.access !== access) {
      this.#latest = { keys, access };
    }
    // Only now: while a file is not valid, every call compares them.
    this.#due = now + CACHE_MS;
    return this.#latest;
  }

  async settled<T>(use: (credentials: Credentials) => T): Promise<T> {
    // Without accounts and revocations there is nothing to wait for, and no lock file is needed.
    const isShared = this.#shared !== undefined;
    if (!isShared && this.current().access === NO_ACCESS) return use(this.current());
    return exclusively(this.#directory, async () => {
      // Another host may have ended tokens a moment ago.
      await this.#shared?.pull();
      this.#due = Number.NEGATIVE_INFINITY;
      return use(this.current());
    });
  }
}

interface Watched<T> {
  /** The current content. @throws CatalogError at each call while it is not valid. */
  current(): T;
}

/** @param absent the value until the file first exists; null if the file is required. */
function watched<T>(
  { path, code }: PrivateFile,
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
    throw gone({ path, code });
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

function gone({ path, code }: PrivateFile): CatalogError {
  return new CatalogError(
    code,
    `${path} was removed while the server was running, so no token is accepted; put it back, or restart the server to continue without it`,
  );
}
