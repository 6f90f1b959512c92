/** Rows of the README's table of variables and flags. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const README = join(import.meta.dir, '..', '..', 'README.md');

/** Variable and flag of each row; a variable without a flag has none. */
export function documentedFlags(): (readonly [variable: string, flag: string])[] {
  const rows = readFileSync(README, 'utf8').matchAll(
    /^\| `(CATALOG_\w+)` \| (?:`(--[\w-]+)`)? ?\|/gm,
  );
  return [...rows].map(([, variable = '', flag = '']) => [variable, flag]);
}
