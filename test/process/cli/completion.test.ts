/** spec 8.2: the completion scripts, and how the shells use them. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { temporaryDirectory } from '../../support/directory.ts';
import { callProgram } from '../../support/program.ts';
import { COMMANDS, FLAGS, NESTED } from '../../support/command-line.ts';

for (const shell of ['bash', 'zsh', 'fish'] as const) {
  test(`completion ${shell} prints a script that names every command and every flag`, async () => {
    const { status, stdout, stderr } = await callProgram(['completion', shell]);
    assert.is(status, 0);
    assert.is(stderr, '');
    for (const command of COMMANDS) {
      assert.match(stdout, new RegExp(`\\b${command}\\b`));
      for (const flag of [...FLAGS[command], '--help']) {
        const written = shell === 'fish' ? `-l ${flag.slice(2)} ` : flag;
        const line = stdout
          .split('\n')
          .filter((each) => each.includes(command) && each.includes(written));
        assert.ok(line.length > 0, `${command} ${flag}`);
      }
    }
    for (const [nested, flags] of Object.entries(NESTED)) {
      const [group = '', name = ''] = nested.split(' ');
      const lines = stdout.split('\n').filter((line) => line.includes(name));
      assert.ok(lines.length > 0, nested);
      for (const flag of [...flags, '--help']) {
        const written = shell === 'fish' ? `-l ${flag.slice(2)} ` : flag;
        const told = lines.filter((line) => line.includes(written));
        assert.ok(told.length > 0, `${nested} ${flag}`);
        // In the zsh script the group is on a separate line.
        assert.ok(shell === 'zsh' || told.some((line) => line.includes(group)), nested);
      }
    }
    assert.ok(stdout.includes(shell === 'fish' ? '-l version' : '--version'), '--version');
  });
}

/** A test that is skipped if the shell is not installed. */
function testWith(shell: string, name: string, run: () => Promise<void>): void {
  if (Bun.which(shell) === null) test.skip(`${name} (skipped: ${shell} is not installed)`, run);
  else test(name, run);
}

for (const shell of ['bash', 'zsh', 'fish'] as const) {
  testWith(shell, `${shell} accepts the syntax of its completion script`, async () => {
    const { stdout } = await callProgram(['completion', shell]);
    const script = join(temporaryDirectory(), 'script');
    writeFileSync(script, stdout);
    const { status, stderr } = spawnSync(shell, ['-n', script], { encoding: 'utf8' });
    assert.is(status, 0, stderr);
    assert.is(stderr, '');
  });
}

const COMPLETED: readonly [words: readonly string[], offered: readonly string[]][] = [
  [['mig'], ['migrate']],
  [['ch'], ['check']],
  [['ba'], ['backup']],
  [['re'], ['rebuild-pages', 'restore']],
  [['--v'], ['--version']],
  [['serve', '--po'], ['--port']],
  [
    ['migrate', '--d'],
    ['--data', '--demo', '--dry-run'],
  ],
  [['backup', '--v'], ['--verbose']],
  [['issue-token', '--s'], ['--subject']],
  [['rebuild-pages', '--st'], ['--stale']],
  [['us'], ['users']],
  [['im'], ['import']],
  [['export', 'sk'], ['skus']],
  [['import', 'b'], ['brands']],
  [['import', 'skus', '--mat'], ['--match']],
  [['export', '--o'], ['--output']],
  [['completion', 'z'], ['zsh']],
  [
    ['users', 'r'],
    ['remove', 'role'],
  ],
  [['users', '--h'], ['--help']],
  [['users', 'add', '--r'], ['--role']],
  [['users', 'add', 'ann', '--r'], ['--role']],
  [['keys', 'ro'], ['rotate']],
  [['keys', 'rotate', '--o'], ['--overlap']],
  [['tokens', 'revoke', '--s'], ['--subject']],
  // bash then offers files.
  [['serve', '--templates', ''], ['']],
  [['restore', 'file', '--data', ''], ['']],
  [
    ['users', 'add', 'ann', '--role', ''],
    ['admin', 'editor', 'viewer'],
  ],
  [['serve', '--log-format', 'j'], ['json']],
  [['export', 'skus', '--format', 'n'], ['ndjson']],
  [['migrate', '--dry-run', '--de'], ['--demo']],
];

for (const [words, offered] of COMPLETED) {
  testWith('bash', `bash completes "${words.join(' ')}" to ${offered.join(', ')}`, async () => {
    const { stdout } = await callProgram(['completion', 'bash']);
    const typed = ['catalog-server', ...words].map((word) => `'${word}'`).join(' ');
    const script = `${stdout}\nCOMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _catalog_server; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const result = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
    assert.is(result.stderr, '');
    assert.equal(result.stdout.trim().split('\n').sort(), offered);
  });
}

test.run();
