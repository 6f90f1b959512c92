/** `issue-token`: prints a JWT, and nothing else. */
import { LiveCredentials } from '../../auth/credentials.ts';
import { issueFor } from '../../auth/login.ts';
import type { Role } from '../../auth/roles.ts';
import { CatalogError } from '../../errors.ts';
import type { Context } from '../../app/context.ts';

export interface IssueTokenOptions {
  readonly data: string;
  readonly subject: string;
  readonly role: Role;
  /** Lifetime in seconds. */
  readonly expires: number;
}

export async function issueTokenCommand(
  { data, subject, role, expires }: IssueTokenOptions,
  context: Context,
): Promise<void> {
  const credentials = await LiveCredentials.open(data, context.env['CATALOG_JWT_SECRET']);
  const { token } = await issueFor(credentials, expires, ({ users }) => {
    if (users.get(subject)?.disabled !== true) return { subject, role };
    throw new CatalogError(
      'account',
      `the user ${subject} is disabled, and no token of that subject passes; users enable ends that`,
    );
  });
  context.print(token);
}
