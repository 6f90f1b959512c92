/** `issue-token`: prints a JWT, and nothing else. */
import { loadKeys } from '../auth/keys.ts';
import type { Role } from '../auth/roles.ts';
import { issueToken } from '../auth/tokens.ts';
import type { Context } from './context.ts';

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
  const keys = await loadKeys(data, context.env['CATALOG_JWT_SECRET']);
  context.print(await issueToken(keys, { subject, role }, expires));
}
