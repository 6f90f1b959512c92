/** Who may do what (DECISIONS 6). */
import { mayActAs } from '../auth/roles.ts';
import type { TokenVerifier, Verified } from '../auth/tokens.ts';
import { CatalogError } from '../errors.ts';
import type { Endpoint } from './endpoint.ts';
import { header, type Request, whenReady } from './exchange.ts';

/** @returns whose token it is. @throws CatalogError `unauthorized`, `forbidden`. */
export function authorize(
  endpoint: Endpoint,
  request: Request,
  tokens: TokenVerifier,
): Verified | Promise<Verified> {
  const { method } = request;
  const needed = method === 'GET' || method === 'HEAD' ? 'viewer' : 'editor';
  const permit = (caller: Verified) => {
    if (endpoint.permit !== undefined) endpoint.permit(caller);
    else if (!mayActAs(caller.role, needed)) {
      throw new CatalogError('forbidden', `the role ${caller.role} may read, but not write`);
    }
    return caller;
  };
  return whenReady(tokens.verify(header(request, 'authorization')), permit);
}
