/** Who may do what (DECISIONS 6). */
import { mayActAs } from '../auth/roles.ts';
import type { Caller } from '../auth/tokens.ts';
import { CatalogError } from '../errors.ts';
import type { Endpoint } from './endpoint.ts';

/** @returns whom the token is for. @throws CatalogError `forbidden`. */
export function permit(
  { adminOnly }: Pick<Endpoint, 'adminOnly'>,
  method: string,
  { subject, role }: Caller,
): string {
  const reads = method === 'GET' || method === 'HEAD';
  if (mayActAs(role, adminOnly ? 'admin' : reads ? 'viewer' : 'editor')) return subject;
  const lacking = adminOnly ? 'not read this; admin may' : 'read, but not write';
  throw new CatalogError('forbidden', `the role ${role} may ${lacking}`);
}
