/** The API description, checked by a public linter. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openApiDocument } from '../../../src/http/openapi/document.ts';
import { operationTable } from '../../../src/http/table.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const SETTINGS = { basePath: '/api', version: '1.2.3', protectBooks: false, maxImport: 1 };

const TEXT = JSON.stringify(openApiDocument(operationTable(SETTINGS), SETTINGS));

/** All rules that Redocly recommends, with warnings as errors, except one (see spec 3.7). */
const RULES = `
extends: [recommended-strict]
rules:
  no-path-trailing-slash: off
`;

test('the Redocly linter finds no problems in the API description', () => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'redocly.yaml'), RULES);
  writeFileSync(join(directory, 'openapi.json'), TEXT);
  const cli = fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js'));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [cli, 'lint', '--format=json', 'openapi.json'],
    {
      cwd: directory,
      // It must not send requests to other hosts.
      env: { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      encoding: 'utf8',
    },
  );
  assert.equal(JSON.parse(stdout).problems, [], stderr);
  assert.is(status, 0);
});

test.run();
