/** A disk that is a map, for files that a test makes by the thousand. */
import type { Disk } from '../../src/disk/disk.ts';
import { machineDisk } from '../../src/disk/disk.ts';

/** @returns the disk, and its files by their paths. */
export function memoryDisk(): { readonly disk: Disk; readonly files: Map<string, string> } {
  const files = new Map<string, string>();
  /** How often a file has got its name. */
  const versions = new Map<string, number>();
  const disk: Disk = {
    ...machineDisk,
    async writeNew(path, bytes) {
      if (files.has(path)) throw new Error(`${path} is there`);
      files.set(path, Buffer.from(bytes).toString());
    },
    async rename(from, to) {
      const text = files.get(from);
      if (text === undefined) throw new Error(`${from} is not there`);
      files.delete(from);
      files.set(to, text);
      versions.set(to, (versions.get(to) ?? 0) + 1);
    },
    async unlink(path) {
      files.delete(path);
    },
    mkdir() {},
    list(path) {
      const below = [...files.keys()].filter((each) => each.startsWith(`${path}/`));
      return [...new Set(below.map((each) => each.slice(path.length + 1).split('/')[0] ?? ''))];
    },
    pieces(path) {
      const text = files.get(path);
      return text === undefined ? null : [Buffer.from(text)];
    },
    map: () => null,
    size: (path) => files.get(path)?.length ?? null,
    read(path) {
      const text = files.get(path);
      return text === undefined ? null : Buffer.from(text);
    },
    stat(path) {
      const text = files.get(path);
      if (text === undefined) return null;
      return { size: Buffer.byteLength(text), inode: 1, changedMs: versions.get(path) ?? 0 };
    },
  };
  return { disk, files };
}
