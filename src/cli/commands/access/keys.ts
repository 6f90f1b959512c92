/**
 * `keys`: the signing keys of a data directory, also while a server runs, and the keys that encrypt
 * archives.
 */
import { basename, dirname } from 'node:path';
import { requireKeyFile, rotateKeys } from '../../../auth/key-rotation.ts';
import { keysPath, readKeys, secretKeys, type SigningKey } from '../../../auth/keys.ts';
import { toIso } from '../../../auth/time.ts';
import { isReserved } from '../../../data-files.ts';
import { createKeyFile } from '../../../encryption/key-file.ts';
import { CatalogError } from '../../../errors.ts';
import { columns } from './columns.ts';
import { sharedFilesOf } from '../../../app/cluster/settings-file.ts';
import type { Context } from '../../../app/context.ts';
import { hasStore, requireStore } from '../../../store/directory.ts';
import { requireWritable } from '../../../store/hosts/host-record.ts';

export interface RotateOptions {
  readonly data: string;
  /** Seconds. */
  readonly overlap: number;
}

/**
 * Fails without a store: in another directory than the server's it would replace no key.
 *
 * @throws CatalogError `store_missing`, `not_primary`, `key_file`, `busy`.
 */
export async function keysRotate(
  { data, overlap }: RotateOptions,
  { env, disk, print }: Context,
): Promise<void> {
  requireKeyFile(env['CATALOG_JWT_SECRET']);
  requireStore(data, disk);
  requireWritable(disk, data);
  const { made, replaced, dropped } = await rotateKeys(
    disk,
    data,
    overlap,
    Date.now(),
    sharedFilesOf(data, disk),
  );
  print(`${made.kid} signs from now on`);
  if (replaced !== null && !dropped.some(({ kid }) => kid === replaced.kid)) {
    print(`${replaced.kid} verifies until ${toIso(replaced.until)}`);
  }
  for (const { kid } of dropped)
    print(`${kid} is removed; every token that it signed is invalid now`);
}

/**
 * Prints one line for each key: id, state, when it was made.
 *
 * @throws CatalogError `store_missing` if there are no keys and no store; `key_file`.
 */
export function keysList(data: string, { env, disk, print }: Context): void {
  const { CATALOG_JWT_SECRET: secret } = env;
  if (secret !== undefined) {
    // A server would refuse one that is too short.
    secretKeys(secret);
    print('environment  signs and verifies  from CATALOG_JWT_SECRET');
    return;
  }
  const keys = readKeys(keysPath(data));
  if (keys === null) requireStore(data, disk);
  const now = Date.now() / 1000;
  const rows = (keys ?? []).map((key, index) => [
    key.kid,
    index === 0 ? 'signs and verifies' : stateOf(key, now),
    key.created === undefined ? 'of unknown age' : `made ${toIso(key.created)}`,
  ]);
  for (const line of columns(rows)) print(line);
}

function stateOf({ until }: SigningKey, now: number): string {
  if (until === undefined) return 'verifies';
  return until > now ? `verifies until ${toIso(until)}` : `ended ${toIso(until)}`;
}

/** @throws CatalogError `encryption`, also if a store would take the file for one of its own. */
export async function keysGenerate(file: string, { disk, print }: Context): Promise<void> {
  if (isReserved(basename(file)) && hasStore(dirname(file), disk)) {
    throw new CatalogError(
      'encryption',
      `${file} is in a data directory, where a store has a file of this name for itself; name a file outside of it`,
    );
  }
  const id = await createKeyFile(disk, file);
  print(
    `created the key ${id} in ${file}; keep a copy of it, because nothing that it encrypts can be read without it`,
  );
}
