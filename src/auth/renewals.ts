/** Renews tokens: a person who has logged in goes on without the password (spec 6.8). */
import pLimit from 'p-limit';
import { CatalogError } from '../errors.ts';
import { throttled } from './attempts.ts';
import type { CredentialSource } from './credentials.ts';
import { issueFor } from './login.ts';
import { type IssuedToken, unauthorized, type Verified } from './tokens.ts';

/** Seconds after a login for which its tokens can be renewed, and the end of those renewed. */
const MAX_SESSION_S = 30 * 24 * 3600;

/** Each takes the lock of the accounts, so they take turns; renewals that wait. */
const MAX_WAITING = 100;

export class Renewals {
  readonly #credentials: CredentialSource;
  readonly #now: () => number;
  readonly #turns = pLimit(1);

  /** @param now milliseconds since the epoch. */
  constructor(credentials: CredentialSource, now: () => number = Date.now) {
    this.#credentials = credentials;
    this.#now = now;
  }

  /**
   * Issues a token of the account that a token belongs to, with the role that the account has now,
   * for as long as the token was issued for, and no longer than {@link MAX_SESSION_S} after the
   * login. The token that is renewed stays valid.
   *
   * @throws CatalogError `forbidden` if nobody logged in for the token; `unauthorized` if the login
   *   is too long ago or the account is removed or disabled; `login_throttled`.
   */
  async renew({ subject, id, issued, expires, loggedIn }: Verified): Promise<IssuedToken> {
    if (loggedIn === null) {
      throw new CatalogError(
        'forbidden',
        'only a token from POST /admin/tokens/ can be renewed; this one was issued without a login',
      );
    }
    const end = loggedIn + MAX_SESSION_S;
    if (this.#now() / 1000 >= end) throw loginTooLongAgo();
    if (this.#turns.pendingCount >= MAX_WAITING) throw throttled(1);
    return this.#turns(() =>
      issueFor(
        this.#credentials,
        ({ users, subjects, tokens }) => {
          const account = users.get(subject);
          const revokedUntil = subjects.get(subject) ?? 0;
          // Account and token may have ended since the token was verified.
          const isOver = tokens.has(id) || Math.floor(issued) <= revokedUntil;
          if (account === undefined || account.disabled || isOver) {
            throw unauthorized('the account or its tokens have ended; log in again', INVALID);
          }
          return { subject, role: account.role };
        },
        (from) => ({ expires: Math.min(from + expires - issued, end), loggedIn }),
      ),
    );
  }
}

const INVALID = ', error="invalid_token"';

/** RFC 9470, section 3: the token is valid, but the login behind it is too old for this request. */
function loginTooLongAgo(): CatalogError {
  return unauthorized(
    `the login was more than ${MAX_SESSION_S / 86_400} days ago; log in again`,
    `, error="insufficient_user_authentication", max_age="${MAX_SESSION_S}"`,
  );
}
