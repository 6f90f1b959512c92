/** spec 8.2: the completion scripts, and how the shells use them. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { temporaryDirectory } from '../../support/directory.ts';
import { callProgram } from '../../support/program.ts';
import { COMMANDS, NESTED } from '../../support/command-line.ts';

for (const shell of ['bash', 'zsh', 'fish'] as const) {
  test(`completion ${shell} prints a script that names every command and every flag`, async () => {
    const { status, stdout, stderr } = await callProgram(['completion', shell]);
    assert.is(status, 0);
    assert.is(stderr, '');
    for (const [command, flags] of Object.entries(COMMANDS)) {
      assert.match(stdout, new RegExp(`\\b${command}\\b`));
      for (const flag of [...flags, '--help']) {
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
  [['import', 'skus', 's'], ['']],
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

/** Of zsh and fish: what is typed, and the one word that the last word becomes. */
const UNIQUE: readonly [words: readonly string[], word: string][] = [
  [['mig'], 'migrate'],
  [['users', 'pa'], 'passwd'],
  [['migrate', '--de'], '--demo'],
  [['export', 'sk'], 'skus'],
  [['export', '--data', 'directory', 'sk'], 'skus'],
  [['export', 'skus', '--format', 'n'], 'ndjson'],
  [['serve', '--log-level', 's'], 'silent'],
  [['users', 'add', 'ann', '--role', 'v'], 'viewer'],
  [['completion', 'z'], 'zsh'],
];

/** Types each line and a tab in zsh on a pseudo terminal. @returns the lines after that. */
function completedByZsh(lines: readonly string[], ready: string): string[] {
  const directory = temporaryDirectory();
  const file = join(directory, 'lines');
  // The keys ^X^X write the line that is edited to the file, and clear it.
  const widget = `show() { print -r -- "$BUFFER" >> ${file}; BUFFER=; print -n SHO""WN }; zle -N show; bindkey "^X^X" show`;
  const script = `
    zmodload zsh/zpty
    zpty shell 'PS1= zsh -f -i'
    zpty -w shell 'autoload -U compinit; ${ready}; ${widget}; print REA""DY'
    zpty -r -m shell output '*READY*'
    for line in "$@"; do
      zpty -w -n shell "$line"$'\\t\\C-x\\C-x'
      zpty -r -m shell output '*SHOWN*'
    done`;
  const { status, stderr } = spawnSync('zsh', ['-f', '-c', script, 'zsh', ...lines], {
    encoding: 'utf8',
    cwd: directory,
    env: { ...process.env, HOME: directory, ZDOTDIR: directory, TERM: 'dumb' },
    timeout: 60_000,
  });
  assert.is(status, 0, stderr);
  return readFileSync(file, 'utf8').split('\n').slice(0, -1);
}

testWith('zsh', 'zsh completes commands, names and values of flags', async () => {
  const file = join(temporaryDirectory(), 'script');
  writeFileSync(file, (await callProgram(['completion', 'zsh'])).stdout);
  const typed = UNIQUE.map(([words]) => ['catalog-server', ...words].join(' '));
  const completed = UNIQUE.map(
    ([words, word]) => `${['catalog-server', ...words.slice(0, -1), word].join(' ')} `,
  );
  assert.equal(completedByZsh(typed, `compinit -u -D; source ${file}`), completed);
});

testWith('zsh', 'zsh completes at the first tab if it finds the script in $fpath', async () => {
  const directory = temporaryDirectory();
  const { stdout } = await callProgram(['completion', 'zsh']);
  writeFileSync(join(directory, '_catalog-server'), stdout);
  const ready = `fpath=(${directory} $fpath); compinit -u -D`;
  assert.equal(completedByZsh(['catalog-server mig'], ready), ['catalog-server migrate ']);
});

testWith('fish', 'fish completes commands, names and values of flags', async () => {
  const directory = temporaryDirectory();
  const file = join(directory, 'script');
  writeFileSync(file, (await callProgram(['completion', 'fish'])).stdout);
  for (const [words, word] of UNIQUE) {
    const script = `source ${file}; complete -C "catalog-server ${words.join(' ')}"`;
    const { stdout } = spawnSync('fish', ['--no-config', '-c', script], {
      encoding: 'utf8',
      cwd: directory,
      env: { ...process.env, HOME: directory },
    });
    assert.is(stdout.trim().split('\t')[0], word, words.join(' '));
  }
});

test.run();
