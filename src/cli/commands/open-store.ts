/** Opens the store of a directory that no server owns, for the writes of a command. */
import type { Context } from '../../app/context.ts';
import { messageOf } from '../../errors.ts';
import { AuditedStore } from '../../resources/audit/audited-store.ts';
import { Store } from '../../store/store.ts';

/**
 * The server decides how much history and how much of the audit trail is kept: a command removes
 * nothing of them.
 *
 * @param command for the message of a process that finds the directory locked.
 * @returns the store, which the caller closes.
 * @throws CatalogError `store_locked`, `store_missing`, and as {@link Store.open}.
 */
export async function openForWrites(
  directory: string,
  command: string,
  { disk, warn }: Pick<Context, 'disk' | 'warn'>,
): Promise<AuditedStore> {
  const onError = (error: unknown) => warn(messageOf(error), error);
  const store = await Store.open({
    directory,
    command,
    create: false,
    disk,
    history: Number.POSITIVE_INFINITY,
    onError,
    onFatal: onError,
  });
  return new AuditedStore(store, { auditBytes: Number.POSITIVE_INFINITY });
}
