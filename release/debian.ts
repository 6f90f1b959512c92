/** The Debian package, made with plain dpkg-deb (deb(5), deb-control(5)). */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Entry, withStaged } from './archive.ts';
import { run } from './command.ts';
import { ROOT } from './paths.ts';
import type { SharedFiles } from './shared-files.ts';

export interface PackageFacts {
  readonly version: string;
  readonly architecture: 'amd64' | 'arm64';
  /** Of everything in it, in seconds since the epoch. */
  readonly time: number;
}

/** The scripts that dpkg runs, and the list of files that a person may change. */
const MAINTAINER_FILES = ['preinst', 'postinst', 'prerm', 'postrm', 'conffiles'] as const;

/**
 * Writes a package with the executable, a unit of systemd, its variables, completions and manual.
 *
 * @param file the path of the package.
 * @param executable the path of the executable for that architecture, linked with glibc.
 */
export function writeDebianPackage(
  file: string,
  executable: string,
  shared: SharedFiles,
  facts: PackageFacts,
): void {
  const work = mkdtempSync(join(tmpdir(), 'catalog-debian-'));
  try {
    const entries = [...installed(work, executable, shared, facts), ...control(work, facts)];
    withStaged(entries, (directory) => {
      run(
        'dpkg-deb',
        // Unlike zstd, every Debian reads gzip; xz takes ten times as long.
        ['--root-owner-group', '-Zgzip', '--build', directory, file],
        { env: { SOURCE_DATE_EPOCH: String(facts.time) } },
      );
    });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function installed(
  work: string,
  executable: string,
  shared: SharedFiles,
  facts: PackageFacts,
): Entry[] {
  const { bash, zsh, fish } = shared.completions;
  return [
    { source: executable, path: 'usr/bin/catalog-server', executable: true },
    {
      source: write(work, 'unit', packagedUnit()),
      path: 'usr/lib/systemd/system/catalog-server.service',
    },
    { source: join(ROOT, 'release/debian/default'), path: 'etc/default/catalog-server' },
    { source: bash, path: 'usr/share/bash-completion/completions/catalog-server' },
    { source: zsh, path: 'usr/share/zsh/vendor-completions/_catalog-server' },
    { source: fish, path: 'usr/share/fish/vendor_completions.d/catalog-server.fish' },
    {
      source: compressed(work, 'manual', readFileSync(shared.manual)),
      path: 'usr/share/man/man1/catalog-server.1.gz',
    },
    {
      source: write(work, 'copyright', copyright(shared)),
      path: 'usr/share/doc/catalog-server/copyright',
    },
    {
      source: compressed(work, 'changelog', Buffer.from(debianChangelog(facts))),
      path: 'usr/share/doc/catalog-server/changelog.gz',
    },
    {
      source: compressed(work, 'third-party', readFileSync(shared.thirdParty)),
      path: 'usr/share/doc/catalog-server/THIRD-PARTY.gz',
    },
    ...shared.documents.map((path) => ({
      source: join(ROOT, path),
      path: join('usr/share/doc/catalog-server', path),
    })),
  ];
}

/** The unit of docs/examples, with the directory that packages install to. */
function packagedUnit(): string {
  const unit = readFileSync(join(ROOT, 'docs/examples/catalog-server.service'), 'utf8');
  return unit.replace(/^# .*\n/, '').replaceAll('/usr/local/bin/', '/usr/bin/');
}

function copyright({ licence }: SharedFiles): string {
  const text = readFileSync(licence, 'utf8');
  const indented = text
    .trim()
    .split('\n')
    .map((line) => (line === '' ? ' .' : ` ${line}`));
  return [
    'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/',
    'Upstream-Name: catalog-server',
    'Comment: THIRD-PARTY.gz has the licences of the libraries in the executable.',
    '',
    'Files: *',
    `Copyright: ${/^Copyright (?:\(c\) )?(.*)$/m.exec(text)?.[1] ?? 'the authors'}`,
    'License: Expat',
    ...indented,
    '',
  ].join('\n');
}

/** deb-changelog(5): one entry, for the version of the package. */
function debianChangelog({ version, time }: PackageFacts): string {
  const date = new Date(time * 1000).toUTCString().replace('GMT', '+0000');
  return [
    `catalog-server (${version}) stable; urgency=medium`,
    '',
    '  * CHANGELOG.md of the source lists the changes.',
    '',
    ` -- ${MAINTAINER}  ${date}`,
    '',
  ].join('\n');
}

const MAINTAINER = 'catalog-server authors <catalog-server@localhost>';

function control(work: string, facts: PackageFacts): Entry[] {
  return [
    { source: write(work, 'control', controlFile(facts)), path: 'DEBIAN/control' },
    ...MAINTAINER_FILES.map((name): Entry => {
      const entry = { source: join(ROOT, 'release/debian', name), path: `DEBIAN/${name}` };
      return name === 'conffiles' ? entry : { ...entry, executable: true };
    }),
  ];
}

/** The version of libc6 is the oldest with which Bun's executables start. */
function controlFile({ version, architecture }: PackageFacts): string {
  return [
    'Package: catalog-server',
    `Version: ${version}`,
    `Architecture: ${architecture}`,
    `Maintainer: ${MAINTAINER}`,
    'Section: web',
    'Priority: optional',
    'Depends: adduser, libc6 (>= 2.17)',
    "Description: shop's catalog as one executable",
    ' A JSON REST service over plain files, a console in the browser, and a small',
    ' shop of static pages. It needs no database and no JavaScript runtime.',
    '',
  ].join('\n');
}

function write(work: string, name: string, content: string | Uint8Array): string {
  const path = join(work, name);
  writeFileSync(path, content);
  return path;
}

/** zlib writes no name and no time, like `gzip -n`. */
function compressed(work: string, name: string, content: Uint8Array): string {
  return write(work, `${name}.gz`, gzipSync(content, { level: 9 }));
}
