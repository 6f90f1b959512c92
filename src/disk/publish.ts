/**
 * The durable write, step by step: create under a temporary name, write, sync, close, give it the
 * final name, sync the directory; then overwrite the record that names the file, if there is one.
 *
 * A file gets its final name by rename(2), which replaces a file of that name. An exclusive one gets
 * it by link(2), which fails if the name is taken; then the temporary name is removed.
 *
 * Invariants:
 * 1. A file under its final name is whole: its data was synced before it got the name.
 * 2. If {@link publish} returns null, name and data survive power loss.
 * 3. If it returns `nothing` or `taken`, the final name is as before, the temporary file was
 *    removed, and the bytes never appear later. A call may report an error after it took effect, so
 *    the final name is checked before this is returned.
 * 4. If it returns `name`, it is unknown whether the name survives: only reading the disk again can
 *    tell.
 * 5. The record is written only when the file is durable, and is itself not synced.
 * 6. If another process has overwritten or replaced the record, the file does not keep its name.
 */
export interface Job {
  /** A unique name on the file system of `path`. */
  readonly temporary: string;
  /** The final name. */
  readonly path: string;
  readonly bytes: Uint8Array;
  /** The directory of `path`, open. */
  readonly directoryFd: number;
  /** Whether the final name has to be free. Otherwise a file there is replaced. */
  readonly exclusive?: boolean | undefined;
  readonly record?: HeadPointer | undefined;
}

/** The bytes that overwrite the beginning of an existing file, in place. */
export interface HeadPointer {
  readonly path: string;
  /** The file that this process found under the path, open for reading and writing. */
  readonly fd: number;
  readonly bytes: Uint8Array;
  /** What this process knows to be there; null if it does not know. */
  readonly before: Uint8Array | null;
}

export interface Failure {
  /** The system's name for it, such as ENOSPC. */
  readonly code: string | undefined;
  readonly message: string;
  /**
   * How far the write got:
   * - `nothing`: the final name is as before;
   * - `taken`: as `nothing`, because another file has the name that had to be free, or had it until
   *   the other process removed it again;
   * - `name`: the file has or may have its name, and whether that survives is not known;
   * - `durability`: the file is durable, and only the record is old.
   */
  readonly reached: 'nothing' | 'taken' | 'name' | 'durability';
}

/** The system calls, under the names that they have in `node:fs`. */
export interface Steps {
  openSync(path: string, flags: string, mode: number): number;
  writeSync(
    fd: number,
    bytes: Uint8Array,
    offset: number,
    length: number,
    position?: number | null,
  ): number;
  readSync(fd: number, bytes: Uint8Array, offset: number, length: number, position: number): number;
  fdatasyncSync(fd: number): void;
  fstatSync(fd: number, options: { readonly bigint: true }): { readonly ino: bigint };
  closeSync(fd: number): void;
  renameSync(from: string, to: string): void;
  linkSync(existing: string, path: string): void;
  statSync(
    path: string,
    options: { readonly bigint: true; readonly throwIfNoEntry: false },
  ): { readonly ino: bigint } | undefined;
  fsyncSync(fd: number): void;
  rmSync(path: string, options: { readonly force: true }): void;
}

/** What is done with a record. */
export const RECORD = {
  /** Whether another process has overwritten, replaced or removed it. */
  isForeign: function isForeign(steps: Steps, { path, fd, before }: HeadPointer): boolean {
    const named = steps.statSync(path, { bigint: true, throwIfNoEntry: false });
    if (named?.ino !== steps.fstatSync(fd, { bigint: true }).ino) return true;
    if (before === null) return false;
    const there = new Uint8Array(before.length);
    steps.readSync(fd, there, 0, there.length, 0);
    return before.some((byte, at) => byte !== there[at]);
  },
  /** By one call: between two calls, a reader or a crash would find half of the record. */
  overwrite: function overwrite(steps: Steps, { fd, bytes }: HeadPointer): void {
    const written = steps.writeSync(fd, bytes, 0, bytes.length, 0);
    if (written < bytes.length) throw new Error('the record was written in part');
  },
};

/**
 * Carries out the write, and blocks until the device is done.
 *
 * It may refer to its parameters only, since the writer's thread is started from its source text,
 * and from those of {@link RECORD}.
 *
 * @returns null on success.
 */
export function publish(steps: Steps, job: Job, head = RECORD): Failure | null {
  const { temporary, path, bytes, directoryFd, exclusive, record } = job;
  let reached: Failure['reached'] = 'nothing';
  let inode: bigint | null = null;
  /** The inode of the file that has the final name; null if there is none. */
  const named = () => steps.statSync(path, { bigint: true, throwIfNoEntry: false })?.ino ?? null;
  const discard = () => {
    try {
      steps.rmSync(temporary, { force: true });
    } catch {
      // If the disk refuses this as well, the next start removes the file.
    }
  };
  const takeName = () => {
    try {
      steps.linkSync(temporary, path);
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      const unsupported = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(code);
      // Without links, a second writer may take the name between this check and the rename.
      if (!unsupported || named() !== null) throw error;
      steps.renameSync(temporary, path);
    }
  };
  try {
    const fd = steps.openSync(temporary, 'wx', 0o600);
    try {
      for (let offset = 0; offset < bytes.length; ) {
        offset += steps.writeSync(fd, bytes, offset, bytes.length - offset);
      }
      steps.fdatasyncSync(fd);
      inode = steps.fstatSync(fd, { bigint: true }).ino;
    } finally {
      steps.closeSync(fd);
    }
    try {
      if (exclusive) takeName();
      else steps.renameSync(temporary, path);
    } catch (error) {
      // First, so that a call that takes effect late finds no file to name.
      discard();
      // If the check fails, the outcome is unknown.
      reached = 'name';
      const found = named();
      if (found !== inode) {
        reached = exclusive && found !== null ? 'taken' : 'nothing';
        throw error;
      }
    }
    reached = 'name';
    // Before the sync, which then covers both changes if they are in one directory.
    if (exclusive) discard();
    // Now, when the file has its name: before that, the other process may still take it.
    const isTaken = record !== undefined && head.isForeign(steps, record);
    if (isTaken) steps.rmSync(path, { force: true });
    steps.fsyncSync(directoryFd);
    if (isTaken) {
      reached = 'taken';
      throw new Error(`it has overwritten, replaced or removed ${record.path}`);
    }
    reached = 'durability';
    if (record) head.overwrite(steps, record);
    return null;
  } catch (error) {
    if (reached === 'nothing') discard();
    const { code, message } = error as NodeJS.ErrnoException;
    return { code, message, reached };
  }
}
