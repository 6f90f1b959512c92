/** Whole catalogs, to compare the ones of several hosts. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { temporaryDirectory } from '../../support/directory.ts';
import { runCommand } from '../../support/server.ts';

/** The whole catalog of a directory, as `backup` writes it. */
export async function backupOf(data: string): Promise<string> {
  const path = join(temporaryDirectory(), 'backup.json');
  const { status, stderr } = await runCommand(['backup', path, '--data', data]);
  assert.is(status, 0, stderr);
  return readFileSync(path, 'utf8');
}
