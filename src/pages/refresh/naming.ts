/**
 * Finds the names of the pages that show changed rows, in slices of the event loop.
 *
 * A commit only notes the rows that it changed (row-summaries.ts). Names are found when the pages
 * are to be made: once for each row, however often it has changed until then.
 *
 * Pages that list several rows come last, so that each is named once for all of its changed rows:
 * an import may change thousands of rows of one category.
 */
import type { Change } from '../../model/change.ts';
import { inSlices } from '../../slices.ts';
import type { Catalog } from '../shop/catalog.ts';
import { isSkuPage, type PageName } from '../shop/names.ts';
import { dependentsOf, expand, type FanOut, NamedEnds } from './dependents.ts';
import { RowSummaries } from './row-summaries.ts';
import { UniqueQueue } from './unique-queue.ts';

/** Changes that a commit may have to be noted in one go; each takes a microsecond. */
const MAX_NOTED_AT_ONCE = 2000;

/** Changes that are noted between two pauses. */
const STEP_CHANGES = 256;

/** A page, and the milliseconds since the oldest change that it is named for. */
interface NamedPage {
  readonly name: PageName;
  readonly age: number;
}

/** Names that are found step by step, and at the end what else is to be expanded. */
type Names = Iterator<PageName, readonly FanOut[]>;

export class PageNaming {
  readonly #catalog: Catalog;
  readonly #onError: (error: unknown) => void;
  readonly #changed = new RowSummaries();
  readonly #fanOuts = new UniqueQueue<FanOut>();
  /** Names of pages that list several rows. */
  readonly #lists = new UniqueQueue<PageName>();
  /** The names that are being found. */
  #names: Names | null = null;
  /** When the oldest change that they show was committed, by performance.now(). */
  #namesSince = 0;
  /** Resolves when the changes of every commit so far are noted; null if they are. */
  #noting: Promise<void> | null = null;

  /** @param onError called if some pages are not named, because rows cannot be read. */
  constructor(catalog: Catalog, onError: (error: unknown) => void) {
    this.#catalog = catalog;
    this.#onError = onError;
  }

  /** Rows and lists whose pages are not all named yet; those in progress count as one or two. */
  get size(): number {
    const underWay = Number(this.#names !== null) + Number(this.#noting !== null);
    return this.#changed.size + this.#fanOuts.size + this.#lists.size + underWay;
  }

  /** Whether names can be found without {@link begin}. */
  get isUnderWay(): boolean {
    return this.#names !== null || this.#fanOuts.size + this.#lists.size > 0;
  }

  /** Milliseconds since the oldest change whose pages are not all named yet; 0 if there is none. */
  get age(): number {
    const since = this.#names === null ? 0 : performance.now() - this.#namesSince;
    return Math.max(this.#changed.age, this.#fanOuts.age, this.#lists.age, since);
  }

  /** Milliseconds since the first change that waits for {@link begin}; 0 if there is none. */
  get changesAge(): number {
    return this.#changed.age;
  }

  /**
   * Notes the changes of a commit, in slices if they are many.
   *
   * @param done called when these and all earlier ones are noted.
   */
  note(changes: readonly Change[], done: () => void): void {
    if (this.#noting === null && changes.length <= MAX_NOTED_AT_ONCE) {
      for (const change of changes) this.#changed.add(change);
      done();
      return;
    }
    const noting = (this.#noting ?? Promise.resolve())
      .then(() => inSlices(this.#noteEach(changes)))
      .then(() => {
        if (this.#noting === noting) this.#noting = null;
        done();
      });
    this.#noting = noting;
  }

  *#noteEach(changes: readonly Change[]): Generator<undefined, void> {
    for (const [index, change] of changes.entries()) {
      this.#changed.add(change);
      if (index % STEP_CHANGES === 0) yield;
    }
  }

  /**
   * Lets {@link next} name the pages of all rows that have changed so far.
   *
   * @returns false if it has to be called again: other pages are being named, or some changes are
   *   not noted yet.
   */
  begin(): boolean {
    const areNoted = this.#noting === null;
    if (this.#changed.size === 0) return areNoted;
    if (this.#names !== null) return false;
    this.#namesSince = performance.now() - this.#changed.age;
    this.#names = this.#namesOf(this.#changed.take());
    return areNoted;
  }

  /**
   * Takes one step of finding names.
   *
   * @returns a name with its age in milliseconds; `noted` if this step found none but the next one
   *   may; null if there are no names left to find.
   */
  next(): NamedPage | 'noted' | null {
    if (this.#names === null && this.#lists.age > this.#fanOuts.age) return this.#nextList();
    this.#names ??= this.#nextFanOut();
    if (this.#names === null) return this.#nextList();
    const step = this.#step(this.#names);
    const age = performance.now() - this.#namesSince;
    if (step.done === true) {
      for (const fanOut of step.value) this.#fanOuts.add(fanOut, age);
      this.#names = null;
      return 'noted';
    }
    if (isSkuPage(step.value)) return { name: step.value, age };
    this.#lists.add(step.value, age);
    return 'noted';
  }

  #step(names: Names): ReturnType<Names['next']> {
    try {
      return names.next();
    } catch (error) {
      this.#onError(error);
      return { done: true, value: [] };
    }
  }

  #nextList(): NamedPage | null {
    const { age } = this.#lists;
    const [name] = this.#lists.take(1);
    return name === undefined ? null : { name, age };
  }

  *#namesOf(summaries: ReturnType<RowSummaries['take']>): Generator<PageName, readonly FanOut[]> {
    const ends = new NamedEnds();
    for (const summary of summaries) {
      const { pages, fanOuts } = dependentsOf(this.#catalog, summary, ends);
      for (const fanOut of fanOuts) this.#fanOuts.add(fanOut, performance.now() - this.#namesSince);
      yield* pages;
    }
    return [];
  }

  #nextFanOut(): Names | null {
    const { age } = this.#fanOuts;
    const [fanOut] = this.#fanOuts.take(1);
    if (fanOut === undefined) return null;
    this.#namesSince = performance.now() - age;
    return expand(this.#catalog, fanOut);
  }
}
