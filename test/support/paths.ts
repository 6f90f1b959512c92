/** Where the parts of the project are, so that no test counts the folders above itself. */
import { join } from 'node:path';

/** The root of the checkout. */
export const ROOT = join(import.meta.dir, '..', '..');

/**
 * The program as a file that can be run. test/run.ts builds the executable and names it here; a
 * test file that runs alone takes the source. The executable starts in a fifth of the time.
 */
export const PROGRAM =
  process.env['CATALOG_TEST_PROGRAM'] ?? join(ROOT, 'bin', 'catalog-server.ts');

/** A stored directory of an earlier schema version. */
export function fixture(version: number): string {
  return join(ROOT, 'test', 'fixtures', `schema-${version}`);
}
