/** Writes the last line of a process that ends at once: no later event-loop turn could write it. */
import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';
import { libc } from './system/libc.ts';
import { systemErrorCode } from '../errors.ts';

const STANDARD_ERROR = 2;

/** Where Linux shows the open files of a process. */
const STANDARD_ERROR_PATH = '/proc/self/fd/2';

/** Milliseconds to wait for a slow reader of standard error. */
const TIMEOUT_MS = 2000;

const PAUSE_MS = 10;

/** From send(2) of Linux: do not block, and send no signal if the reader has gone. */
const MSG_DONTWAIT = 0x40;
const MSG_NOSIGNAL = 0x4000;

/** From poll(2): more can be written; the reader has gone. */
const POLLOUT = 0x04;
const POLLERR_OR_HUP = 0x08 | 0x10;

/** Standard error, written without waiting for its reader. */
interface Unblocked {
  /** @returns how many bytes were written; null if the reader has gone. */
  write(bytes: Buffer): number | null;
  close(): void;
}

/**
 * Writes to standard error before it returns. If a pipe or socket is full, it waits for at most
 * {@link TIMEOUT_MS}. After that, or if the reader has gone, the rest of the text is lost.
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

/** @returns null if it is neither a pipe nor a socket, or cannot be made non-blocking. */
function unblocked(): Unblocked | null {
  try {
    const kind = fstatSync(STANDARD_ERROR);
    if (kind.isFIFO()) return pipe();
    return kind.isSocket() && process.platform === 'linux' ? socket() : null;
  } catch {
    // Another system, or another user's pipe: the caller writes in the ordinary way.
    return null;
  }
}

/**
 * Opens a pipe again: whether a write blocks is a property of the open file, and the writes of the
 * log must keep blocking.
 */
function pipe(): Unblocked {
  const fd = openSync(STANDARD_ERROR_PATH, constants.O_WRONLY | constants.O_NONBLOCK);
  return {
    write(bytes) {
      try {
        return writeSync(fd, bytes);
      } catch (error) {
        return systemErrorCode(error) === 'EAGAIN' ? 0 : null;
      }
    },
    close: () => closeSync(fd),
  };
}

/** A socket cannot be opened again, but each call to it can be non-blocking. */
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

/** The error number of a failed call is not available here, so poll(2) tells if the reader left. */
function hasReader(poll: (asked: Buffer, count: number, timeout: number) => number): boolean {
  const asked = Buffer.alloc(8);
  asked.writeInt32LE(STANDARD_ERROR, 0);
  asked.writeInt16LE(POLLOUT, 4);
  return poll(asked, 1, 0) >= 0 && (asked.readInt16LE(6) & POLLERR_OR_HUP) === 0;
}
