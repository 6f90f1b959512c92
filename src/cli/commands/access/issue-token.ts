/** `issue-token`: prints a JWT, and nothing else, to standard output. */
import type { Access } from '../../../auth/access.ts';
import { LiveCredentials } from '../../../auth/credentials.ts';
import { issueFor } from '../../../auth/login.ts';
import type { Role } from '../../../auth/roles.ts';
import { CatalogError, shellWord } from '../../../errors.ts';
import type { Context } from '../../../app/context.ts';
import { warnWithoutStore } from './store-warning.ts';

export interface IssueTokenOptions {
  readonly data: string;
  readonly subject: string;
  readonly role: Role;
  /** Lifetime in seconds. */
  readonly expires: number;
}

/**
 * Creates the keys if there are none. A missing store causes only a warning, since a token can be
 * issued before the first start.
 *
 * @throws CatalogError `key_file`, `access_file`, `account`.
 */
export async function issueTokenCommand(
  { data, subject, role, expires }: IssueTokenOptions,
  context: Context,
): Promise<void> {
  const credentials = await LiveCredentials.open(data, context.env['CATALOG_JWT_SECRET']);
  const callerOf = ({ users }: Access) => {
    if (users.get(subject)?.disabled !== true) return { subject, role };
    throw new CatalogError(
      'account',
      `the user ${subject} is disabled, so the token would not be valid; run: catalog-server users enable ${shellWord(subject)}`,
    );
  };
  const { token } = await issueFor(credentials, callerOf, (issued) => ({
    expires: issued + expires,
  }));
  warnWithoutStore(data, context);
  context.print(token);
}
