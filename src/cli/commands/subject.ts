/** The subject of the writes of a command (spec 8.12). */
import { execFileSync } from 'node:child_process';

/** Milliseconds: the system may ask a directory service for the name. */
const LOOKUP_MS = 5000;

/** `cli:` and the user of the system. */
export function commandSubject(): string {
  return `cli:${systemUser()}`;
}

/**
 * The name of the user that the process runs as, or its number if the system has no name for it, as
 * in a container. The engine's `userInfo` would return the variable `USER`, which can be set to
 * anything.
 */
function systemUser(): string {
  try {
    return execFileSync('id', ['-un'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: LOOKUP_MS,
    }).trim();
  } catch {
    return String(process.getuid?.());
  }
}
