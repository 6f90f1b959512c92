/** A token for requests from one host to another that has the same keys. */
import { loadKeys } from '../../auth/keys.ts';
import { wholeSeconds } from '../../auth/time.ts';
import { issueToken } from '../../auth/tokens.ts';

/** Seconds for which the token of one request is valid. */
const LIFETIME_S = 60;

/** Not the name of an account: one that is disabled would void the tokens of hosts. */
const SUBJECT = 'catalog-server:host';

/**
 * @param directory the data directory, with the keys that both hosts have.
 * @param secret the value of CATALOG_JWT_SECRET.
 * @returns a token of the role admin for one request.
 * @throws CatalogError `key_file`.
 */
export async function hostToken(directory: string, secret: string | undefined): Promise<string> {
  const keys = await loadKeys(directory, secret);
  const issued = wholeSeconds(Date.now());
  const validity = { issued, expires: issued + LIFETIME_S };
  return (await issueToken(keys, { subject: SUBJECT, role: 'admin' }, validity)).token;
}
