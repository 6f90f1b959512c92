/**
 * Accounts, revocations and keys in one key of etcd, `credentials`. The files of every host are
 * copies of it.
 *
 * Invariants:
 * 1. A change takes effect only if the key still has the revision that the change was made from, so
 *    concurrent changes are not lost.
 * 2. A host accepts no token if its copy was last confirmed more than {@link UNCONFIRMED_MS} ago.
 *    The age counts from when the request was sent. A response counts once the files contain it.
 * 3. No file is replaced by an invalid one, and no invalid one becomes the original. An original is
 *    complete: it has all files of the host that makes it.
 * 4. A server replaces no file by an older one: if etcd was set back, for example to a snapshot, the
 *    accounts and revocations since then exist only in the files of the hosts.
 */
import { basename } from 'node:path';
import * as v from 'valibot';
import { NO_ACCESS, readAccess } from '../../auth/access.ts';
import {
  exclusively,
  PRIVATE_NAMES,
  type PrivateFile,
  privateFile,
  type PrivateName,
} from '../../auth/private-file.ts';
import {
  changedContents,
  judge,
  judged,
  type PrivateContents,
  writeContents,
} from '../../auth/sharing/private-contents.ts';
import type { SharedFiles } from '../../auth/sharing/shared-files.ts';
import type { Disk } from '../../disk/disk.ts';
import { CatalogError, hasCode, messageOf } from '../../errors.ts';
import { FIRST_FAULT } from '../../json/first-fault.ts';
import { type Clocks, Confirmation, type Instant } from '../following/confirmation.ts';
import type { EtcdClient } from './etcd-client.ts';
import { transact } from './etcd-keys.ts';
import { followKey } from './etcd-watch.ts';

const KEY = 'credentials';

/** Milliseconds for which a host that is cut off accepts tokens. */
const UNCONFIRMED_MS = 10_000;

/** Bytes of all files together: etcd takes requests of 1.5 MiB, and base64 adds a third. */
const MAX_BYTES = 1024 * 1024;

/** Attempts to send a change that is not answered. */
const MAX_ATTEMPTS = 3;

const contentsShape = v.record(v.picklist(PRIVATE_NAMES), v.record(v.string(), v.unknown()));

/** The key as etcd has it. */
interface Shared {
  /** '0' if there is no such key. */
  readonly revision: string;
  readonly contents: PrivateContents;
}

/** The key, and when the request for it was sent. */
interface Asked extends Shared {
  readonly sent: Instant;
  /** Whether etcd had a later revision before. */
  readonly isOld: boolean;
}

interface Options {
  readonly client: EtcdClient;
  readonly disk: Disk;
  /** The data directory. */
  readonly directory: string;
  /** Called with the error if the files cannot be updated; once for each reason until they are. */
  readonly onError: (error: unknown) => void;
  /** The clocks of the machine if left out. */
  readonly clocks?: Clocks | undefined;
}

export class EtcdCredentials implements SharedFiles {
  readonly #options: Options;
  /** The state that the files hold. */
  #shared: Shared = { revision: '0', contents: {} };
  /** The last revision that this host has read or made; 0 if etcd had no such key. */
  #newest = 0;
  readonly #confirmation: Confirmation;
  /** Why the files cannot be updated, as it was reported; null if they can. */
  #failure: string | null = null;
  #end: () => Promise<void> = async () => {};

  constructor(options: Options) {
    this.#options = options;
    this.#confirmation = new Confirmation(UNCONFIRMED_MS, options.clocks);
  }

