/** Issues a token for a user name and a password. */
import { setTimeout as pause } from 'node:timers/promises';
import { CatalogError } from '../errors.ts';
import { networkOf } from '../network.ts';
import { FairQueue } from '../fair-queue.ts';
import type { Access, Account } from './access.ts';
import { type FailedAttempts, throttled } from './attempts.ts';
import type { CredentialSource } from './credentials.ts';
import { dummyHash, hashPassword, type PasswordCheck, verifyPassword } from './passwords.ts';
import { LEEWAY_S, toIso, wholeSeconds } from './time.ts';
import { type Caller, type IssuedToken, issueToken, unauthorized } from './tokens.ts';

/** Passwords that are hashed at a time, each in 19 MiB of memory. */
const MAX_CONCURRENT_HASHES = 2;

/** Logins that may wait. */
const MAX_WAITING_LOGINS = 100;

/** Who waits for the hash of a new password: all changes of accounts together. It is no address. */
const ACCOUNTS = 'accounts';

/** Seconds by which a token may be issued ahead of the clock, after a revocation. */
const MAX_AHEAD_S = 5;

/** What every refusal says, so that it does not tell which accounts there are. */
const WRONG = 'the user name or the password is wrong';

export interface Credential {
  readonly username: string;
  readonly password: string;
}

export class Login {
  readonly #credentials: CredentialSource;
  readonly #verify: PasswordCheck;
  readonly #attempts: FailedAttempts;
  readonly #dummy = dummyHash();
  /** Clients take turns, by the networks of their addresses. */
  readonly #queue = new FairQueue<string>({
    atOnce: MAX_CONCURRENT_HASHES,
    waiting: MAX_WAITING_LOGINS,
    refusal: () => throttled(1),
  });

  constructor(
    credentials: CredentialSource,
    verify: PasswordCheck = verifyPassword,
    attempts: FailedAttempts,
  ) {
    this.#credentials = credentials;
    this.#verify = verify;
    this.#attempts = attempts;
  }

  /**
   * Issues a token. A refusal is the same, and takes the same work, whether the name, the password
   * or both are wrong or the account is disabled.
   *
   * @param lifetime seconds until the token expires.
   * @param address of the client.
   * @throws CatalogError `unauthorized`, `login_throttled`.
   */
  async issue(credential: Credential, lifetime: number, address: string): Promise<IssuedToken> {
    const username = credential.username.normalize('NFC');
    this.#attempts.requireAllowed(username, address);
    return this.#queue.run(networkOf(address), async () => {
      // Earlier logins in the queue may have failed in the meantime.
      this.#attempts.requireAllowed(username, address);
      const verified = await this.#accountWith(username, credential.password);
      if (verified === null) {
        this.#attempts.failed(username, address);
        throw unauthorized(WRONG);
      }
      this.#attempts.succeeded(username);
      return issueFor(
        this.#credentials,
        ({ users }) => {
          const account = users.get(username);
          // A change may have held the lock until now. It ended only tokens issued before it.
          if (!isUnchanged(account, verified)) throw unauthorized(WRONG);
          return { subject: username, role: account.role };
        },
        (issued) => ({ expires: issued + lifetime, loggedIn: issued }),
      );
    });
  }

  /**
   * Hashes a new password, in the queue of the logins.
   *
   * @throws CatalogError `account` if the password is not acceptable; `login_throttled`.
   */
  async hash(password: string): Promise<string> {
    return this.#queue.run(ACCOUNTS, async () => hashPassword(password));
  }

  /** @returns the account if it has this password and may log in; otherwise null. */
  async #accountWith(username: string, password: string): Promise<Account | null> {
    const account = this.#credentials.current().access.users.get(username);
    const right = await this.#verify(password, account?.password ?? this.#dummy);
    if (!right || account === undefined) return null;
    // Read again, since hashing takes a while.
    const now = this.#credentials.current().access.users.get(username);
    return isUnchanged(now, account) ? account : null;
  }
}

/** Whether an account can log in with the password that it had when that was verified. */
function isUnchanged(now: Account | undefined, verified: Account): now is Account {
  return now !== undefined && !now.disabled && now.password === verified.password;
}

/**
 * Issues a token that no earlier revocation voids. `iat` has whole seconds, so a token that is
 * issued in the second of a revocation gets the next second.
 *
 * If several hosts revoke tokens, the `iat` is earlier by as much as their clocks may differ:
 * otherwise a host whose clock is behind could not revoke a token that was issued a moment ago.
 *
 * @param callerOf returns the caller, given the accounts at that moment.
 * @param validityFrom returns the expiry of the token, given its `iat`.
 * @throws CatalogError `access_file` if the clock is behind, and what `callerOf` throws.
 */
export async function issueFor(
  credentials: CredentialSource,
  callerOf: (access: Access) => Caller,
  validityFrom: (issued: number) => Omit<Parameters<typeof issueToken>[2], 'issued'>,
): Promise<IssuedToken> {
  for (;;) {
    const { keys, caller, issued } = await credentials.settled((current) => {
      const found = callerOf(current.access);
      const revokedUntil = current.access.subjects.get(found.subject) ?? 0;
      const earliest = wholeSeconds(Date.now()) - credentials.clockDifference;
      return { keys: current.keys, caller: found, issued: Math.max(earliest, revokedUntil + 1) };
    });
    const ahead = issued - Date.now() / 1000;
    if (ahead <= LEEWAY_S) return issueToken(keys, caller, { issued, ...validityFrom(issued) });
    if (ahead > MAX_AHEAD_S) {
      throw new CatalogError(
        'access_file',
        `tokens of ${caller.subject} are revoked until ${toIso(issued - 1)}, which is in the future; correct the clock of this machine, or, if it is right, see docs/troubleshooting.md`,
      );
    }
    await pause((ahead - LEEWAY_S) * 1000);
  }
}
