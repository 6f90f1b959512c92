/** What `serve` gives to HTTP for issuing and revoking tokens. */
import { changeAccess } from '../auth/access.ts';
import { endToken } from '../auth/accounts.ts';
import type { LiveCredentials } from '../auth/credentials.ts';
import { Login } from '../auth/login.ts';
import type { Disk } from '../disk/disk.ts';
import type { TokenService } from '../http/endpoints/tokens.ts';

export async function createTokenService(
  credentials: LiveCredentials,
  directory: string,
  disk: Disk,
): Promise<TokenService> {
  const login = await Login.create(credentials);
  return {
    issue: (credential, lifetime, address) => login.issue(credential, lifetime, address),
    revoke: (jti, expires) =>
      changeAccess(disk, directory, (draft) => endToken(draft, jti, expires)),
  };
}
