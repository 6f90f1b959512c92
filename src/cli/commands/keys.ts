/** `keys`: the signing keys of a data directory, also while a server runs. */
import { requireKeyFile, rotateKeys } from '../../auth/key-rotation.ts';
import { keysPath, readKeys, type SigningKey } from '../../auth/keys.ts';
import { toIso } from '../../auth/time.ts';
import { columns } from './columns.ts';
import { sharedFilesOf } from '../../app/cluster/settings-file.ts';
import type { Context } from '../../app/context.ts';
import { requireWritable } from '../../store/hosts/host-record.ts';

export interface RotateOptions {
  readonly data: string;
  /** Seconds. */
  readonly overlap: number;
}

/** @throws CatalogError `key_file`, `access_file`. */
export async function keysRotate(
  { data, overlap }: RotateOptions,
  { env, disk, print }: Context,
): Promise<void> {
  requireKeyFile(env['CATALOG_JWT_SECRET']);
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

/** One line for each key: id, state, when it was made. */
export function keysList(data: string, { env, print }: Context): void {
  if (env['CATALOG_JWT_SECRET'] !== undefined) {
    print('environment  signs and verifies  from CATALOG_JWT_SECRET');
    return;
  }
  const now = Date.now() / 1000;
  const rows = (readKeys(keysPath(data)) ?? []).map((key, index) => [
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
