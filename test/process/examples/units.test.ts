/** The systemd units in docs/examples: systemd accepts them, and their commands work. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { temporaryDirectory } from '../../support/directory.ts';
import { PROGRAM, ROOT } from '../../support/paths.ts';
import { callProgram } from '../../support/program.ts';

const EXAMPLES = join(ROOT, 'docs', 'examples');

/** The program in a command, with or without a path. */
const COMMAND = /^(Exec\w+=)(?:\/usr\/local\/bin\/)?catalog-server /gm;

const UNITS = readdirSync(EXAMPLES).filter((name) => /\.(?:service|timer)$/.test(name));

const unit = (name: string) => readFileSync(join(EXAMPLES, name), 'utf8');

const VERIFIED = 'systemd-analyze verify reports nothing for any unit';

(Bun.which('systemd-analyze') === null ? test.skip : test)(VERIFIED, () => {
  assert.ok(UNITS.length >= 5, `${UNITS.length} units`);
  const folder = temporaryDirectory();
  for (const name of UNITS) {
    // systemd-analyze checks that the program exists.
    writeFileSync(join(folder, name), unit(name).replace(COMMAND, '$1/bin/true '));
  }
  const paths = UNITS.map((name) => join(folder, name));
  const { status, stdout, stderr } = spawnSync(
    'systemd-analyze',
    ['verify', '--man=no', ...paths],
    {
      encoding: 'utf8',
    },
  );
  assert.equal([status, stdout, stderr], [0, '', '']);
});

test('the server does not publish its metrics, even if it listens on every address', () => {
  const environment = unit('catalog-server.service').match(/^Environment=.*$/gm) ?? [];
  assert.match(environment.join('\n'), /\bCATALOG_METRICS_HOST=127\.0\.0\.1\b/);
});

test('systemd starts a server that fails again and again, unless its usage is wrong', () => {
  const text = unit('catalog-server.service');
  const [, pause = '0.1'] = /^RestartSec=(\d+)$/m.exec(text) ?? [];
  // Its defaults, after which it gives up: five starts within ten seconds.
  assert.not.match(text, /^StartLimit/m);
  assert.ok(5 * Number(pause) > 10, pause);
  assert.match(text, /^RestartPreventExitStatus=2$/m);
});

interface Machine {
  /** Replacements for paths in the unit. */
  readonly paths: Readonly<Record<string, string>>;
  /** The first directory in which programs are looked up. */
  readonly bin?: string;
}

/**
 * Runs the commands of a service in order until one fails, as systemd does, but with replaced
 * paths. @returns the exit status of the last command, and all output.
 */
function runService(name: string, { paths, bin = '' }: Machine): { status: number; said: string } {
  let text = unit(name).replace(COMMAND, `$1${PROGRAM} `);
  for (const [path, other] of Object.entries(paths)) text = text.replaceAll(path, other);
  const cwd = /^WorkingDirectory=(.+)$/m.exec(text)?.[1] ?? '';
  const environment = [...text.matchAll(/^Environment=(\w+)=(\S+)$/gm)];
  const env = {
    ...Object.fromEntries(environment.map(([, key = '', value]) => [key, value])),
    PATH: `${bin}:${process.env['PATH']}`,
  };
  let said = '';
  for (const [, command] of text.matchAll(/^Exec\w+=(.+)$/gm)) {
    // systemd does not expand file names.
    const { status, stdout, stderr } = spawnSync('sh', ['-fc', command ?? ''], {
      cwd,
      env,
      encoding: 'utf8',
    });
    said += stdout + stderr;
    if (status !== 0) return { status: status ?? -1, said };
  }
  return { status: 0, said };
}

async function storeIn(root: string): Promise<string> {
  const data = join(root, 'catalog-server');
  const { status } = await callProgram(['migrate', '--demo', '--data', data]);
  assert.is(status, 0);
  await callProgram(['issue-token', '--subject', 'ann', '--data', data]);
  return data;
}

const DAY_S = 86_400;

test('the nightly service makes a backup with keys, and removes backups older than 30 days', async () => {
  const root = temporaryDirectory();
  await storeIn(root);
  const [into, credentials] = [join(root, 'catalog-backups'), join(root, 'credentials')];
  for (const directory of [into, credentials]) mkdirSync(directory);
  writeFileSync(join(credentials, 'passphrase'), 'a long passphrase\n');
  const aged = (name: string, days: number) => {
    writeFileSync(join(into, name), '');
    const then = Date.now() / 1000 - days * DAY_S;
    utimesSync(join(into, name), then, then);
  };
  aged('catalog-20260101T023000Z.json', 40);
  aged('catalog-20260120T023000Z.json', 20);
  aged('notes.txt', 400);
  const machine = { paths: { '/var/lib': root, '%d': credentials } };
  const { status, said } = runService('catalog-backup.service', machine);
  assert.is(status, 0, said);
  const [kept, made, ...more] = readdirSync(into).sort();
  assert.equal([kept, ...more], ['catalog-20260120T023000Z.json', 'notes.txt']);
  const backup = JSON.parse(readFileSync(join(into, made ?? ''), 'utf8'));
  assert.match(backup.encrypted_keys, 'AGE ENCRYPTED');
});

test('the nightly service removes no backup if it cannot make a new one', () => {
  const root = temporaryDirectory();
  const into = join(root, 'catalog-backups');
  mkdirSync(into);
  const old = join(into, 'catalog-20260101T023000Z.json');
  writeFileSync(old, '');
  utimesSync(old, 1, 1);
  writeFileSync(join(root, 'passphrase'), 'a long passphrase\n');
  const machine = { paths: { '/var/lib': root, '%d': root } };
  assert.is(runService('catalog-backup.service', machine).status, 1);
  assert.ok(existsSync(old));
});

test('the standby keeps its last backup if the next one is truncated, and can be restored from it', async () => {
  const root = temporaryDirectory();
  const data = await storeIn(root);
  const [standby, bin] = [join(root, 'catalog-standby'), join(root, 'bin')];
  for (const directory of [standby, bin]) mkdirSync(directory);
  const identity = await generateX25519Identity();
  writeFileSync(join(standby, 'identity.txt'), `${identity}\n`);
  const recipient = await identityToRecipient(identity);
  // Like the forced command in authorized_keys: it ignores what the client asks for.
  const ssh = (command: string) => {
    writeFileSync(join(bin, 'ssh'), `#!/bin/sh\n${command}\n`);
    chmodSync(join(bin, 'ssh'), 0o755);
  };
  const backup = `${PROGRAM} backup - --data ${data} --recipient ${recipient}`;
  const machine = { paths: { '/var/lib': root }, bin };
  ssh(backup);
  const first = runService('catalog-standby.service', machine);
  assert.is(first.status, 0, first.said);
  const current = join(standby, 'current.json');
  const good = readFileSync(current);
  ssh(`${backup} | head -c 5000`);
  assert.is(runService('catalog-standby.service', machine).status, 1);
  assert.equal(readFileSync(current), good);
  ssh(backup);
  const again = runService('catalog-standby.service', machine);
  assert.is(again.status, 0, `after a run that was cut off: ${again.said}`);

  const taken = join(root, 'taken');
  const restore = ['restore', current, '--data', taken];
  const opened = ['--identity-file', join(standby, 'identity.txt')];
  const restored = await callProgram([...restore, ...opened]);
  assert.is(restored.status, 0, restored.stderr);
  const keysIn = (directory: string): unknown =>
    JSON.parse(readFileSync(join(directory, 'keys.json'), 'utf8'));
  assert.equal(keysIn(taken), keysIn(data));
});

test.run();
