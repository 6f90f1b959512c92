/** The service that the token endpoints call: issues tokens for logins, renews and revokes them. */
import { changeAccess } from '../../auth/access.ts';
import { endToken } from '../../auth/accounts.ts';
import type { Login } from '../../auth/login.ts';
import type { Renewals } from '../../auth/renewals.ts';
import type { Disk } from '../../disk/disk.ts';
import type { TokenService } from '../../http/services.ts';

/** @param directory the data directory, in which revocations are kept. */
export function createTokenService(
  login: Login,
  renewals: Renewals,
  directory: string,
  disk: Disk,
): TokenService {
  return {
    issue: (credential, lifetime, address) => login.issue(credential, lifetime, address),
    renew: (caller) => renewals.renew(caller),
    revoke: (jti, expires) =>
      changeAccess(disk, directory, (draft) => endToken(draft, jti, expires)),
  };
}
