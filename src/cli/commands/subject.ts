/** Under whose name commands write (spec 8.12). */
import { execFileSync } from 'node:child_process';

/** A directory service may be asked for the name. */
const LOOKUP_MS = 5000;

/** `cli:` and the user of the system. */
export function commandSubject(): string {
  return `cli:${systemUser()}`;
}

/**
 * The name of the user whom the process runs as; the number where the system has no name for it, as
 * in a container. The engine's `userInfo` would give the variable `USER`, which says whatever the
 * caller likes.
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
