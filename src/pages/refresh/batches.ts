/** Gathers what pages show and passes it to the page maker, in slices of the event loop. */
import { grouped, type PageFacts } from '../shop/facts.ts';
import type { Gatherer } from '../shop/gather.ts';
import type { PageName } from '../shop/names.ts';
import { failureOf } from '../writer/page-failure.ts';
import type { PageMaker, PageResult } from '../writer/page-writer.ts';

/**
 * Milliseconds of work between two turns of the event loop. Pages may wait, so they leave most of a
 * turn to requests, whose work in slices takes two milliseconds.
 */
export const SLICE_MS = 1.5;

/** UTF-16 units of gathered facts above which they are sent to the page maker. */
const MAX_PENDING_LENGTH = 2 * 1024 * 1024;

export class PageBatches {
  readonly #gatherer: Gatherer;
  readonly #maker: PageMaker;
  readonly #turn: () => Promise<void>;
  /** When other work ran last, by performance.now(). */
  #turnedAt = 0;

  /** @param turn lets other work of the thread run. */
  constructor(gatherer: Gatherer, maker: PageMaker, turn: () => Promise<void>) {
    this.#gatherer = gatherer;
    this.#maker = maker;
    this.#turn = turn;
  }

  /**
   * Brings pages up to date with the store. The caller holds the pages' lock.
   *
   * @param names of pages that were taken from the queue before the call, few at a time: rows that
   *   several of them show are read once.
   * @param always whether pages that are up to date are written again.
   * @returns a result for each name, in their order. A page fails if a row that it shows cannot be
   *   read: the text of one may be damaged without another page noticing.
   * @throws Error if the pages' thread dies.
   */
  async make(names: readonly PageName[], always: boolean): Promise<PageResult[]> {
    this.#turnedAt = performance.now();
    const results: PageResult[] = [];
    let facts: PageFacts[] = [];
    let length = 0;
    const known = new Map<number, string>();
    const send = async () => {
      if (facts.length > 0) results.push(...(await this.#maker.make(grouped(facts), always)));
      [facts, length] = [[], 0];
      known.clear();
    };
    for (const name of names) {
      const page = await this.facts(name, known).catch(failureOf);
      if ('message' in page) {
        // First the results of the pages before it.
        await send();
        results.push(page);
        continue;
      }
      facts.push(page);
      length += (page.own?.length ?? 0) + (page.shared?.length ?? 0);
      if (length > MAX_PENDING_LENGTH) await send();
    }
    await send();
    return results;
  }

  /** Like {@link PageBatches.make}, but if the thread dies, each page gets a failure. */
  async attempt(names: readonly PageName[], always: boolean): Promise<PageResult[]> {
    try {
      return await this.make(names, always);
    } catch (error) {
      const failure = failureOf(error);
      return names.map(() => failure);
    }
  }

  /** The facts of one page. @param known see {@link Gatherer.facts}. */
  async facts(name: PageName, known?: Map<number, string>): Promise<PageFacts> {
    const steps = this.#gatherer.facts(name, known);
    for (;;) {
      const step = steps.next();
      if (performance.now() - this.#turnedAt > SLICE_MS) {
        await this.#turn();
        this.#turnedAt = performance.now();
      }
      if (step.done === true) return step.value;
    }
  }
}
