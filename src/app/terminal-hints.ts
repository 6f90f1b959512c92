/** What `serve` prints for a person at a terminal, beyond its one line (spec 8.3). */
import { shellWord } from '../errors.ts';
import { accessPath, readAccess } from '../auth/access.ts';
import type { Context } from './context.ts';

interface Started {
  /** Where the server listens, without the base path. */
  readonly url: string;
  readonly basePath: string;
  /** The data directory. */
  readonly data: string;
}

/**
 * Prints where the console is, and how to get an account if there is none. Prints nothing if
 * standard error is not a terminal, as for scripts and services.
 *
 * @throws CatalogError `access_file`.
 */
export function printHints(
  { url, basePath, data }: Started,
  { terminal, warn }: Pick<Context, 'terminal' | 'warn'>,
): void {
  if (terminal === null) return;
  warn(`the console is at ${url}${basePath}/console/`);
  const accounts = readAccess(accessPath(data))?.users.size ?? 0;
  if (accounts > 0) return;
  warn(
    `there is no account to sign in with; add one: catalog-server users add NAME --role admin --data ${shellWord(data)}`,
  );
}
