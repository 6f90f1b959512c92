/** Which role an operation needs, and whether a caller has it (spec 6.5). */
import { mayActAs, type Role } from '../../auth/roles.ts';
import type { TokenVerifier, Verified } from '../../auth/tokens.ts';
import { CatalogError } from '../../errors.ts';
import type { Kind } from '../../model/kind.ts';
import { header, type HttpRequest, isSafe, whenReady } from '../message.ts';
import type { Services } from '../services.ts';

/**
 * The role that a method on rows of a kind needs; null if it needs no token.
 *
 * @param protectBooks whether writing to public collections needs a token (spec 6.1: it does not).
 */
export function accessTo(
  { public: isPublic, adminOnly }: Pick<Kind, 'public' | 'adminOnly'>,
  method: string,
  protectBooks: boolean,
): Role | null {
  if (isPublic && (isSafe(method) || !protectBooks)) return null;
  if (adminOnly) return 'admin';
  return isSafe(method) ? 'viewer' : 'editor';
}

/**
 * @param needed the lowest role that may run the operation.
 * @returns the caller that the token identifies.
 * @throws CatalogError `unauthorized`, `forbidden`.
 */
export function authorize(
  needed: Role,
  request: HttpRequest,
  tokens: TokenVerifier,
): Verified | Promise<Verified> {
  return whenReady(tokens.verify(header(request, 'authorization')), (caller) => {
    const { role } = caller;
    if (!mayActAs(role, needed)) {
      const what = isSafe(request.method) ? 'read' : 'do';
      const isWrite = needed === 'editor' && what === 'do';
      const lacking = isWrite
        ? 'read, but not write'
        : `not ${what} this; it requires the role ${needed}`;
      throw new CatalogError('forbidden', `the role ${role} may ${lacking}`);
    }
    return caller;
  });
}

/** The subject of the caller; null if the operation needs no token. */
export function subjectOf({ caller }: { readonly caller: Verified | null }): string | null {
  return caller?.subject ?? null;
}

/** The caller of an operation that needs a token: there is always one. */
export function callerOf({ caller }: { readonly caller: Verified | null }): Verified {
  if (caller !== null) return caller;
  throw new Error('an operation without a role has no caller');
}

/**
 * Verifies the token of a request again, after a wait in which it may have been revoked. A token
 * whose role was changed is revoked too, so the role is not checked again.
 *
 * @param caller null if the operation needs no token.
 * @throws CatalogError `unauthorized`; it may also reject with it.
 */
export function confirmCaller({
  caller,
  request,
  services,
}: {
  readonly caller: Verified | null;
  readonly request: HttpRequest;
  readonly services: Pick<Services, 'tokens'>;
}): Verified | null | Promise<Verified> {
  return caller === null ? null : services.tokens.verify(header(request, 'authorization'));
}

/**
 * Checks whether work for a caller that continues after the response may go on.
 *
 * @throws CatalogError as {@link TokenVerifier.requireAccess}.
 */
export function requireAccess({
  caller,
  services,
}: {
  readonly caller: Verified | null;
  readonly services: Pick<Services, 'tokens'>;
}): void {
  if (caller !== null) services.tokens.requireAccess(caller);
}

/** Whether the token of a stream is still valid. A stream ends when it no longer is. */
export async function isStillAllowed(
  request: HttpRequest,
  tokens: TokenVerifier,
): Promise<boolean> {
  try {
    await tokens.verify(header(request, 'authorization'));
    return true;
  } catch (error) {
    if (error instanceof CatalogError) return false;
    throw error;
  }
}
