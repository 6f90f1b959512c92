/** Renews tokens, so that a user who has logged in can continue without the password (spec 6.8). */
import { CatalogError } from '../errors.ts';
import { FairQueue } from '../fair-queue.ts';
import { throttled } from './attempts.ts';
import type { CredentialSource } from './credentials.ts';
import { issueFor } from './login.ts';
import {
  invalidToken,
  type IssuedToken,
  isRevoked,
  unauthorized,
  type Verified,
} from './tokens.ts';

/** Seconds after a login for which its tokens can be renewed, and at which the last ones expire. */
const MAX_SESSION_S = 30 * 24 * 3600;

/** Renewals that may wait. Each takes the lock of the accounts, so they run one at a time. */
const MAX_WAITING = 100;

export class Renewals {
  readonly #credentials: CredentialSource;
  readonly #now: () => number;
  /** Users take turns. */
  readonly #queue = new FairQueue<string>({ waiting: MAX_WAITING, refusal: () => throttled(1) });

  /** @param now milliseconds since the epoch. */
  constructor(credentials: CredentialSource, now: () => number = Date.now) {
    this.#credentials = credentials;
    this.#now = now;
  }

  /**
   * Issues a token for the account of another token, with the role that the account has now. It
   * lives as long as the other one, but expires at most {@link MAX_SESSION_S} after the login. The
   * token that is renewed stays valid.
   *
   * @throws CatalogError `forbidden` if the token was issued without a login; `unauthorized` if the
   *   login is too long ago or the account is removed or disabled; `login_throttled`.
   */
  async renew(token: Verified): Promise<IssuedToken> {
    const { subject, issued, expires, loggedIn } = token;
    if (loggedIn === null) {
      throw new CatalogError(
        'forbidden',
        'only a token from POST /admin/tokens/ can be renewed; this one was issued without a login',
      );
    }
    const end = loggedIn + MAX_SESSION_S;
    if (this.#now() / 1000 >= end) throw loginTooLongAgo();
    return this.#queue.run(subject, () =>
      issueFor(
        this.#credentials,
        (access) => {
          const account = access.users.get(subject);
          // Account and token may have ended since the token was verified.
          if (account === undefined || isRevoked(token, access)) {
            throw invalidToken(
              'the account was disabled or removed, or its tokens were revoked; log in again',
            );
          }
          return { subject, role: account.role };
        },
        (from) => ({ expires: Math.min(from + expires - issued, end), loggedIn }),
      ),
    );
  }
}

/** RFC 9470, section 3: the token is valid, but its login is too old for this request. */
function loginTooLongAgo(): CatalogError {
  return unauthorized(
    `the login was more than ${MAX_SESSION_S / 86_400} days ago; log in again`,
    `, error="insufficient_user_authentication", max_age="${MAX_SESSION_S}"`,
  );
}
