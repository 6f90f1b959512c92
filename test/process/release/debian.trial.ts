/**
 * The Debian package: installed, run and removed in a root of its own. It needs a release, and a
 * root that has dpkg, so it is run by a command:
 *
 *     npm run release -- --target linux-x64
 *     mmdebstrap --variant=minbase --include=adduser bookworm /tmp/root
 *     DEBIAN_ROOT=/tmp/root bun test/process/release/debian.trial.ts
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { version } from '../../../package.json' with { type: 'json' };
import { missingFor, RELEASE, succeed } from '../../support/release.ts';

const PACKAGE = `catalog-server_${version}_amd64.deb`;
const ROOT = process.env['DEBIAN_ROOT'] ?? '';

/** The objections of lintian to a package that is not made with the tools of Debian, and why. */
const EXPLAINED: Readonly<Record<string, string>> = {
  'bogus-mail-host': 'the project has no address for mail',
  'bogus-mail-host-in-debian-changelog': 'the same',
  'embedded-library': 'Bun has its libraries inside',
  'hardening-no-pie': "Bun's executables are linked so",
  'hardening-no-relro': 'the same',
  'maintainer-script-calls-systemctl': 'deb-systemd-helper is only in Debian',
  'unstripped-binary-or-object': 'stripping removes the program from the executable',
};

function reasonToSkip(): string | null {
  if (ROOT === '') return 'DEBIAN_ROOT names no root of Debian';
  if (process.getuid?.() !== 0) return 'only root can enter another root';
  return missingFor(PACKAGE, ['chroot', 'dpkg-deb']);
}

function testOf(name: string, body: () => void): void {
  const reason = reasonToSkip();
  if (reason === null) test(name, body);
  else test.skip(`${name} (skipped: ${reason})`, () => {});
}

/** Bun needs /proc, as every machine and container has it. */
const ENTER = 'mount -t proc proc "$1/proc" && exec chroot "$@"';

/** Runs a command of the root. @returns standard output. */
function inRoot(...command: readonly string[]): string {
  return succeed('unshare', ['--mount', 'sh', '-c', ENTER, 'sh', ROOT, ...command]);
}

const isThere = (path: string) => existsSync(join(ROOT, path));

testOf('the package is installed, works for its user, keeps the data, and can be removed', () => {
  rmSync(join(ROOT, 'var/lib/catalog-server'), { recursive: true, force: true });
  copyFileSync(join(RELEASE, PACKAGE), join(ROOT, 'tmp', PACKAGE));
  const mode = statSync(ROOT).mode;
  inRoot('dpkg', '--install', `/tmp/${PACKAGE}`);
  assert.is(statSync(ROOT).mode, mode, 'the mode of / is as it was');
  assert.is(inRoot('catalog-server', '--version'), `${version}\n`);
  assert.match(inRoot('getent', 'passwd', 'catalog'), ':/var/lib/catalog-server:/usr/sbin/nologin');
  const data = statSync(join(ROOT, 'var/lib/catalog-server'));
  assert.is(data.mode & 0o777, 0o700);
  assert.is.not(data.uid, 0);
  const asUser = (...args: readonly string[]) =>
    inRoot(
      'setpriv',
      '--reuid=catalog',
      '--regid=catalog',
      '--clear-groups',
      'catalog-server',
      ...args,
    );
  asUser('migrate', '--demo', '--data', '/var/lib/catalog-server');
  assert.match(asUser('check', '--data', '/var/lib/catalog-server'), 'is in order: ');

  const unit = readFileSync(join(ROOT, 'usr/lib/systemd/system/catalog-server.service'), 'utf8');
  assert.match(unit, 'ExecStart=/usr/bin/catalog-server serve');
  assert.match(unit, 'EnvironmentFile=-/etc/default/catalog-server');
  for (const path of [
    'man/man1/catalog-server.1.gz',
    'fish/vendor_completions.d/catalog-server.fish',
  ]) {
    assert.ok(
      inRoot('dpkg', '--listfiles', 'catalog-server').includes(`/usr/share/${path}\n`),
      path,
    );
  }

  inRoot('dpkg', '--install', `/tmp/${PACKAGE}`);
  inRoot('dpkg', '--remove', 'catalog-server');
  assert.not.ok(isThere('usr/bin/catalog-server'));
  assert.ok(isThere('etc/default/catalog-server'), 'what a person may have changed is kept');
  inRoot('dpkg', '--purge', 'catalog-server');
  assert.not.ok(isThere('etc/default/catalog-server'));
  assert.ok(isThere('var/lib/catalog-server/catalog.json'), 'the catalog is kept');
});

testOf('lintian has no objection but those that are explained', () => {
  if (Bun.which('lintian') === null) return;
  const { stdout } = spawnSync('lintian', ['--no-tag-display-limit', join(RELEASE, PACKAGE)], {
    encoding: 'utf8',
  });
  const tags = [...stdout.matchAll(/^[EW]: catalog-server: ([\w-]+)/gm)].map(([, tag = '']) => tag);
  assert.equal([...new Set(tags)].toSorted(), Object.keys(EXPLAINED).toSorted());
});

test.run();
