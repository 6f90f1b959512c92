/** The values of flags and arguments for users, tokens and keys. */
import { InvalidArgumentError } from 'commander';
import { ACCOUNT_NAME, accountName } from '../../auth/accounts.ts';
import { parseDuration } from '../../auth/duration.ts';
import { isRole, ROLES, type Role } from '../../auth/roles.ts';
import { MAX_ID_LENGTH } from '../../auth/tokens.ts';
import { messageOf } from '../../errors.ts';

/**
 * @returns the subject of a token in NFC, as the names of accounts are: it may be one of them.
 * @throws InvalidArgumentError.
 */
export function parseSubject(text: string): string {
  if (text.trim() !== '' && text.length <= 255) return text.normalize('NFC');
  throw new InvalidArgumentError('Name a person or a program in 1 to 255 characters.');
}

/** @returns seconds, 1 or more. @throws InvalidArgumentError. */
export function parseLifetime(text: string): number {
  return parseSeconds(text);
}

/** @returns seconds, 0 or more. @throws InvalidArgumentError. */
export function parseOverlap(text: string): number {
  return /^0{1,9}[smhdw]$/.test(text) ? 0 : parseSeconds(text, ', or 0s');
}

/** @param also what else is accepted, for the message. */
function parseSeconds(text: string, also = ''): number {
  try {
    return parseDuration(text);
  } catch (error) {
    throw new InvalidArgumentError(`${messageOf(error)}${also}`);
  }
}

/**
 * @returns the name in NFC, the form in which logins are compared.
 * @throws InvalidArgumentError.
 */
export function parseUserName(text: string): string {
  const name = accountName(text);
  if (name !== null) return name;
  throw new InvalidArgumentError(`Give ${ACCOUNT_NAME}`);
}

/** @param text the name of a role, in lower case. @throws InvalidArgumentError. */
export function parseRole(text: string): Role {
  if (isRole(text)) return text;
  throw new InvalidArgumentError(`Give one of ${ROLES.join(', ')}.`);
}

/**
 * @param text the `jti` of a token; it is not known here whether there is such a token.
 * @throws InvalidArgumentError.
 */
export function parseTokenId(text: string): string {
  if (text !== '' && text.length <= MAX_ID_LENGTH) return text;
  throw new InvalidArgumentError(`Give the jti of a token, 1 to ${MAX_ID_LENGTH} characters.`);
}
