/** Deletions that are sent again because their response was lost. */
import { isGone, isPassing } from './client.ts';

/** The deletion of one item by one button. */
export class Removal {
  /** Whether an attempt had no answer: the item may be deleted. */
  #unanswered = false;

  /**
   * Deletes an item. If it is gone after an attempt without an answer, it was deleted by that.
   *
   * @param remove sends the request.
   * @throws what it does.
   */
  async once(remove: () => Promise<void>): Promise<void> {
    try {
      await remove();
    } catch (error) {
      if (!(this.#unanswered && isGone(error))) {
        this.#unanswered ||= isPassing(error);
        throw error;
      }
    }
    this.#unanswered = false;
  }
}
