/** Credentials that change only when a test says so. */
import { type Access, type AccessDraft, type Account, NO_ACCESS } from '../../src/auth/access.ts';
import type { Credentials, CredentialSource } from '../../src/auth/credentials.ts';
import type { SigningKeys } from '../../src/auth/keys.ts';

export class FixedCredentials implements CredentialSource {
  clockDifference = 0;
  #credentials: Credentials;

  constructor(keys: SigningKeys, access: Partial<Access> = {}) {
    this.#credentials = { keys, access: { ...NO_ACCESS, ...access } };
  }

  current(): Credentials {
    return this.#credentials;
  }

  settled<T>(use: (credentials: Credentials) => T): Promise<T> {
    return Promise.resolve(use(this.#credentials));
  }

  /** What both files say from now on. */
  become(change: { readonly keys?: SigningKeys; readonly access?: Partial<Access> }): void {
    const { keys, access } = this.#credentials;
    this.#credentials = {
      keys: change.keys ?? keys,
      access: { ...access, ...change.access },
    };
  }
}

/** An account of the name, with these changes. */
export function accountOf(name: string, changes: Partial<Account> = {}): Account {
  return {
    name,
    role: 'editor',
    disabled: false,
    created: 1_700_000_000,
    password: '$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA',
    ...changes,
  };
}

/** Accounts by their names. */
export function usersOf(...accounts: readonly Account[]): Access['users'] {
  return new Map(accounts.map((each) => [each.name, each]));
}

/** A file without accounts and revocations, as a change may edit it. */
export function emptyDraft(): AccessDraft {
  return { users: new Map(), subjects: new Map(), tokens: new Map() };
}
