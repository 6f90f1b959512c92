/** `tokens revoke`: ends one token, or all that a subject has. */
import { endToken, endTokens } from '../../auth/accounts.ts';
import { CatalogError } from '../../errors.ts';
import { changeShared } from '../../app/cluster/settings-file.ts';
import type { Context } from '../../app/context.ts';
import { requireWritable } from '../../store/hosts/host-record.ts';

export interface RevokeOptions {
  readonly data: string;
  readonly jti: string | null;
  readonly subject: string | null;
}

/** @throws CatalogError `usage` if neither or both are given; `access_file`. */
export async function revokeTokens(
  { data, jti, subject }: RevokeOptions,
  { disk, print }: Context,
): Promise<void> {
  requireWritable(disk, data);
  if (jti !== null && subject === null) {
    await changeShared(data, disk, (draft) => endToken(draft, jti, null));
    print(`revoked the token ${jti}`);
  } else if (subject !== null && jti === null) {
    await changeShared(data, disk, (draft, now) => endTokens(draft, subject, now));
    print(`revoked all tokens of ${subject}`);
  } else {
    throw new CatalogError('usage', 'give the jti of a token or --subject, but not both');
  }
}
