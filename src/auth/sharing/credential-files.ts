/**
 * The files of keys, accounts and revocations that one host gives to another: `keys.json`,
 * `access.json` and `webhook-key.json`.
 *
 * Invariant: a host never replaces a valid file with an invalid one. All files are validated, as at
 * a start, before the first one is replaced.
 */
import { createHmac, hash } from 'node:crypto';
import * as v from 'valibot';
import { DATA_FILES } from '../../data-files.ts';
import type { Disk } from '../../disk/disk.ts';
import { WatchedFile } from '../../disk/watched-file.ts';
import { accessPath } from '../access.ts';
import { keysPath } from '../keys.ts';
import { exclusively, readPrivate } from '../private-file.ts';
import { webhookKeyPath } from '../webhook-key.ts';
import { changedContents, judged, writeContents } from './private-contents.ts';

/** The content of the files; null for a file that does not exist. */
export interface CredentialFiles {
  /** Null also if the keys come from CATALOG_JWT_SECRET, which is never sent to other hosts. */
  readonly keys: object | null;
  readonly access: object | null;
  readonly webhook_key: object | null;
}

const content = v.nullable(v.custom<object>((input) => typeof input === 'object'));

export const credentialFilesShape = v.object({
  keys: content,
  access: content,
  webhook_key: content,
});

/** The files of a host, read again if one of them was replaced. */
export class WatchedCredentialFiles {
  readonly #files: readonly { readonly name: keyof CredentialFiles; readonly file: WatchedFile }[];
  #latest: { readonly files: CredentialFiles; readonly digest: string } | null = null;

  /** @param hasKeyFile whether the keys come from the file. */
  constructor(directory: string, hasKeyFile: boolean) {
    const paths = [
      ...(hasKeyFile ? [{ name: 'keys', path: keysPath(directory) } as const] : []),
      { name: 'access', path: accessPath(directory) } as const,
      { name: 'webhook_key', path: webhookKeyPath(directory) } as const,
    ];
    this.#files = paths.map(({ name, path }) => ({ name, file: new WatchedFile(path) }));
  }

  /**
   * @returns the files, and a digest that changes with them.
   * @throws CatalogError `key_file`, `access_file`.
   */
  current(): { readonly files: CredentialFiles; readonly digest: string } {
    if (this.#latest !== null && !this.#files.some(({ file }) => file.changed())) {
      return this.#latest;
    }
    this.#latest = null;
    const files: Record<keyof CredentialFiles, object | null> = {
      keys: null,
      access: null,
      webhook_key: null,
    };
    for (const { name, file } of this.#files) {
      const code = name === 'access' ? 'access_file' : 'key_file';
      const read = readPrivate({ path: file.path, code }, () => file.read());
      files[name] = (read?.json as object | undefined) ?? null;
    }
    this.#latest = { files, digest: digestOf(files) };
    return this.#latest;
  }
}

/** The digest of {@link WatchedCredentialFiles.current}. */
export function digestOf({ keys, access, webhook_key: webhookKey }: CredentialFiles): string {
  return hash('sha256', JSON.stringify([keys, access, webhookKey]), 'hex');
}

/**
 * A fingerprint of CATALOG_JWT_SECRET, which does not reveal it.
 *
 * @returns null if the keys come from a file.
 */
export function secretFingerprint(fromEnvironment: string | undefined): string | null {
  if (fromEnvironment === undefined) return null;
  return createHmac('sha256', fromEnvironment).update('catalog-server host').digest('hex');
}

/** The content for a host that never had an account, or whose file was removed. */
const NO_ACCESS_FILE = { users: [], revoked_subjects: [], revoked_tokens: [] };

/**
 * Replaces the files of this host that differ from those of another one, durably. Files that are
 * equal need no room on the disk.
 *
 * @throws CatalogError `key_file`, `access_file`, `busy`; then none or only some files were replaced.
 */
export async function replaceCredentialFiles(
  disk: Disk,
  directory: string,
  { keys, access, webhook_key: webhookKey }: CredentialFiles,
): Promise<void> {
  const contents = judged('of the primary', {
    [DATA_FILES.keys]: keys,
    [DATA_FILES.access]: access ?? NO_ACCESS_FILE,
    [DATA_FILES.webhookKey]: webhookKey,
  });
  await exclusively(directory, () =>
    writeContents(disk, directory, changedContents(directory, contents)),
  );
}
