/** A release: an archive with the executable for every platform, and the files for all of them. */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConsoleAssets } from '../src/console/assets.ts';
import { type Entry, writeArchive } from './archive.ts';
import { sectionOf } from './changelog.ts';
import type { Checkout } from './checkout.ts';
import { writeDebianPackage } from './debian.ts';
import { billOfMaterials, licencesOf } from './dependencies.ts';
import { bundledConsole, compile } from './executable.ts';
import { signedForMac } from './mac-signature.ts';
import { ROOT } from './paths.ts';
import { runtimeFor } from './runtime.ts';
import { type SharedFiles, writeSharedFiles } from './shared-files.ts';
import type { Target } from './targets.ts';

export interface ReleaseOptions {
  readonly version: string;
  readonly targets: readonly Target[];
  readonly checkout: Checkout;
  /** The directory of the release. Its previous contents are removed first. */
  readonly directory: string;
  /** The directory in which Bun for other platforms is kept. */
  readonly runtimes: string;
  /** Called with a line for each step. */
  readonly report: (line: string) => void;
}

/**
 * Makes all files of a release. The same commit gives the same bytes on every machine.
 *
 * @throws Error if a program that it needs fails.
 */
export async function makeRelease(options: ReleaseOptions): Promise<void> {
  const { version, targets, checkout, directory, report } = options;
  const work = join(directory, '.work');
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  writeFileSync(join(directory, 'NOTES.md'), notesOf(options));
  const bom = billOfMaterials(new Date(checkout.time * 1000).toISOString());
  const sbom = `catalog-server-${version}.cdx.json`;
  writeFileSync(join(directory, sbom), `${JSON.stringify(bom, null, 2)}\n`);
  const shared = writeSharedFiles(work, version, checkout.time, licencesOf(bom));
  const assets = await bundledConsole();
  for (const target of targets) {
    const executable = await buildFor(target, work, assets, options);
    for (const file of pack(target, executable, shared, options)) report(sizeLine(directory, file));
  }
  rmSync(work, { recursive: true });
  writeFileSync(join(directory, 'SHA256SUMS'), sumsOf(directory));
  report(`${directory} has version ${version} of commit ${checkout.commit}`);
}

/** A tagged commit has its own section of the changelog; any other commit is a snapshot. */
function notesOf({ version, checkout }: ReleaseOptions): string {
  const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
  const section = sectionOf(changelog, checkout.isTagged ? version : 'Unreleased');
  const title = checkout.isTagged ? version : `${version}, a snapshot of ${checkout.commit}`;
  return `# catalog-server ${title}\n\n${section}\n`;
}

/** @returns the path of the executable. */
async function buildFor(
  target: Target,
  work: string,
  assets: ConsoleAssets,
  { runtimes }: ReleaseOptions,
): Promise<string> {
  // The name of the file is in the bytes, so it is the same for all.
  const executable = join(work, target.name, 'catalog-server');
  const runtime = runtimeFor(target, runtimes);
  await compile(executable, assets, { target: target.name, runtime });
  // For arm64 the compiler has signed it.
  if (target.name === 'darwin-x64') {
    writeFileSync(executable, signedForMac(readFileSync(executable)));
  }
  return executable;
}

/** @returns the names of the files that it has written. */
function pack(
  target: Target,
  executable: string,
  shared: SharedFiles,
  { version, checkout, directory }: ReleaseOptions,
): string[] {
  const folder = `catalog-server-${version}-${target.name}`;
  const archive = `${folder}.tar.zst`;
  writeArchive(join(directory, archive), folder, entriesOf(executable, shared), checkout.time);
  if (target.debian === null) return [archive];
  const debian = `catalog-server_${version}_${target.debian}.deb`;
  writeDebianPackage(join(directory, debian), executable, shared, {
    version,
    architecture: target.debian,
    time: checkout.time,
  });
  return [archive, debian];
}

function entriesOf(executable: string, shared: SharedFiles): Entry[] {
  return [
    { source: executable, path: 'catalog-server', executable: true },
    { source: shared.licence, path: 'LICENSE' },
    { source: shared.thirdParty, path: 'THIRD-PARTY' },
    { source: shared.manual, path: 'catalog-server.1' },
    { source: shared.completions.bash, path: 'completions/catalog-server.bash' },
    { source: shared.completions.zsh, path: 'completions/_catalog-server' },
    { source: shared.completions.fish, path: 'completions/catalog-server.fish' },
    ...shared.documents.map((path) => ({ source: join(ROOT, path), path })),
  ];
}

function sizeLine(directory: string, file: string): string {
  const { size } = statSync(join(directory, file));
  return `${file}: ${(size / 1e6).toFixed(1)} MB`;
}

/** The form that `sha256sum --check` reads. */
function sumsOf(directory: string): string {
  return readdirSync(directory)
    .toSorted()
    .map((name) => {
      const digest = createHash('sha256')
        .update(readFileSync(join(directory, name)))
        .digest('hex');
      return `${digest}  ${name}\n`;
    })
    .join('');
}
