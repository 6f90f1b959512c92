/** Reproducible archives: the same files give the same bytes. */
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { run } from './command.ts';

/** A file of an archive. */
export interface Entry {
  /** Its path on the disk. */
  readonly source: string;
  /** Its path in the archive. */
  readonly path: string;
  readonly executable?: true;
}

/**
 * xz makes files that are a seventh smaller, and takes ten times as long. With a single thread,
 * zstd writes the same bytes on every machine.
 */
const ZSTD = ['--single-thread', '-9', '--rm', '--force', '--quiet'];

/**
 * Copies files to a temporary directory, each with mode 755 or 644 and directories with 755, and
 * removes it at the end.
 *
 * @param use gets the path of the directory.
 */
export function withStaged<T>(entries: readonly Entry[], use: (directory: string) => T): T {
  const directory = mkdtempSync(join(tmpdir(), 'catalog-release-'));
  // dpkg-deb keeps the modes of directories, and refuses some of them.
  const umask = process.umask(0o022);
  try {
    // Archives of the directory itself keep its mode.
    chmodSync(directory, 0o755);
    for (const { source, path, executable } of entries) {
      const target = join(directory, path);
      mkdirSync(dirname(target), { recursive: true });
      copyFileSync(source, target);
      chmodSync(target, executable ? 0o755 : 0o644);
    }
    return use(directory);
  } finally {
    process.umask(umask);
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * Writes a `.tar.zst` with GNU tar and zstd.
 *
 * @param file the path of the archive.
 * @param folder the one folder in it, which holds all entries.
 * @param time of everything in it, in seconds since the epoch.
 */
export function writeArchive(
  file: string,
  folder: string,
  entries: readonly Entry[],
  time: number,
): void {
  const placed = entries.map((entry) => ({ ...entry, path: join(folder, entry.path) }));
  const tar = file.replace(/\.zst$/, '');
  withStaged(placed, (directory) => {
    run('tar', [...REPRODUCIBLE, `--mtime=@${time}`, '-C', directory, '-cf', tar, folder]);
  });
  run('zstd', [...ZSTD, tar]);
}

/** Options of GNU tar to leave out facts about the machine (reproducible-builds.org). */
const REPRODUCIBLE = [
  '--format=gnu',
  '--sort=name',
  '--owner=0',
  '--group=0',
  '--numeric-owner',
  '--mode=u=rwX,go=rX',
];
