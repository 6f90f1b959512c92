/** The API description under a linter of others. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openApiDocument } from '../../../src/http/openapi/document.ts';
import { operationTable } from '../../../src/http/table.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const SETTINGS = { basePath: '/api', version: '1.2.3', protectBooks: false };

const TEXT = JSON.stringify(openApiDocument(operationTable(SETTINGS), SETTINGS));

/** Every rule that redocly recommends, warnings as errors, but for the one that spec 3.7 forbids. */
const RULES = `
extends: [recommended-strict]
rules:
  no-path-trailing-slash: off
`;

test('a public linter finds nothing to say', () => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'redocly.yaml'), RULES);
  writeFileSync(join(directory, 'openapi.json'), TEXT);
  const cli = fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js'));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [cli, 'lint', '--format=json', 'openapi.json'],
    {
      cwd: directory,
      // It is to ask nothing of other hosts.
      env: { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      encoding: 'utf8',
    },
  );
  assert.equal(JSON.parse(stdout).problems, [], stderr);
  assert.is(status, 0);
});

test.run();
