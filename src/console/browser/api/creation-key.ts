/** Creations that are sent again because their response was lost. */
import { randomKey } from './random-key.ts';

/** A request that was sent, so that it can be kept over a reload. */
export interface Creation {
  /** What was sent; "" for nothing. */
  readonly content: string;
  readonly key: string;
}

/** The `Idempotency-Key` of what one form creates. */
export class CreationKey {
  #last: Creation = { content: '', key: '' };

  get last(): Creation {
    return this.#last;
  }

  /** Whether something was sent, and may have been created. */
  get isUnanswered(): boolean {
    return this.#last.content !== '';
  }

  /** Whether it was sent last. */
  isOf(content: unknown): boolean {
    return JSON.stringify(content) === this.#last.content;
  }

  /** Goes on after a reload. @param last of the earlier visit. */
  restore(last: Creation): void {
    this.#last = last;
  }

  /** The same key for the same content, so that it is created once. @param content what is sent. */
  for(content: unknown): string {
    if (!this.isOf(content)) {
      this.#last = { content: JSON.stringify(content), key: randomKey() };
    }
    return this.#last.key;
  }

  /** It is created or refused: what is sent next is another one, also with the same content. */
  forget(): void {
    this.#last = { content: '', key: '' };
  }
}
