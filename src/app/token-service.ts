/** The service behind the token endpoints: issues tokens for logins, and revokes them. */
import { changeAccess } from '../auth/access.ts';
import { endToken } from '../auth/accounts.ts';
import type { FailedAttempts } from '../auth/attempts.ts';
import type { LiveCredentials } from '../auth/credentials.ts';
import { Login } from '../auth/login.ts';
import { verifyPassword } from '../auth/passwords.ts';
import type { Disk } from '../disk/disk.ts';
import type { TokenService } from '../http/endpoints/tokens.ts';

/** @param directory the data directory, in which revocations are kept. */
export async function createTokenService(
  credentials: LiveCredentials,
  attempts: FailedAttempts,
  directory: string,
  disk: Disk,
): Promise<TokenService> {
  const login = await Login.create(credentials, verifyPassword, attempts);
  return {
    issue: (credential, lifetime, address) => login.issue(credential, lifetime, address),
    revoke: (jti, expires) =>
      changeAccess(disk, directory, (draft) => endToken(draft, jti, expires)),
  };
}
