/** Signing keys across processes: concurrent creation, and secrets that are too short. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { temporaryDirectory } from '../../support/directory.ts';
import { ROOT } from '../../support/paths.ts';
import { runCommand } from '../../support/server.ts';

const KEYS = join(ROOT, 'src', 'auth', 'keys.ts');

interface Stored {
  readonly kid: string;
  readonly secret: string;
}

/** The keys of the directory as another process loads them, as JSON text. */
function keysOfProcess(directory: string): Promise<string> {
  const script = `
    const { loadKeys } = await import(${JSON.stringify(KEYS)});
    const keys = await loadKeys(${JSON.stringify(directory)}, undefined);
    console.log(JSON.stringify(keys.map(({ kid, secret }) =>
      [kid, Buffer.from(secret).toString('base64url')])));`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  return new Promise((resolve) => child.on('close', () => resolve(output.trim())));
}

test('processes that create keys at the same time end up with the same keys', async () => {
  for (let round = 0; round < 3; round += 1) {
    const directory = temporaryDirectory();
    const all = await Promise.all(Array.from({ length: 4 }, () => keysOfProcess(directory)));
    const path = join(directory, 'keys.json');
    const { keys } = JSON.parse(readFileSync(path, 'utf8')) as { keys: Stored[] };
    const kept = JSON.stringify(keys.map(({ kid, secret }) => [kid, secret]));
    assert.equal(all, [kept, kept, kept, kept]);
    assert.is(statSync(path).mode & 0o777, 0o600);
    assert.equal(readdirSync(directory), ['keys.json']);
  }
});

test('serve and issue-token reject a secret of 31 bytes with one line and status 1', async () => {
  for (const args of [
    ['serve', '--port', '0'],
    ['issue-token', '--subject', 'ann'],
  ]) {
    const data = join(temporaryDirectory(), 'data');
    const { status, stdout, stderr } = await runCommand([...args, '--data', data], {
      env: { CATALOG_JWT_SECRET: 'x'.repeat(31) },
    });
    assert.is(status, 1, args[0]);
    assert.is(stdout, '');
    assert.match(stderr, /^[^\n]*CATALOG_JWT_SECRET[^\n]*\n$/);
    assert.not.ok(existsSync(join(data, 'keys.json')));
  }
});

test.run();
