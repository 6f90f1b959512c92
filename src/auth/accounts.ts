/** Changes of accounts and revocations, made on a draft of `access.json`. */
import { CatalogError } from '../errors.ts';
import type { Access, AccessDraft, Account } from './access.ts';
import { isNumericDate, LEEWAY_S } from './time.ts';

/** A change of an account; `password` is argon2id, in the PHC string format. */
export type AccountChange = Partial<Pick<Account, 'role' | 'disabled' | 'password'>>;

/** What {@link accountName} accepts, in words for messages. */
export const ACCOUNT_NAME =
  '1 to 64 letters, digits or any of . _ @ + -, other than . and .., not beginning with -';

/** @returns the name in NFC, as logins compare it; null if it is not a valid name. */
export function accountName(text: string): string | null {
  const name = text.normalize('NFC');
  return /^(?![-]|\.{1,2}$)[\p{L}\p{M}\p{N}._@+-]{1,64}$/u.test(name) ? name : null;
}

/** @throws CatalogError `account` if the name is in use. */
export function addAccount(draft: AccessDraft, account: Account): void {
  requireUnused(draft, account.name);
  draft.users.set(account.name, account);
}

/** @throws CatalogError `account` if there is an account with the name. */
export function requireUnused({ users }: Access, name: string): void {
  if (!users.has(name)) return;
  throw new CatalogError(
    'account',
    `the user ${name} exists already; change it with users passwd or users role`,
  );
}

/**
 * Removes the account and ends its tokens.
 *
 * @param now seconds since the epoch, here and below.
 * @throws CatalogError `account` if there is no such account.
 */
export function removeAccount(draft: AccessDraft, name: string, now: number): void {
  requireAccount(draft, name);
  draft.users.delete(name);
  endTokens(draft, name, now);
}

/** Revokes one token. @param expires seconds since the epoch; null if unknown. */
export function endToken(draft: AccessDraft, jti: string, expires: number | null): void {
  const known = expires ?? draft.tokens.get(jti);
  // Rounded up: the expiry of a token that another program signed may have a fraction.
  draft.tokens.set(jti, isNumericDate(known) ? Math.ceil(known) : null);
}

/**
 * Revokes all tokens of a subject.
 *
 * `iat` has whole seconds, so a token issued after a revocation has a later second as its `iat`. A
 * further revocation must therefore name a later second than the last one. If the last revocation
 * is at least the leeway in the future, no token issued after it can be valid yet.
 */
export function endTokens(draft: AccessDraft, subject: string, now: number): void {
  const last = draft.subjects.get(subject);
  const next = last === undefined || last >= now + LEEWAY_S ? last : last + 1;
  draft.subjects.set(subject, Math.max(now, next ?? now));
}

/**
 * Changes an account and ends its tokens, also when it is enabled: another program may have issued
 * tokens while it was disabled.
 *
 * @returns false, with nothing changed, if the account already has these values.
 * @throws CatalogError `account` if there is no such account.
 */
export function changeAccount(
  draft: AccessDraft,
  name: string,
  change: AccountChange,
  now: number,
): boolean {
  const before = requireAccount(draft, name);
  const after = { ...before, ...change };
  const isSame =
    after.role === before.role &&
    after.disabled === before.disabled &&
    after.password === before.password;
  if (isSame) return false;
  draft.users.set(name, after);
  endTokens(draft, name, now);
  return true;
}

/** @throws CatalogError `account` if there is no account with the name. */
export function requireAccount({ users }: Access, name: string): Account {
  const found = users.get(name);
  if (found !== undefined) return found;
  throw new CatalogError('account', `there is no user ${name}; list the users with users list`);
}
