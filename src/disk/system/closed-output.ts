/** A standard output that was closed before the program started, as `>&-` does in a shell. */
import fs from 'node:fs';
import { Writable } from 'node:stream';

/** open(2) of Linux on x86 and ARM, in the octal of proc_pid_fdinfo(5). */
const CLOSE_ON_EXEC = 0o2_000_000;

/**
 * The runtime opens /dev/null in place of a closed standard output, so that no other file gets its
 * descriptor. That one is closed on exec(2); one that the program was started with never is.
 *
 * @returns false also if the system does not tell, as on macOS.
 */
export function isOutputClosed(): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(fs.readFileSync('/proc/self/fdinfo/1', 'utf8'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) !== 0;
  } catch {
    return false;
  }
}

/** A stream that fails at the first write, as a closed descriptor does. */
export function closedOutput(): Writable {
  return new Writable({
    write: (_bytes, _encoding, done) =>
      done(Object.assign(new Error('it is closed'), { code: 'EBADF' })),
  });
}
