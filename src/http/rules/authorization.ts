/** Which role an operation needs, and whether a caller has it (spec 6.5). */
import { mayActAs, type Role } from '../../auth/roles.ts';
import type { TokenVerifier, Verified } from '../../auth/tokens.ts';
import { CatalogError } from '../../errors.ts';
import type { Kind } from '../../model/kind.ts';
import { header, type HttpRequest, isSafe, whenReady } from '../message.ts';

/**
 * The role that a method on rows of a kind needs; null if it needs no token.
 *
 * @param protectsOpen whether writing to public collections needs a token (spec 6.1: it does not).
 */
export function accessTo(
  { public: isPublic, adminOnly }: Pick<Kind, 'public' | 'adminOnly'>,
  method: string,
  protectsOpen: boolean,
): Role | null {
  if (isPublic && (isSafe(method) || !protectsOpen)) return null;
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
