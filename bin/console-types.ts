/**
 * Writes the types of the API, generated from its description, to `dist/console/`. The source of
 * the console imports them from there. `npm run check` does this first, so that a change of the API
 * that breaks the console fails there.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { version } from '../package.json' with { type: 'json' };
import { openApiDocument } from '../src/http/openapi/document.ts';
import { operationTable } from '../src/http/table.ts';

const DIRECTORY = join(import.meta.dir, '..', 'dist', 'console');

// The generator needs an older TypeScript, and is installed with it in a folder of its own.
const generatorHome = dirname(
  realpathSync(fileURLToPath(import.meta.resolve('client-generator/package.json'))),
);
const generator = join(
  dirname(Bun.resolveSync('openapi-typescript', generatorHome)),
  '..',
  'bin',
  'cli.js',
);

mkdirSync(DIRECTORY, { recursive: true });
const settings = { basePath: '', version, protectBooks: true, maxImport: 1 };
const description = openApiDocument(operationTable(settings), settings);
writeFileSync(join(DIRECTORY, 'openapi.json'), JSON.stringify(description));
const { status, stderr } = spawnSync(
  process.execPath,
  [generator, 'openapi.json', '--output', 'api.d.ts'],
  { cwd: DIRECTORY, encoding: 'utf8' },
);
if (status !== 0) {
  process.stderr.write(stderr);
  process.exit(1);
}
