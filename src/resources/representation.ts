/** An object as clients see it. */
import { entityTag } from './entity-tag.ts';

/** JSON text of an object, and its entity tag. */
export class Representation {
  /** JSON text of the object. */
  readonly text: string;
  #etag: string | null;

  /** @param etag of the text, if it is known. */
  constructor(text: string, etag: string | null = null) {
    this.text = text;
    this.#etag = etag;
  }

  /** See {@link entityTag}. Computed on first use, because lists do not need it. */
  get etag(): string {
    return (this.#etag ??= entityTag(this.text));
  }
}