  /**
   * Updates the files from etcd, and keeps them up to date. If etcd has none yet, the files of this
   * host become the original. If etcd has files without accounts, and this host has accounts, they
   * would count on this host only, so that is refused.
   *
   * @param make makes the keys of a directory that has none.
   * @throws CatalogError `log_unavailable`, `access_file`, `key_file`, `durability_unknown`.
   */
  async open(make: () => Promise<void>): Promise<void> {
    const { client, directory } = this.#options;
    await exclusively(directory, () => this.pull());
    if (this.#shared.revision === '0') {
      await make();
      const value = JSON.stringify(this.#read());
      requireSize(Buffer.byteLength(value), privateFile(directory, 'access.json'));
      await transact(client, [{ key: KEY, revision: '0' }], [{ put: KEY, value }]);
      await exclusively(directory, () => this.pull());
    }
    this.#requireNoOtherAccounts();
    this.#end = followKey(client, KEY, {
      decode: () => null,
      ask: () => this.#ask(),
      // The watch only signals that the key has changed.
      listener: (shared) => void this.#follow(shared).catch((error: unknown) => this.#fail(error)),
    });
  }

  async close(): Promise<void> {
    await this.#end();
  }

  requireConfirmed(): void {
    if (this.#confirmation.isCurrent) return;
    throw new CatalogError(
      'log_unavailable',
      `accounts and revocations have not been confirmed for ${UNCONFIRMED_MS / 1000} seconds, so no token is accepted; try again`,
      { headers: { 'Retry-After': '2' } },
    );
  }

  async pull(): Promise<void> {
    await this.#take(await this.#ask());
  }

  async push({ path, code }: PrivateFile, content: object): Promise<void> {
    const name = PRIVATE_NAMES.find((each) => each === basename(path));
    if (name === undefined) throw new Error(`${path} is not a file that hosts share`);
    const { revision, contents } = this.#shared;
    // If etcd has lost its data, a change must not make an original without the keys.
    const kept = revision === '0' ? this.#read() : contents;
    const changed = { ...kept, [name]: content };
    const value = JSON.stringify(changed);
    requireSize(Buffer.byteLength(value), { path, code });
    let isSent = false;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const { client } = this.#options;
        const compare = [{ key: KEY, revision }];
        const { succeeded, found } = await transact(
          client,
          compare,
          [{ put: KEY, value }, { get: KEY }],
          [{ get: KEY }],
        );
        const there = found.flat()[0];
        // An earlier attempt may have succeeded without a response.
        if (succeeded || (isSent && there?.value.toString() === value)) {
          this.#newest = Number(there?.revision);
          return;
        }
        if (!isSent) throw overtaken();
        throw unknownChange('another host has changed accounts or keys meanwhile');
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        isSent = true;
        if (attempt === MAX_ATTEMPTS) throw unknownChange(messageOf(error), error);
      }
    }
  }

  async #follow(told: Asked | null): Promise<void> {
    const asked = told ?? (await this.#ask().catch(nullIfUnavailable));
    if (asked === null) return;
    const isSame = asked.revision === this.#shared.revision && !asked.isOld;
    if (isSame) this.#confirmation.confirm(asked.sent);
    else await exclusively(this.#options.directory, () => this.pull());
  }

  #fail(error: unknown): void {
    const failure = messageOf(error);
    if (failure !== this.#failure) this.#options.onError(error);
    this.#failure = failure;
  }

  async #ask(): Promise<Asked> {
    const [sent, newest] = [this.#confirmation.now(), this.#newest];
    const { found } = await transact(this.#options.client, [], [{ get: KEY }]);
    const there = found.flat()[0];
    const revision = there?.revision ?? '0';
    const isOld = there !== undefined && Number(revision) < newest;
    // Not less than a change has made meanwhile.
    this.#newest = there === undefined ? 0 : Math.max(this.#newest, Number(revision));
    return { revision, contents: there === undefined ? {} : decode(there.value), sent, isOld };
  }

  /** Writes the files that differ, damaged ones too. The caller holds the lock. */
  async #take({ sent, isOld, ...shared }: Asked): Promise<void> {
    if (isOld) throw setBack();
    const { disk, directory } = this.#options;
    const contents = judged(`of the key ${KEY} in etcd`, shared.contents);
    await writeContents(disk, directory, changedContents(directory, contents));
    this.#shared = shared;
    this.#failure = null;
    this.#confirmation.confirm(sent);
  }

  #requireNoOtherAccounts(): void {
    if (this.#shared.contents['access.json'] !== undefined) return;
    const { path } = privateFile(this.#options.directory, 'access.json');
    // A former follower has the file even if its primary had no accounts.
    const { users, subjects, tokens } = readAccess(path) ?? NO_ACCESS;
    if (users.size + subjects.size + tokens.size === 0) return;
    throw new CatalogError(
      'access_file',
      `${path} has accounts or revocations, and the hosts that share the log have none; move it away, and add the accounts on a host that runs`,
    );
  }

  /**
   * @returns the contents of those files that exist on this host.
   * @throws CatalogError `access_file`, `key_file` if a start would refuse one of them.
   */
  #read(): PrivateContents {
    const contents: Partial<Record<PrivateName, object>> = {};
    for (const name of PRIVATE_NAMES) {
      const content = judge(name, privateFile(this.#options.directory, name).path);
      if (content !== null) contents[name] = content;
    }
    return contents;
  }
}

function decode(value: Buffer): PrivateContents {
  try {
    return v.parse(contentsShape, JSON.parse(value.toString()), FIRST_FAULT) as PrivateContents;
  } catch (cause) {
    throw new CatalogError(
      'access_file',
      `the key ${KEY} in etcd does not hold accounts and keys; restore its previous value`,
      { cause },
    );
  }
}

function requireSize(bytes: number, { path, code }: PrivateFile): void {
  if (bytes <= MAX_BYTES) return;
  throw new CatalogError(
    code,
    `${path}: accounts, revocations and keys that hosts share take at most ${MAX_BYTES} bytes, and would take ${bytes}; nothing was changed`,
  );
}

function isUnavailable(error: unknown): boolean {
  return hasCode(error, 'log_unavailable');
}

function nullIfUnavailable(error: unknown): null {
  if (isUnavailable(error)) return null;
  throw error;
}

function setBack(): CatalogError {
  return new CatalogError(
    'log_unavailable',
    'the accounts and keys in etcd are older than those of this host, because etcd was set back to an earlier state; nothing was changed',
  );
}

function overtaken(): CatalogError {
  return new CatalogError(
    'busy',
    'another host has changed accounts or keys at the same time; nothing was changed, try again',
  );
}

/** @param why it is unknown whether a change was made: etcd may have refused it, for example. */
function unknownChange(why: string, cause?: unknown): CatalogError {
  return new CatalogError(
    'write_unknown',
    `${why}; the change of accounts or keys may still take effect, check before you repeat it`,
    { cause, headers: { 'Retry-After': '2' } },
  );
}
