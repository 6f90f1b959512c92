/** The line that says why a process ends at once, which no later turn of the event loop can write. */
import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';
import { libc } from './system/libc.ts';

const STANDARD_ERROR = 2;

/** Where Linux shows the open files of a process. */
const STANDARD_ERROR_PATH = '/proc/self/fd/2';

/** Milliseconds for which a reader of standard error that is late is waited for. */
const TIMEOUT_MS = 2000;

const PAUSE_MS = 10;

/** From send(2) of Linux: the call does not wait, and a reader that has gone sends no signal. */
const MSG_DONTWAIT = 0x40;
const MSG_NOSIGNAL = 0x4000;

/** From poll(2): whether more can be written, and whether nobody will read it. */
const POLLOUT = 0x04;
const POLLERR_OR_HUP = 0x08 | 0x10;

/** Standard error, written without waiting for its reader. */
interface Unblocked {
  /** @returns how many bytes it has taken; null if nobody will read them. */
  write(bytes: Buffer): number | null;
  close(): void;
}

/**
 * Writes to standard error before it returns. A full pipe or socket is waited for, for at most
 * {@link TIMEOUT_MS}; the rest of the text is lost then, and if the reader has gone.
 */
export function writeLastLine(text: string): void {
  const out = unblocked();
  if (out === null) {
    process.stderr.write(text);
    return;
  }
  const end = performance.now() + TIMEOUT_MS;
  let rest = Buffer.from(text);
  while (rest.length > 0 && performance.now() < end) {
    const written = out.write(rest);
    if (written === null) break;
    rest = rest.subarray(written);
    if (written === 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
  }
  out.close();
}

/** @returns null if it is neither a pipe nor a socket, or cannot be written so. */
function unblocked(): Unblocked | null {
  try {
    const kind = fstatSync(STANDARD_ERROR);
    if (kind.isFIFO()) return pipe();
    return kind.isSocket() && process.platform === 'linux' ? socket() : null;
  } catch {
    // Another system, or another user's pipe: the ordinary way is left.
    return null;
  }
}

/**
 * Opens a pipe once more: whether a write waits is said for each opening, and the writes of the log
 * must go on waiting.
 */
function pipe(): Unblocked {
  const fd = openSync(STANDARD_ERROR_PATH, constants.O_WRONLY | constants.O_NONBLOCK);
  return {
    write(bytes) {
      try {
        return writeSync(fd, bytes);
      } catch (error) {
        return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 0 : null;
      }
    },
    close: () => closeSync(fd),
  };
}

/** A socket cannot be opened again, but each call can say that it does not wait. */
function socket(): Unblocked {
  const { send, poll } = libc({
    send: { args: ['i32', 'buffer', 'u64', 'i32'], returns: 'i64' },
    poll: { args: ['buffer', 'u64', 'i32'], returns: 'i32' },
  });
  return {
    write(bytes) {
      const flags = MSG_DONTWAIT | MSG_NOSIGNAL;
      const sent = Number(send(STANDARD_ERROR, bytes, bytes.length, flags));
      return sent >= 0 ? sent : hasReader(poll) ? 0 : null;
    },
    close: () => {},
  };
}

/** Why a call has failed is not seen from here: whether the reader has gone is asked. */
function hasReader(poll: (asked: Buffer, count: number, timeout: number) => number): boolean {
  const asked = Buffer.alloc(8);
  asked.writeInt32LE(STANDARD_ERROR, 0);
  asked.writeInt16LE(POLLOUT, 4);
  return poll(asked, 1, 0) >= 0 && (asked.readInt16LE(6) & POLLERR_OR_HUP) === 0;
}
