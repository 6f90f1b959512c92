/**
 * The machine's disk, with a listener that is called at every step that changes a store's files.
 *
 * A step is named by a verb and its object: "rename base" gives a new base its final name. Files
 * that do not belong to the store, such as pages, have no name and are not reported.
 */
import fs from 'node:fs';
import { basename, dirname, relative, resolve } from 'node:path';
import { DATA_FILES } from '../../../src/data-files.ts';
import { type Disk, machineDisk } from '../../../src/disk/disk.ts';
import { publishWith } from '../../support/disk.ts';

/** A point in a step: at "amid" half of the bytes of a write are in the file. */
export type Side = 'before' | 'amid' | 'after';

type StepListener = (side: Side, step: string) => void;

/**
 * @param data the data directory.
 * @param backup the file to which a backup is written, in a separate directory.
 */
export function stepDisk(data: string, backup: string | null, listener: StepListener): Disk {
  const names = new Names(data, backup);

  const now = <T>(verb: string, name: string | null, action: () => T): T => {
    if (name === null) return action();
    listener('before', `${verb} ${name}`);
    const result = action();
    listener('after', `${verb} ${name}`);
    return result;
  };
  const later = async <T>(
    verb: string,
    name: string | null,
    action: () => Promise<T>,
  ): Promise<T> => {
    if (name === null) return action();
    listener('before', `${verb} ${name}`);
    const result = await action();
    listener('after', `${verb} ${name}`);
    return result;
  };
  /** Writes in two halves. @param write writes the bytes from `from` to `to`. */
  const inHalves = (fd: number, length: number, write: (from: number, to: number) => void) =>
    now('write', names.ofFd(fd), () => {
      write(0, length >> 1);
      if (names.ofFd(fd) !== null) listener('amid', `write ${names.ofFd(fd)}`);
      write(length >> 1, length);
    });

  /** The durable write, in this thread, so that each of its steps is reported. */
  const publish = publishWith({
    openSync(path, flags, mode) {
      const name = names.of(path);
      return names.opened(
        now('create', name, () => fs.openSync(path, flags, mode)),
        name,
      );
    },
    writeSync(fd, bytes, offset, length, position) {
      if (typeof position === 'number') {
        // The record is written by a single call, which a kill cannot divide.
        const write = () => fs.writeSync(fd, bytes, offset, length, position);
        return now('write', names.ofFd(fd), write);
      }
      inHalves(fd, length, (from, to) => {
        if (fs.writeSync(fd, bytes, offset + from, to - from) < to - from) throw new Error('full');
      });
      return length;
    },
    fdatasyncSync: (fd) => now('sync', names.ofFd(fd), () => fs.fdatasyncSync(fd)),
    closeSync: (fd) => now('close', names.ofFd(fd), () => fs.closeSync(fd)),
    renameSync: (from, to) => now('rename', names.of(to), () => fs.renameSync(from, to)),
    linkSync: (from, to) => now('link', names.of(to), () => fs.linkSync(from, to)),
    rmSync: (path, options) => now('unlink', names.of(path), () => fs.rmSync(path, options)),
    fsyncSync: (fd) => now('sync', names.ofFd(fd), () => fs.fsyncSync(fd)),
  });

  return {
    ...machineDisk,
    publish(job) {
      names.assign(job.temporary, names.of(job.path));
      return publish(job);
    },
    writeNew: (path, bytes) =>
      later('copy', names.of(path), () => machineDisk.writeNew(path, bytes)),
    async create(path) {
      const name = names.ofLarge(path);
      names.assign(path, name);
      return names.opened(await later('create', name, () => machineDisk.create(path)), name);
    },
    open: (path) => names.opened(machineDisk.open(path), names.of(path)),
    openRecord: (path) => names.opened(machineDisk.openRecord(path), `${names.of(path)} record`),
    write(fd, bytes) {
      inHalves(fd, bytes.length, (from, to) => machineDisk.write(fd, bytes.subarray(from, to)));
    },
    fdatasync: (fd) => later('sync', names.ofFd(fd), () => machineDisk.fdatasync(fd)),
    fsync: (fd) => later('sync', names.ofFd(fd), () => machineDisk.fsync(fd)),
    close: (fd) => now('close', names.ofFile(fd), () => machineDisk.close(fd)),
    rename: (from, to) => later('rename', names.of(to), () => machineDisk.rename(from, to)),
    link: (from, to) => now('link', names.of(to), () => machineDisk.link(from, to)),
    unlink: (path) => later('remove', names.of(path), () => machineDisk.unlink(path)),
    mkdir: (path) => now('make', names.of(path), () => machineDisk.mkdir(path)),
    rmdir: (path) => now('remove', names.of(path), () => machineDisk.rmdir(path)),
  };
}

/** The names of the files and directories of a store, by path and by descriptor. */
class Names {
  readonly #data: string;
  readonly #backup: string | null;
  /** Temporary files by path, as soon as their final name is known. */
  readonly #temporaries = new Map<string, string | null>();
  readonly #descriptors = new Map<number, { name: string | null; isDirectory: boolean }>();

  constructor(data: string, backup: string | null) {
    this.#data = resolve(data);
    this.#backup = backup;
  }

  assign(temporary: string, name: string | null): void {
    this.#temporaries.set(resolve(temporary), name);
  }

  opened(fd: number, name: string | null): number {
    this.#descriptors.set(fd, { name, isDirectory: fs.fstatSync(fd).isDirectory() });
    return fd;
  }

  ofFd(fd: number): string | null {
    return this.#descriptors.get(fd)?.name ?? null;
  }

  /** Null for a directory: it is open only for reading, and closing it changes nothing. */
  ofFile(fd: number): string | null {
    return this.#descriptors.get(fd)?.isDirectory === true ? null : this.ofFd(fd);
  }

  /** The large file that is created under this temporary name. */
  ofLarge(temporary: string): string | null {
    // The pages' manifest is created in the same directory: only the caller distinguishes them.
    if (!new Error('by whom').stack?.includes('writeBase')) return null;
    if (dirname(resolve(temporary)) === this.#data) return 'base';
    return this.#backup !== null && dirname(temporary) === dirname(this.#backup) ? 'backup' : null;
  }

  of(path: string): string | null {
    const absolute = resolve(path);
    const assigned = this.#temporaries.get(absolute);
    if (assigned !== undefined) return assigned;
    if (absolute === this.#data) return 'data directory';
    if (absolute === dirname(this.#data)) return 'parent';
    if (absolute === this.#backup) return 'backup';
    if (this.#backup !== null && absolute === dirname(this.#backup)) return 'backup directory';
    return nameWithin(relative(this.#data, absolute));
  }
}

function nameWithin(path: string): string | null {
  const kept = /^migrated-from-\d+(?:\/(.*))?$/.exec(path);
  if (kept !== null)
    return kept[1] === undefined ? 'kept directory' : `kept ${nameWithin(kept[1])}`;
  if (path === DATA_FILES.base) return 'base';
  if (path === DATA_FILES.head) return 'head';
  if (path === DATA_FILES.outline) return 'outline';
  if (path === DATA_FILES.changes) return 'changes';
  const isChangeSet = /^\d{12}\.json$/.test(basename(path));
  if (isChangeSet && dirname(path) === DATA_FILES.changes) return 'change set';
  const isHere = ['.', DATA_FILES.changes].includes(dirname(path));
  return isHere && basename(path).endsWith('.tmp') ? 'temporary' : null;
}
