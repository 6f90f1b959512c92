/** `users`: the accounts of a data directory, also while a server runs. */
import {
  type Access,
  type AccessDraft,
  accessPath,
  NO_ACCESS,
  readAccess,
} from '../../../auth/access.ts';
import {
  addAccount,
  changeAccount,
  removeAccount,
  requireAccount,
  requireUnused,
} from '../../../auth/accounts.ts';
import { hashPassword } from '../../../auth/passwords.ts';
import type { Role } from '../../../auth/roles.ts';
import { toIso } from '../../../auth/time.ts';
import { changeShared } from '../../../app/cluster/settings-file.ts';
import type { Context } from '../../../app/context.ts';
import { requireStore } from '../../../store/directory.ts';
import { requireWritable } from '../../../store/hosts/host-record.ts';
import { askPassword } from './password.ts';
import { columns } from './columns.ts';
import { warnWithoutStore } from './store-warning.ts';

/** An account of a data directory. */
interface Named {
  readonly data: string;
  readonly name: string;
}

/**
 * A missing store causes only a warning, since an account can be added before the first start.
 *
 * @throws CatalogError `account` if there is one already, or the password is not acceptable.
 */
export async function usersAdd({ data, name }: Named, role: Role, context: Context): Promise<void> {
  // Checked before the password is asked for.
  requireUnused(readAccess(accessPath(data)) ?? NO_ACCESS, name);
  requireWritable(context.disk, data);
  const password = await hashPassword(await askPassword(name, context));
  await changeShared(data, context.disk, (draft, now) =>
    addAccount(draft, { name, role, disabled: false, created: now, password }),
  );
  warnWithoutStore(data, context);
  context.print(`added ${name} as ${role}`);
}

/**
 * Prints one line for each account: name, role, state, when it was made.
 *
 * @throws CatalogError `store_missing` if there are neither accounts nor a store; `access_file`.
 */
export function usersList(data: string, { disk, print }: Context): void {
  const { users } = existingAccess(data, disk);
  const rows = [...users.values()]
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map(({ name, role, disabled, created }) => [
      name,
      role,
      disabled ? 'disabled' : 'active',
      toIso(created),
    ]);
  for (const line of columns(rows)) print(line);
}

/** @throws CatalogError `account`, `store_missing`, `not_primary`. */
export async function usersPasswd({ data, name }: Named, context: Context): Promise<void> {
  // Checked before the password is asked for.
  requireAccount(existingAccess(data, context.disk), name);
  requireWritable(context.disk, data);
  const password = await hashPassword(await askPassword(name, context));
  await changeExisting({ data, name }, context, (draft, now) =>
    changeAccount(draft, name, { password }, now),
  );
  context.print(`changed the password of ${name}; its earlier tokens are revoked`);
}

/** @throws CatalogError `account`, `store_missing`. */
export async function usersRole(
  { data, name }: Named,
  role: Role,
  context: Context,
): Promise<void> {
  const changed = await changeExisting({ data, name }, context, (draft, now) =>
    changeAccount(draft, name, { role }, now),
  );
  context.print(
    changed
      ? `${name} is ${role} now; its earlier tokens are revoked`
      : `${name} is ${role} already`,
  );
}

/** @throws CatalogError `account`, `store_missing`. */
export async function usersDisable({ data, name }: Named, context: Context): Promise<void> {
  const changed = await changeExisting({ data, name }, context, (draft, now) =>
    changeAccount(draft, name, { disabled: true }, now),
  );
  context.print(
    changed ? `disabled ${name}; its tokens are revoked` : `${name} is disabled already`,
  );
}

/** @throws CatalogError `account`, `store_missing`. */
export async function usersEnable({ data, name }: Named, context: Context): Promise<void> {
  const changed = await changeExisting({ data, name }, context, (draft, now) =>
    changeAccount(draft, name, { disabled: false }, now),
  );
  context.print(changed ? `enabled ${name}` : `${name} is enabled already`);
}

/** @throws CatalogError `account`, `store_missing`. */
export async function usersRemove({ data, name }: Named, context: Context): Promise<void> {
  await changeExisting({ data, name }, context, (draft, now) => removeAccount(draft, name, now));
  context.print(`removed ${name}; its tokens are revoked`);
}

/** Changes an existing account. If there is none, no file and no directory is created. */
async function changeExisting<T>(
  { data, name }: Named,
  { disk }: Context,
  change: (draft: AccessDraft, now: number) => T,
): Promise<T> {
  requireAccount(existingAccess(data, disk), name);
  requireWritable(disk, data);
  return changeShared(data, disk, change);
}

/** @throws CatalogError `store_missing`: in a directory without accounts its name may be mistyped. */
function existingAccess(data: string, disk: Context['disk']): Access {
  const access = readAccess(accessPath(data));
  if (access === null) requireStore(data, disk);
  return access ?? NO_ACCESS;
}
