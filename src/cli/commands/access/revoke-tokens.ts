/** `tokens revoke`: ends one token, or all that a subject has. */
import { endToken, endTokens } from '../../../auth/accounts.ts';
import { CatalogError } from '../../../errors.ts';
import { changeShared } from '../../../app/cluster/settings-file.ts';
import type { Context } from '../../../app/context.ts';
import { requireStore } from '../../../store/directory.ts';
import { requireWritable } from '../../../store/hosts/host-record.ts';

export interface RevokeOptions {
  readonly data: string;
  readonly jti: string | null;
  readonly subject: string | null;
}

/**
 * Fails without a store: in another directory than the server's it would revoke nothing.
 *
 * @throws CatalogError `usage` if neither or both are given; `store_missing`; `not_primary`;
 *   `access_file`, `busy`.
 */
export async function revokeTokens(
  { data, jti, subject }: RevokeOptions,
  { disk, print }: Context,
): Promise<void> {
  if ((jti === null) === (subject === null)) {
    throw new CatalogError('usage', 'give the jti of a token or --subject, but not both');
  }
  requireStore(data, disk);
  requireWritable(disk, data);
  if (jti !== null) {
    await changeShared(data, disk, (draft) => endToken(draft, jti, null));
    print(`revoked the token ${jti}`);
  } else if (subject !== null) {
    await changeShared(data, disk, (draft, now) => endTokens(draft, subject, now));
    print(`revoked all tokens of ${subject}`);
  }
}
