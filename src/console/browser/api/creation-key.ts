/** Creations that are sent again because their response was lost. */

/** The `Idempotency-Key` of what one form creates. */
export class CreationKey {
  #content = '';
  #key = '';

  /** The same key for the same content, so that it is created once. @param content what is sent. */
  for(content: unknown): string {
    const text = JSON.stringify(content);
    if (text !== this.#content) {
      this.#content = text;
      this.#key = crypto.randomUUID();
    }
    return this.#key;
  }

  /** It is created: what is sent next is another one, also with the same content. */
  forget(): void {
    this.#content = '';
  }
}
