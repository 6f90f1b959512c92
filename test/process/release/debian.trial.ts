/**
 * The Debian package: installed, run and removed in a separate root. It needs a release and a root
 * directory that has dpkg, so run it with:
 *
 *     npm run release -- --target linux-x64
 *     mmdebstrap --variant=minbase --include=adduser bookworm /tmp/root
 *     DEBIAN_ROOT=/tmp/root bun test/process/release/debian.trial.ts
 */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { version } from '../../../package.json' with { type: 'json' };
import { SCHEMA_VERSION } from '../../../src/store/files/schema.ts';
import { ROOT as SOURCE } from '../../support/paths.ts';
import { missingFor, RELEASE, succeed } from '../../support/release.ts';

const PACKAGE = `catalog-server_${version}_amd64.deb`;
const ROOT = process.env['DEBIAN_ROOT'] ?? '';

/** The expected tags of lintian for a package that is not built with Debian's tools, and why. */
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

/** Bun needs /proc, which every machine and container has. */
const ENTER = 'mount -t proc proc "$1/proc" && exec chroot "$@"';

/** Runs a command of the root. @returns standard output. */
function inRoot(...command: readonly string[]): string {
  return succeed('unshare', ['--mount', 'sh', '-c', ENTER, 'sh', ROOT, ...command]);
}

const isThere = (path: string) => existsSync(join(ROOT, path));

testOf('the package can be installed, run as its user and removed, and the data is kept', () => {
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

/** A store of an earlier version that belongs to the user of the package. */
function olderStore(): string {
  const data = join(ROOT, 'var/lib/catalog-server');
  rmSync(data, { recursive: true, force: true });
  cpSync(join(SOURCE, 'test/fixtures/schema-4'), data, { recursive: true });
  inRoot('chown', '-R', 'catalog:catalog', '/var/lib/catalog-server');
  inRoot('chmod', '700', '/var/lib/catalog-server');
  return join(data, 'catalog.json');
}

/** Runs dpkg. @returns the verbs that the package's scripts have called systemctl with. */
type Dpkg = (...args: readonly string[]) => string[];

/** Runs `body` in a root that seems to have systemd, and purges the package. */
function withSystemctl(body: (dpkg: Dpkg, upgrade: (state: string) => string[]) => void): void {
  const systemd = join(ROOT, 'run/systemd/system');
  const systemctl = join(ROOT, 'usr/bin/systemctl');
  const calls = join(ROOT, 'tmp/systemctl-calls');
  const dpkg: Dpkg = (...args) => {
    writeFileSync(calls, '');
    inRoot('dpkg', ...args);
    const verbs = readFileSync(calls, 'utf8').trim().split('\n');
    return verbs.filter((verb) => verb !== 'daemon-reload');
  };
  const upgrade = (state: string): string[] => {
    const isActive = `echo ${state}; [ ${state} = active ] || exit 3`;
    const script = `#!/bin/sh\necho "$1" >> /tmp/systemctl-calls\n[ "$1" != is-active ] || { ${isActive}; }\n`;
    writeFileSync(systemctl, script, { mode: 0o755 });
    return dpkg('--install', `/tmp/${PACKAGE}`);
  };
  copyFileSync(join(RELEASE, PACKAGE), join(ROOT, 'tmp', PACKAGE));
  mkdirSync(systemd, { recursive: true });
  try {
    body(dpkg, upgrade);
  } finally {
    inRoot('dpkg', '--purge', 'catalog-server');
    for (const path of [systemctl, calls, systemd]) rmSync(path, { recursive: true, force: true });
  }
}

const ofStore = (path: string) => {
  const text = readFileSync(path, 'utf8');
  return { schema: JSON.parse(text).schema, isRoots: statSync(path).uid === 0 };
};

testOf('an upgrade migrates the store of a running service, but not that of a stopped one', () => {
  withSystemctl((dpkg, upgrade) => {
    assert.equal(upgrade('inactive'), ['enable'], 'an installation');
    const base = olderStore();
    assert.equal(upgrade('inactive'), ['is-active']);
    assert.equal(upgrade('failed'), ['is-active']);
    assert.equal(ofStore(base), { schema: 4, isRoots: false });
    assert.equal(upgrade('active'), ['is-active', 'stop', 'start']);
    assert.equal(ofStore(base), { schema: SCHEMA_VERSION, isRoots: false });
    olderStore();
    assert.equal(upgrade('activating'), ['is-active', 'stop', 'start'], 'between two restarts');
    assert.equal(ofStore(base), { schema: SCHEMA_VERSION, isRoots: false });
    rmSync(join(ROOT, 'var/lib/catalog-server'), { recursive: true });
    assert.equal(upgrade('active'), ['is-active', 'stop', 'start'], 'no store');
    assert.not.ok(isThere('var/lib/catalog-server/catalog.json'));

    olderStore();
    assert.equal(dpkg('--remove', 'catalog-server'), ['disable']);
    assert.equal(upgrade('inactive'), ['enable'], 'an installation after a removal');
    assert.equal(ofStore(base), { schema: SCHEMA_VERSION, isRoots: false });
    assert.equal(upgrade('inactive'), ['is-active'], 'an upgrade after that');
  });
});

testOf('lintian reports exactly the tags that are explained here', () => {
  if (Bun.which('lintian') === null) return;
  const { stdout } = spawnSync('lintian', ['--no-tag-display-limit', join(RELEASE, PACKAGE)], {
    encoding: 'utf8',
  });
  const tags = [...stdout.matchAll(/^[EW]: catalog-server: ([\w-]+)/gm)].map(([, tag = '']) => tag);
  assert.equal([...new Set(tags)].toSorted(), Object.keys(EXPLAINED).toSorted());
});

test.run();
