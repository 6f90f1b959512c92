/** Creations that are sent again because their response was lost. */
import { signal } from '@preact/signals';
import { ApiError, isGone, isPassing } from './client.ts';
import { randomKey } from './random-key.ts';

/** A request that was sent, so that it can be kept over a reload. */
export interface Creation {
  /** What was sent; "" for nothing. */
  readonly content: string;
  readonly key: string;
}

const NOTHING: Creation = { content: '', key: '' };

/** How something is created, and changed if it was created of another content. */
export interface Creating<Content, Made> {
  /** @param key the `Idempotency-Key`. */
  readonly create: (content: Content, key: string) => Promise<Made>;
  /** Makes of what was created what it is to be now. */
  readonly amend: (made: Made) => Promise<Made>;
}

/** The request by which one form or dialog creates something. */
export class CreationKey {
  readonly #last = signal(NOTHING);
  #further: CreationKey | null = null;

  get last(): Creation {
    return this.#last.value;
  }

  /** Whether something was sent, and may have been created. */
  get #isUnanswered(): boolean {
    return this.#last.peek() !== NOTHING;
  }

  /** Goes on after a reload. @param last of the earlier visit. */
  restore(last: Creation): void {
    this.#last.value = last.content === '' ? NOTHING : last;
  }

  /**
   * The request by which an amendment creates more; it is forgotten with this one. It has a key of
   * its own, because its response may be lost as well.
   */
  get further(): CreationKey {
    this.#further ??= new CreationKey();
    return this.#further;
  }

  /** What is created next is another one, also if it has the same content. */
  forget(): void {
    this.#last.value = NOTHING;
    this.#further = null;
  }

  /**
   * Creates something once. If an earlier attempt had no answer and another content, that one is
   * sent again first, because it may have created something, which then is amended.
   *
   * @param content what it is to be.
   * @returns what the last of the requests does; what the earlier attempt has created, as it is, if
   *   that was forgotten meanwhile.
   * @throws what the requests do.
   */
  async once<Content, Made>(content: Content, how: Creating<Content, Made>): Promise<Made> {
    const { content: earlier } = this.#last.peek();
    const isOther = this.#isUnanswered && earlier !== JSON.stringify(content);
    const made = isOther ? await this.#repeat(JSON.parse(earlier) as Content, how) : null;
    // The user has left meanwhile, and dropped what was typed.
    if (made !== null && !this.#isUnanswered) return made;
    const result = made === null ? await this.#send(content, how) : await this.#amend(made, how);
    this.forget();
    return result;
  }

  /** @returns null if the server refuses it. */
  async #repeat<Content, Made>(
    content: Content,
    how: Creating<Content, Made>,
  ): Promise<Made | null> {
    try {
      return await this.#send(content, how);
    } catch (error) {
      if (isAnswer(error)) return null;
      throw error;
    }
  }

  async #amend<Content, Made>(made: Made, { amend }: Creating<Content, Made>): Promise<Made> {
    try {
      return await amend(made);
    } catch (error) {
      // Another user has deleted it.
      if (isGone(error)) this.forget();
      throw error;
    }
  }

  async #send<Content, Made>(content: Content, { create }: Creating<Content, Made>): Promise<Made> {
    const text = JSON.stringify(content);
    // The same key for the same content, so that it is created once.
    if (this.#last.peek().content !== text) {
      this.#last.value = { content: text, key: randomKey() };
    }
    try {
      return await create(content, this.#last.peek().key);
    } catch (error) {
      if (isAnswer(error)) this.forget();
      throw error;
    }
  }
}

/** Whether a failure says that nothing was created. */
function isAnswer(error: unknown): boolean {
  return error instanceof ApiError && !isPassing(error);
}
