/** What can be done to accounts and tokens, on a draft of `access.json`. */
import { CatalogError } from '../errors.ts';
import type { Access, AccessDraft, Account } from './access.ts';
import type { Role } from './roles.ts';
import { isNumericDate } from './time.ts';
import { LEEWAY_S } from './tokens.ts';

/** @throws CatalogError `account` where there is one of the name. */
export function addAccount(draft: AccessDraft, account: Account): void {
  requireUnused(draft, account.name);
  draft.users.set(account.name, account);
}

/** @throws CatalogError `account` where there is an account of the name. */
export function requireUnused({ users }: Access, name: string): void {
  if (!users.has(name)) return;
  throw new CatalogError(
    'account',
    `there is a user ${name} already; users passwd and users role change it`,
  );
}

/**
 * Changes the password; the tokens that were got with the old one end.
 *
 * @param password argon2id, in the PHC string format.
 * @param now seconds since the epoch, as below.
 * @throws CatalogError `account` where there is no such account, as below.
 */
export function setPassword(draft: AccessDraft, name: string, password: string, now: number): void {
  replace(draft, name, { password }, now);
}

/** @returns false where the account has the role already; then nothing changes. */
export function setRole(draft: AccessDraft, name: string, role: Role, now: number): boolean {
  if (requireAccount(draft, name).role === role) return false;
  replace(draft, name, { role }, now);
  return true;
}

/**
 * Ends the tokens of the account; those issued elsewhere while it was disabled end when it is
 * enabled.
 *
 * @returns false where it is so already; then nothing changes.
 */
export function setDisabled(
  draft: AccessDraft,
  name: string,
  disabled: boolean,
  now: number,
): boolean {
  if (requireAccount(draft, name).disabled === disabled) return false;
  replace(draft, name, { disabled }, now);
  return true;
}

/** Removes the account, and ends its tokens. */
export function removeAccount(draft: AccessDraft, name: string, now: number): void {
  requireAccount(draft, name);
  draft.users.delete(name);
  endTokens(draft, name, now);
}

/** Revokes one token. @param expires seconds since the epoch; null if that is not known. */
export function endToken(draft: AccessDraft, jti: string, expires: number | null): void {
  const known = expires ?? draft.tokens.get(jti) ?? null;
  // Rounded up: a token that another program signed may expire within a second.
  draft.tokens.set(jti, isNumericDate(known) ? Math.ceil(known) : null);
}

/**
 * Revokes all tokens that a subject has.
 *
 * Tokens issued after a revocation carry an `iat` behind it, since `iat` has whole seconds; so a
 * revocation in the same second has to name a later one. Where the last one is beyond the leeway
 * already, no token behind it can be valid yet.
 */
export function endTokens(draft: AccessDraft, subject: string, now: number): void {
  const last = draft.subjects.get(subject);
  const next = last === undefined || last >= now + LEEWAY_S ? last : last + 1;
  draft.subjects.set(subject, Math.max(now, next ?? now));
}

function replace(draft: AccessDraft, name: string, change: Partial<Account>, now: number): void {
  draft.users.set(name, { ...requireAccount(draft, name), ...change });
  endTokens(draft, name, now);
}

/** @throws CatalogError `account` where there is no account of the name. */
export function requireAccount({ users }: Access, name: string): Account {
  const found = users.get(name);
  if (found !== undefined) return found;
  throw new CatalogError('account', `there is no user ${name}; users list shows those there are`);
}
