/**
 * Changes accounts for the API (spec 6.9). Commands may change them at the same time.
 *
 * Invariants:
 * 1. A change reads and writes `access.json` under its lock, so that none is lost.
 * 2. The audit entry of a change is durable before the change is. So every change has an entry,
 *    whatever fails in between. If the change then fails, a second entry reverts the first. An entry
 *    for a change that was not made remains only if the process ends between the two, if the second
 *    one cannot be written, or if it is unknown whether the change took effect.
 * 3. No password and no hash is in an entry, in an object or in a message.
 */
import { hash as digest } from 'node:crypto';
import { type Access, type AccessDraft, type Account, changeAccess } from '../../auth/access.ts';
import {
  type AccountChange,
  addAccount,
  changeAccount,
  endTokens,
  removeAccount,
} from '../../auth/accounts.ts';
import type { CurrentCredentials } from '../../auth/credentials.ts';
import type { SharedFiles } from '../../auth/sharing/shared-files.ts';
import { toIso } from '../../auth/time.ts';
import type { Disk } from '../../disk/disk.ts';
import { CatalogError, isOutcomeUnknown } from '../../errors.ts';
import type {
  UserActor,
  UserChange,
  UserGuard,
  UserObject,
  UserService,
} from '../../http/services.ts';
import { type Act, USERS } from '../../resources/audit.ts';
import type { AuditedStore } from '../../resources/audit/audited-store.ts';
import { precedes, sortKey } from '../../store/memory/orders/sort-key.ts';

interface UsersOptions {
  /** The data directory. */
  readonly directory: string;
  readonly disk: Disk;
  readonly credentials: CurrentCredentials;
  /** The originals of the accounts, if hosts share them. */
  readonly shared?: SharedFiles | undefined;
  /** @throws CatalogError `login_throttled` if too many passwords wait to be hashed. */
  readonly hash: (password: string) => Promise<string>;
  readonly audited: Pick<AuditedStore, 'record'>;
  /** Called if the entry of a change that was not made could not be reverted. */
  readonly onError: (error: unknown) => void;
}

/** What an entry records in addition to the object, which does not show it. */
interface Unseen {
  readonly password_changed?: true;
  readonly tokens_ended?: true;
}

type Change = (draft: AccessDraft, now: number) => Unseen;

export class Users implements UserService {
  readonly #options: UsersOptions;
  /** The accounts of a version of the file, by name. */
  readonly #sorted = new WeakMap<Access['users'], readonly UserObject[]>();

  constructor(options: UsersOptions) {
    this.#options = options;
  }

  all(): readonly UserObject[] {
    const { users } = this.#options.credentials.current().access;
    let sorted = this.#sorted.get(users);
    if (sorted === undefined) {
      sorted = [...users.values()]
        .map((account) => ({ key: sortKey(account.name), user: objectOf(account) }))
        .sort((a, b) => (precedes(a.key, b.key) ? -1 : 1))
        .map(({ user }) => user);
      this.#sorted.set(users, sorted);
    }
    return sorted;
  }

  find(name: string): UserObject | null {
    const account = this.#options.credentials.current().access.users.get(name);
    return account === undefined ? null : objectOf(account);
  }

