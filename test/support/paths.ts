/** Where the parts of the project are, so that no test counts the folders above itself. */
import { join } from 'node:path';

/** The root of the checkout. */
export const ROOT = join(import.meta.dir, '..', '..');

/** The program, from source. */
export const ENTRY = join(ROOT, 'bin', 'catalog-server.ts');

/** A stored directory of an earlier schema version. */
export function fixture(version: number): string {
  return join(ROOT, 'test', 'fixtures', `schema-${version}`);
}
