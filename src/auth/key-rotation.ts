/** Replaces the signing key. The old key continues to verify tokens for a while. */
import { DATA_FILES } from '../data-files.ts';
import type { Disk } from '../disk/disk.ts';
import { CatalogError } from '../errors.ts';
import {
  encodeKeys,
  makeKey,
  makeKeys,
  readKeys,
  type SigningKey,
  type SigningKeys,
} from './keys.ts';
import { exclusively, privateFile } from './private-file.ts';
import { changeFile, type SharedFiles } from './sharing/shared-files.ts';
import { wholeSeconds } from './time.ts';

type EndingKey = SigningKey & { readonly until: number };

export interface Rotation {
  readonly made: SigningKey;
  /** The key that signed until now; null if there was none. */
  readonly replaced: EndingKey | null;
  /** The expired keys, which were removed. */
  readonly dropped: readonly SigningKey[];
}

/**
 * Adds a new key, which signs from now on, lets the older keys verify during the overlap, and
 * removes the expired ones. The overlap never extends the time of a key.
 *
 * @param overlap seconds; with 0 all earlier tokens end at once.
 * @param now milliseconds since the epoch.
 * @param shared the original of the file, if hosts share it.
 * @throws CatalogError `key_file`, `durability_unknown`, `busy` if another change does not end, and
 *   what {@link SharedFiles} throws.
 */
export function rotateKeys(
  disk: Disk,
  directory: string,
  overlap: number,
  now: number,
  shared?: SharedFiles,
): Promise<Rotation> {
  const file = privateFile(directory, DATA_FILES.keys);
  return exclusively(directory, async () => {
    await shared?.pull();
    const keys = readKeys(file.path);
    if (keys === null) {
      const [made] = await makeKeys(file.path);
      return { made, replaced: null, dropped: [] };
    }
    const seconds = wholeSeconds(now);
    const ending = keys.map(
      (key): EndingKey => ({
        ...key,
        until: Math.min(key.until ?? Number.POSITIVE_INFINITY, seconds + overlap),
      }),
    );
    const rotated: SigningKeys = [makeKey(now), ...ending.filter(({ until }) => until > seconds)];
    await changeFile(disk, file, encodeKeys(rotated), shared);
    const dropped = ending.filter(({ until }) => until <= seconds);
    return { made: rotated[0], replaced: ending[0] ?? null, dropped };
  });
}

/** @throws CatalogError `key_file` if the key is in the environment and not in a file. */
export function requireKeyFile(fromEnvironment: string | undefined): void {
  if (fromEnvironment === undefined) return;
  throw new CatalogError(
    'key_file',
    'CATALOG_JWT_SECRET replaces keys.json; to change the key, give serve and issue-token another secret and restart (all tokens then become invalid), or unset it to use keys.json',
  );
}
