/** Under whose name commands write (spec 8.12). */
import { userInfo } from 'node:os';

/** `cli:` and the user of the system. */
export function commandSubject(): string {
  return `cli:${systemUser()}`;
}

/** The user of the system; a container may run as one without a name. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
