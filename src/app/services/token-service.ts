/** The service that the token endpoints call: issues tokens for logins, renews and revokes them. */
import { type AccessDraft, changeAccess } from '../../auth/access.ts';
import { endToken } from '../../auth/accounts.ts';
import type { Login } from '../../auth/login.ts';
import type { Renewals } from '../../auth/renewals.ts';
import type { SharedFiles } from '../../auth/sharing/shared-files.ts';
import type { Disk } from '../../disk/disk.ts';
import type { TokenService } from '../../http/services.ts';
import { OwnRevocations } from './own-revocations.ts';

/** Where revocations are kept. */
interface Place {
  /** The data directory. */
  readonly data: string;
  readonly disk: Disk;
  /** The originals of its files, if hosts share them. */
  readonly shared?: SharedFiles | undefined;
}

/** The service counts the revocations of each subject, so a data directory has one at a time. */
export function createTokenService(
  login: Login,
  renewals: Renewals,
  { data, disk, shared }: Place,
): TokenService {
  const ownRevocations = new OwnRevocations();
  return {
    issue: (credential, lifetime, address) => login.issue(credential, lifetime, address),
    renew: (caller) => renewals.renew(caller),
    revoke(jti, own) {
      const end = (draft: AccessDraft, now: number) =>
        own === null ? endToken(draft, jti, null) : ownRevocations.end(draft, own, now);
      return changeAccess(disk, data, end, { shared });
    },
  };
}
