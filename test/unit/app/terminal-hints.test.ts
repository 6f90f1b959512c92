/** spec 8.3: what `serve` prints on a terminal. */
import { PassThrough } from 'node:stream';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { printHints } from '../../../src/app/terminal-hints.ts';
import { changeAccess } from '../../../src/auth/access.ts';
import { addAccount } from '../../../src/auth/accounts.ts';
import { accountOf } from '../../support/credentials.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { quickDisk } from '../../support/disk.ts';

/** The lines for a server with this data directory. */
function greeting(data: string, terminal: PassThrough | null = new PassThrough()): string[] {
  const lines: string[] = [];
  const warn = (line: string) => void lines.push(line);
  printHints({ url: 'http://127.0.0.1:8000', basePath: '/api', data }, { terminal, warn });
  return lines;
}

test('the address of the console and the command that adds an account are printed on a terminal', () => {
  const data = temporaryDirectory();
  assert.equal(greeting(data), [
    'the console is at http://127.0.0.1:8000/api/console/',
    `there is no account to sign in with; add one: catalog-server users add NAME --role admin --data ${data}`,
  ]);
});

test('the command that adds an account is not printed if there is an account', async () => {
  const data = temporaryDirectory();
  await changeAccess(quickDisk, data, (draft) => addAccount(draft, accountOf('ann')));
  assert.equal(greeting(data), ['the console is at http://127.0.0.1:8000/api/console/']);
});

test('nothing is printed without a terminal', () => {
  assert.equal(greeting(temporaryDirectory(), null), []);
});

test.run();
