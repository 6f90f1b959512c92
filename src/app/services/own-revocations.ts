/**
 * Revocations by callers of their own tokens. A user can get any number of tokens, and each
 * revocation is kept until its token has expired. Without a limit for each subject, one user could
 * fill the file that admins need to end the access of others.
 */
import type { AccessDraft } from '../../auth/access.ts';
import { endToken, endTokens } from '../../auth/accounts.ts';
import type { Verified } from '../../auth/tokens.ts';

/** Tokens of one subject that may be revoked one by one, as long as they have not expired. */
export const MAX_ENDED_TOKENS = 100;

export class OwnRevocations {
  /** When the revoked tokens of a subject expire, in seconds since the epoch, by their `jti`. */
  readonly #ended = new Map<string, Map<string, number>>();

  /**
   * Revokes a token. If its subject has revoked {@link MAX_ENDED_TOKENS} others that have not
   * expired yet, all tokens of the subject are revoked instead: one entry replaces the others.
   *
   * @param draft of `access.json`. Even if it is not written, its revocations count.
   * @param now seconds since the epoch.
   */
  end(draft: AccessDraft, { subject, id, expires }: Verified, now: number): void {
    const ended = this.#endedOf(subject, now);
    if (ended.size < MAX_ENDED_TOKENS || ended.has(id)) {
      ended.set(id, expires);
      endToken(draft, id, expires);
      return;
    }
    endTokens(draft, subject, now);
    for (const jti of ended.keys()) draft.tokens.delete(jti);
    this.#ended.delete(subject);
  }

  #endedOf(subject: string, now: number): Map<string, number> {
    const ended = this.#ended.get(subject) ?? new Map<string, number>();
    this.#ended.set(subject, ended);
    for (const [jti, expires] of ended) if (expires < now) ended.delete(jti);
    return ended;
  }
}
