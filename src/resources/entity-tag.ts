/** Entity tags (spec 5.4). */
import { createHash, hash } from 'node:crypto';

/** Characters of base64url, of 6 bits each: 132 bits of the digest. */
const TAG_LENGTH = 22;

/** Characters of a tag, all of them ASCII, with its quotes. */
export const ENTITY_TAG_LENGTH = TAG_LENGTH + 2;

/**
 * The strong entity tag of a content, with its quotes (RFC 9110, section 8.8.3). It is made from a
 * cryptographic digest: two contents with the same tag cannot be constructed, so `If-Match` cannot
 * let a change be lost.
 */
export function entityTag(content: string | Uint8Array): string {
  return quoted(hash('sha256', content, 'base64url'));
}

/** The entity tag of a content that comes in parts, none of which cuts a surrogate pair. */
export class EntityTagger {
  readonly #hash = createHash('sha256');

  update(part: string | Uint8Array): void {
    this.#hash.update(part);
  }

  /** @returns what {@link entityTag} gives for all parts together. */
  tag(): string {
    return quoted(this.#hash.digest('base64url'));
  }
}

function quoted(digest: string): string {
  return `"${digest.slice(0, TAG_LENGTH)}"`;
}
