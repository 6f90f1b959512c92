/**
 * Revocations that callers ask for of their own tokens. Who has an account can get any number of
 * tokens, and each revocation is kept until its token has expired: without a bound for each subject,
 * one of them could fill the file in which admins end the access of others.
 */
import type { AccessDraft } from '../../auth/access.ts';
import { endToken, endTokens } from '../../auth/accounts.ts';
import type { Verified } from '../../auth/tokens.ts';

/** Tokens of one subject that were ended one by one and have not expired yet. */
export const MAX_ENDED_TOKENS = 100;

export class OwnRevocations {
  /** When the ended tokens of a subject expire, in seconds since the epoch, by their `jti`. */
  readonly #ended = new Map<string, Map<string, number>>();

  /**
   * Revokes a token. If its subject has ended {@link MAX_ENDED_TOKENS} others that have not expired
   * yet, all tokens of the subject end instead: that is one entry, and makes the others needless.
   *
   * @param draft of `access.json`. If it is not written, what was ended in it counts all the same.
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