  async create(
    actor: UserActor,
    { name, role, disabled, password }: Required<UserChange> & { name: string },
  ): Promise<UserObject> {
    if (this.find(name) !== null) throw taken();
    const hashed = await this.#options.hash(password);
    await this.#write(actor, name, (draft, now) => {
      if (draft.users.has(name)) throw taken();
      addAccount(draft, { name, role, disabled, created: now, password: hashed });
      return {};
    });
    return this.#existing(name);
  }

  async change(
    actor: UserActor,
    name: string,
    { password, ...rest }: UserChange,
    guard: UserGuard,
  ): Promise<UserObject> {
    const hashed = password === undefined ? undefined : await this.#options.hash(password);
    const change: AccountChange = { ...rest, ...(hashed !== undefined && { password: hashed }) };
    await this.#write(actor, name, (draft, now) => {
      guard(objectOf(requireAccount(draft, name)));
      changeAccount(draft, name, change, now);
      return hashed === undefined ? {} : { password_changed: true };
    });
    return this.#existing(name);
  }

  async remove(actor: UserActor, name: string, guard: UserGuard): Promise<void> {
    await this.#write(actor, name, (draft, now) => {
      guard(objectOf(requireAccount(draft, name)));
      removeAccount(draft, name, now);
      return {};
    });
  }

  async endTokens(actor: UserActor, name: string): Promise<void> {
    await this.#write(actor, name, (draft, now) => {
      requireAccount(draft, name);
      endTokens(draft, name, now);
      return { tokens_ended: true };
    });
  }

  #existing(name: string): UserObject {
    const found = this.find(name);
    // A command may have removed it meanwhile.
    if (found === null) throw unknown(name);
    return found;
  }

  /** Changes one account, after its entry in the audit trail. */
  async #write({ subject, confirm }: UserActor, name: string, change: Change): Promise<void> {
    const { directory, disk, audited, shared } = this.#options;
    let recorded: Act | null = null;
    try {
      await changeAccess(
        disk,
        directory,
        (draft, now) => {
          const before = draft.users.get(name);
          const unseen = change(draft, now);
          const after = draft.users.get(name);
          requireAdmin(draft, before, after);
          return actOf(name, before, after, unseen);
        },
        {
          shared,
          async announce(act) {
            // Hashing, the lock and the other hosts may have taken long.
            await confirm();
            if (act === null) return;
            await audited.record(subject, act);
            recorded = act;
          },
        },
      );
    } catch (error) {
      // If it is unknown whether the change was made, the entry stays.
      if (recorded !== null && !isOutcomeUnknown(error)) await this.#takeBack(subject, recorded);
      throw error;
    }
  }

  async #takeBack(subject: string, { before, after, ...act }: Act): Promise<void> {
    const action = before === null ? 'delete' : after === null ? 'create' : 'update';
    await this.#options.audited
      .record(subject, { ...act, action, before: after, after: before })
      .catch(this.#options.onError);
  }
}

function objectOf({ name, role, disabled, created }: Account): UserObject {
  return { name, role, disabled, created: toIso(created) };
}

/** @returns null if nothing changes. */
function actOf(
  name: string,
  before: Account | undefined,
  after: Account | undefined,
  unseen: Unseen,
): Act | null {
  const isSame = before === after && Object.keys(unseen).length === 0;
  if (isSame) return null;
  return {
    action: before === undefined ? 'create' : after === undefined ? 'delete' : 'update',
    resource: USERS,
    resource_id: numberOf(name),
    before: before === undefined ? null : JSON.stringify(objectOf(before)),
    after: after === undefined ? null : JSON.stringify({ ...objectOf(after), ...unseen }),
  };
}

/** Bytes of the number of an account: with 6, it is a safe integer. */
const NUMBER_BYTES = 6;

/** A number from 1 for the `resource_id` of entries: always the same for a name. */
function numberOf(name: string): number {
  return digest('sha256', name, 'buffer').readUIntBE(0, NUMBER_BYTES) + 1;
}

function isAdmin(account: Account | undefined): boolean {
  return account?.role === 'admin' && !account.disabled;
}

/** @throws CatalogError `last_admin` if no account that could undo the change would be left. */
function requireAdmin(
  { users }: Access,
  before: Account | undefined,
  after: Account | undefined,
): void {
  if (!isAdmin(before) || isAdmin(after) || [...users.values()].some(isAdmin)) return;
  throw new CatalogError(
    'last_admin',
    `${before?.name} is the last active user with the role admin; give that role to another user first`,
  );
}

/** @throws CatalogError `not_found`. */
function requireAccount({ users }: Access, name: string): Account {
  const found = users.get(name);
  if (found === undefined) throw unknown(name);
  return found;
}

function unknown(name: string): CatalogError {
  return new CatalogError('not_found', `there is no user ${name}`);
}

function taken(): CatalogError {
  const message = 'is the name of another user';
  return new CatalogError('invalid', `name: ${message}`, { fields: { name: [message] } });
}
