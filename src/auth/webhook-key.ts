/**
 * The key from which the secrets of webhooks are derived, in a file that only its owner may read:
 * `webhook-key.json` in the data directory.
 *
 * Secrets are not stored: each is an HMAC of the id and the creation time of its webhook. So the
 * store, its history and its backups contain nothing with which a delivery could be forged.
 */
import { createHmac, hash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import * as v from 'valibot';
import { DATA_FILES } from '../data-files.ts';
import type { FileContent } from '../disk/watched-file.ts';
import { CatalogError } from '../errors.ts';
import { FIRST_FAULT } from '../json/first-fault.ts';
import { createPrivate, type PrivateFile, readPrivate } from './private-file.ts';

const KEY_BYTES = 32;

const keyFile = v.object({
  key: v.pipe(
    v.string(),
    v.regex(/^[A-Za-z0-9_-]+$/),
    v.transform((text) => Buffer.from(text, 'base64url')),
    v.check((bytes) => bytes.length >= KEY_BYTES),
  ),
});

/** The attributes of a webhook on which its secret depends. */
interface Named {
  readonly id: number;
  readonly created: string;
  /** The id of the key. */
  readonly key: string;
}

interface Key {
  readonly id: string;
  readonly bytes: Uint8Array;
}

export class WebhookKey {
  readonly #path: string;
  #known: Key | null = null;

  /** @param directory the data directory. */
  constructor(directory: string) {
    this.#path = webhookKeyPath(directory);
  }

  /**
   * The id of the key in the file, which is created if there is none.
   *
   * @throws CatalogError `key_file`, `durability_unknown`.
   */
  async id(): Promise<string> {
    // A webhook that is created with a key which is not in the file has no secret after a restart.
    this.#known = this.#read() ?? (await this.#make());
    return this.#known.id;
  }

  /**
   * The secret of a webhook in the format of Standard Webhooks: `whsec_` and 32 bytes in base64.
   *
   * @throws CatalogError `key_file`, also if the webhook was created with another key.
   */
  secretOf({ id, created, key }: Named): string {
    // The file with the key of the webhook may have been put back.
    if (this.#known?.id !== key) this.#known = this.#read();
    const known = this.#known;
    if (known?.id !== key) {
      const what = known === null ? 'is missing' : 'is another one';
      throw failure(
        this.#path,
        `the key with which webhook ${id} was created ${what}; put it back, or delete the webhook and create it again`,
      );
    }
    const digest = createHmac('sha256', known.bytes).update(`webhook ${id} ${created}`).digest();
    return `whsec_${digest.toString('base64')}`;
  }

  #read(): Key | null {
    const bytes = readWebhookKey(this.#path);
    return bytes === null ? null : keyOf(bytes);
  }

  #make(): Promise<Key> {
    const bytes = randomBytes(KEY_BYTES);
    const file: PrivateFile = { path: this.#path, code: 'key_file' };
    const content = { key: bytes.toString('base64url') };
    return createPrivate(file, content, keyOf(bytes), () => this.#read());
  }
}

/** The path of the key in a data directory. */
export function webhookKeyPath(directory: string): string {
  return join(directory, DATA_FILES.webhookKey);
}

/**
 * @param read see {@link readPrivate}.
 * @returns the key; null if there is no file.
 * @throws CatalogError `key_file`.
 */
export function readWebhookKey(path: string, read?: () => FileContent | null): Uint8Array | null {
  const content = readPrivate({ path, code: 'key_file' }, read);
  if (content === null) return null;
  const parsed = v.safeParse(keyFile, content.json, FIRST_FAULT);
  if (parsed.success) return parsed.output.key;
  throw failure(path, 'it is not the key of webhooks; restore it from a backup');
}

function failure(path: string, what: string): CatalogError {
  return new CatalogError('key_file', `${path}: ${what}`);
}

function keyOf(bytes: Uint8Array): Key {
  return { id: hash('sha256', bytes, 'hex').slice(0, 16), bytes };
}
