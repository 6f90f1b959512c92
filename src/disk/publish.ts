/**
 * The durable write, step by step: create under a temporary name, write, sync, close, rename, sync
 * the directory; then overwrite the record that tells of it, where there is one.
 *
 * Invariants:
 * 1. A file under its final name is whole: its data was synced before the rename gave it the name.
 * 2. Where {@link publish} returns null, name and data survive power loss.
 * 3. Where a step up to the rename fails, the final name is as before and the temporary file is
 *    gone. Where syncing the directory fails, nobody can know whether the name survives: only a
 *    fresh read of the disk is the truth.
 * 4. The record is written only when the file is durable, and is itself not synced.
 */
export interface Job {
  /** A name that nobody else has, in the directory of `path`. */
  readonly temporary: string;
  /** The final name; a file there is replaced. */
  readonly path: string;
  readonly bytes: Uint8Array;
  /** The directory of both, open. */
  readonly directoryFd: number;
  readonly record?: HeadPointer | undefined;
}

/** What is overwritten from its beginning in a file that stays where it is. */
export interface HeadPointer {
  /** Open for writing. */
  readonly fd: number;
  readonly bytes: Uint8Array;
}

export interface Failure {
  /** The system's name for it, such as ENOSPC. */
  readonly code: string | undefined;
  readonly message: string;
  /**
   * How far the write came: the final name is as before; the file has it, but whether that
   * survives is not known; all is durable, and only the record is old.
   */
  readonly reached: 'nothing' | 'name' | 'durability';
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
  fdatasyncSync(fd: number): void;
  closeSync(fd: number): void;
  renameSync(from: string, to: string): void;
  fsyncSync(fd: number): void;
  rmSync(path: string, options: { readonly force: true }): void;
}

/**
 * Carries the write out, waiting for the device.
 *
 * It refers to nothing but its parameters: the writer's thread is given its text.
 *
 * @returns null where it is done.
 */
export function publish(
  steps: Steps,
  { temporary, path, bytes, directoryFd, record }: Job,
): Failure | null {
  let reached: Failure['reached'] = 'nothing';
  try {
    const fd = steps.openSync(temporary, 'wx', 0o600);
    try {
      for (let offset = 0; offset < bytes.length; ) {
        offset += steps.writeSync(fd, bytes, offset, bytes.length - offset);
      }
      steps.fdatasyncSync(fd);
    } finally {
      steps.closeSync(fd);
    }
    steps.renameSync(temporary, path);
    reached = 'name';
    steps.fsyncSync(directoryFd);
    reached = 'durability';
    // One call: a reader or a crash between two of them would find half of it.
    if (record) {
      const { length } = record.bytes;
      const written = steps.writeSync(record.fd, record.bytes, 0, length, 0);
      if (written < length) throw new Error('the record was written in part');
    }
    return null;
  } catch (error) {
    try {
      if (reached === 'nothing') steps.rmSync(temporary, { force: true });
    } catch {
      // A refusing disk may refuse this as well; the next start removes what is left.
    }
    const { code, message } = error as NodeJS.ErrnoException;
    return { code, message, reached };
  }
}
