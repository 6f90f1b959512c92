/** The service that the token endpoints call: issues tokens for logins, renews and revokes them. */
import { type AccessDraft, changeAccess } from '../../auth/access.ts';
import { endToken } from '../../auth/accounts.ts';
import type { Login } from '../../auth/login.ts';
import type { Renewals } from '../../auth/renewals.ts';
import type { SharedFiles } from '../../auth/sharing/shared-files.ts';
import type { Disk } from '../../disk/disk.ts';
import type { TokenService } from '../../http/services.ts';
import { OwnRevocations } from './own-revocations.ts';

/** Where revocations are kept. */
interface Place {
  /** The data directory. */
  readonly data: string;
  readonly disk: Disk;
  /** The originals of its files, if hosts share them. */
  readonly shared?: SharedFiles | undefined;
}

/** The service counts the revocations of each subject, so a data directory has one at a time. */
export function createTokenService(
  login: Pick<Login, 'issue'>,
  renewals: Pick<Renewals, 'renew'>,
  place: Place,
): TokenService {
  const ownRevocations = new OwnRevocations();
  const revocations = new Revocations(place);
  return {
    issue: (credential, lifetime, address) => login.issue(credential, lifetime, address),
    renew: (caller) => renewals.renew(caller),
    revoke: (jti, own) =>
      revocations.make((draft, now) =>
        own === null ? endToken(draft, jti, null) : ownRevocations.end(draft, own, now),
      ),
  };
}

type Revocation = (draft: AccessDraft, now: number) => void;

/** Revocations that are written together. */
interface Batch {
  readonly revocations: Revocation[];
  /** Resolves when they are durable. */
  readonly written: Promise<void>;
}

/**
 * Writes revocations, those that wait for the same write together.
 *
 * Invariant: however many revocations there are, one of them waits for the lock of the accounts.
 * Everybody with a token can revoke it many times at once, and whoever else needs the lock, such as
 * a login or an admin who ends the access of that user, gets it only within a bounded time.
 */
class Revocations {
  readonly #place: Place;
  /** Those that are written next; null if there are none. */
  #next: Batch | null = null;
  /** Resolves when the write before has ended. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(place: Place) {
    this.#place = place;
  }

  /** @returns when it is durable. @throws as {@link changeAccess}. */
  make(revocation: Revocation): Promise<void> {
    this.#next ??= this.#begin();
    this.#next.revocations.push(revocation);
    return this.#next.written;
  }

  #begin(): Batch {
    const revocations: Revocation[] = [];
    const written = this.#last.then(() => {
      this.#next = null;
      return this.#write(revocations);
    });
    this.#last = written.catch(() => {});
    return { revocations, written };
  }

  #write(revocations: readonly Revocation[]): Promise<void> {
    const { data, disk, shared } = this.#place;
    const makeAll: Revocation = (draft, now) => {
      for (const revoke of revocations) revoke(draft, now);
    };
    return changeAccess(disk, data, makeAll, { shared });
  }
}
