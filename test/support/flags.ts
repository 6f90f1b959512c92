/** Rows of the tables of docs/reference.md that are about `serve`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './paths.ts';

/** Variable and flag of each row; a variable without a flag has none. */
export function documentedFlags(): (readonly [variable: string, flag: string])[] {
  const text = readFileSync(join(ROOT, 'docs', 'reference.md'), 'utf8');
  const [, serve = ''] = /^## serve\n([\s\S]*?)\n## /m.exec(text) ?? [];
  const alone = [...text.matchAll(/^\| `(CATALOG_\w+)` \|/gm)];
  const flags = [...serve.matchAll(/^\| `(--[\w-]+)[^`]*` \| `(CATALOG_\w+)` \|/gm)];
  return [
    ...alone.map(([, variable = '']) => [variable, ''] as const),
    ...flags.map(([, flag = '', variable = '']) => [variable, flag] as const),
  ];
}
