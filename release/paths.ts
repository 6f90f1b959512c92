/** Where the parts of the project are. */
import { join } from 'node:path';

/** The root of the checkout. */
export const ROOT = join(import.meta.dir, '..');
