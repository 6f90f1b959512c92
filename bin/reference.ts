/** Writes docs/reference.md from the program: `bun bin/reference.ts`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../release/paths.ts';
import { inertProgram } from '../release/program-facts.ts';
import { referencePage } from '../release/reference.ts';

writeFileSync(join(ROOT, 'docs', 'reference.md'), referencePage(inertProgram()));
