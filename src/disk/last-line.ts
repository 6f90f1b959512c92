/** The line that says why a process ends at once, which no later turn of the event loop can write. */
import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';

const STANDARD_ERROR = 2;

/** Where Linux shows the open files of a process. */
const STANDARD_ERROR_PATH = '/proc/self/fd/2';

/** Milliseconds for which a reader of standard error that is late is waited for. */
const TIMEOUT_MS = 2000;

const PAUSE_MS = 10;

/**
 * Writes to standard error before it returns. A full pipe is waited for, for at most
 * {@link TIMEOUT_MS}; the rest of the text is lost then, and if the reader has gone.
 */
export function writeLastLine(text: string): void {
  const fd = unblockedPipe();
  if (fd === null) {
    process.stderr.write(text);
    return;
  }
  const end = performance.now() + TIMEOUT_MS;
  let rest = Buffer.from(text);
  while (rest.length > 0 && performance.now() < end) {
    const written = tryToWrite(fd, rest);
    if (written === null) break;
    rest = rest.subarray(written);
    if (written === 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
  }
  closeSync(fd);
}

/**
 * Opens a standard error that is a pipe once more: whether a write waits is said for each opening,
 * and the writes of the log must go on waiting.
 *
 * @returns null if it is no pipe, or cannot be opened so.
 */
function unblockedPipe(): number | null {
  try {
    if (!fstatSync(STANDARD_ERROR).isFIFO()) return null;
    return openSync(STANDARD_ERROR_PATH, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    // Another system, or another user's pipe: the ordinary way is left.
    return null;
  }
}

/** @returns how many bytes the pipe has taken; null if nobody will read it. */
function tryToWrite(fd: number, bytes: Buffer): number | null {
  try {
    return writeSync(fd, bytes);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 0 : null;
  }
}
