/**
 * Which rows match the words of a search (spec 4.7): a row matches if every word occurs in one of
 * its texts, its own or joined ones.
 *
 * Invariants:
 * 1. A result is exact as of the commit that was applied last, even if commits were applied during
 *    the search.
 * 2. Small tables are read from end to end. Large ones have an index for each text attribute, which
 *    is built for the first search; building and searching are done in slices.
 */
import { CatalogError } from '../../../errors.ts';
import type { Change } from '../../../model/change.ts';
import type { Kind, KindName, Row, Scalar } from '../../../model/kind.ts';
import { type Lookup, lookupIn } from '../../../model/rows.ts';
import { KINDS } from '../../../model/kinds.ts';
import { perKind } from '../../../model/per-kind.ts';
import { valueOf } from '../../../model/rules.ts';
import { foldText } from '../../../model/text-folding.ts';
import { inSlices } from '../../../slices.ts';
import { Bitmap } from './bitmap.ts';
import { DependentRows, type References } from './dependent-rows.ts';
import {
  concerns,
  foreignKeysOf,
  joinsTo,
  searchedAttributes,
  type SearchedText,
  searchedTextsOf,
} from './searched-texts.ts';
import { TextIndex } from './text-index.ts';

export interface SearchBounds {
  /** A table of at most this many rows is read from end to end. */
  readonly smallTableRows: number;
  /** Milliseconds of work between two turns of the event loop; see `inSlices`. */
  readonly sliceMs?: number | undefined;
}

/** How many rows may change during a search before it begins again. */
const MAX_CHANGED_ROWS = 1000;

/** How many attempts at a search commits may invalidate before the request is refused. */
const MAX_ATTEMPTS = 5;

/** How many results are kept, for the next page of the same search. */
const MAX_RESULTS = 16;

/** The rows that match. */
export interface Matches {
  readonly size: number;
  /** Their ids; must not be changed. */
  readonly bitmap: Bitmap;
}

interface Result {
  readonly kind: Kind;
  readonly matches: Matches;
}

interface Running {
  readonly kind: Kind;
  readonly ended: Promise<void>;
  /** Rows that have changed since it began; null if there are too many. */
  changed: Set<number> | null;
}

const BOUNDS: SearchBounds = { smallTableRows: 250 };

export class Searches {
  readonly #source: References;
  readonly #bounds: SearchBounds;
  readonly #lookup: Lookup;
  readonly #indexes: Record<KindName, Map<string, TextIndex>> = perKind(() => new Map());
  readonly #dependents: DependentRows;
  readonly #building = new Map<KindName, Promise<void>>();
  /** By {@link nameOf}; the one used last is at the end. */
  readonly #results = new Map<string, Result>();
  readonly #running = new Map<string, Running>();

  constructor(source: References, bounds: Partial<SearchBounds>) {
    this.#source = source;
    this.#dependents = new DependentRows(source);
    this.#bounds = { ...BOUNDS, ...bounds };
    this.#lookup = lookupIn((kind, id) => source.rows[kind].get(id));
  }

  /**
   * Makes sure that {@link Searches.matches} can answer at once.
   *
   * @param words folded, at least one.
   * @returns a promise to await before calling this again; undefined if the result is ready.
   * @throws CatalogError `busy`, as a rejection, if commits overtook every attempt.
   */
  prepare(kind: Kind, words: readonly string[]): Promise<void> | undefined {
    if (this.#isSmall(kind)) return undefined;
    const name = nameOf(kind, words);
    if (this.#results.has(name)) return undefined;
    const running = this.#running.get(name);
    if (running !== undefined) return running.ended;
    const ended = this.#indexed(kind).then(() => this.#search(name, kind, words));
    this.#running.set(name, { kind, ended, changed: new Set() });
    return ended.finally(() => this.#running.delete(name));
  }

  /** The rows of the kind that match; every row is read if the search is not prepared. */
  matches(kind: Kind, words: readonly string[]): Matches {
    const name = nameOf(kind, words);
    const result = this.#results.get(name);
    if (result === undefined) return this.#readAll(kind, words);
    this.#results.delete(name);
    this.#results.set(name, result);
    return result.matches;
  }

  /** Applies the changes of rows of a kind, after the table has applied them. */
  change(kind: KindName, changes: readonly Change[]): void {
    for (const index of this.#indexes[kind].values()) index.change(changes);
    this.#dependents.change(kind, changes);
    for (const [name, result] of this.#results) {
      if (concerns(result.kind, kind)) this.#results.delete(name);
    }
    for (const running of this.#running.values()) {
      for (const { id } of changes) this.#noteChange(running, kind, id);
    }
  }

  #readAll(kind: Kind, words: readonly string[]): Matches {
    const ids = new Bitmap();
    for (const row of this.#source.rows[kind.name].values()) {
      if (this.#rowMatches(kind, words, row)) ids.add(row.id);
    }
    return matchesIn(ids);
  }

  #noteChange(running: Running, kind: KindName, id: number): void {
    if (running.changed === null) return;
    if (running.kind.name === kind) running.changed.add(id);
    for (const foreignKey of joinsTo(running.kind, kind)) {
      for (const dependents of this.#source.index(running.kind.name, foreignKey).parts(id)) {
        if (running.changed.size > MAX_CHANGED_ROWS) break;
        for (const dependent of dependents) running.changed.add(dependent);
      }
    }
    if (running.changed.size > MAX_CHANGED_ROWS) running.changed = null;
  }

  #isSmall(kind: Kind): boolean {
    return this.#source.rows[kind.name].size <= this.#bounds.smallTableRows;
  }

  /** Builds the indexes of a kind that are not there yet, one after the other. */
  async #indexed(kind: Kind): Promise<void> {
    const needed = new Set([kind.name, ...searchedTextsOf(kind).map((text) => text.kind)]);
    for (const name of needed) {
      let building = this.#building.get(name);
      if (building === undefined) {
        building = this.#build(KINDS[name]);
        this.#building.set(name, building);
      }
      await building;
    }
  }

  async #build(kind: Kind): Promise<void> {
    for (const [attribute, { role }] of searchedAttributes(kind)) {
      if (role === 'lookup') continue;
      const index = new TextIndex(this.#source.rows[kind.name], attribute);
      this.#indexes[kind.name].set(attribute, index);
      await inSlices(index.build(), this.#bounds.sliceMs);
    }
    for (const foreignKey of foreignKeysOf(kind)) {
      await this.#dependents.build(kind.name, foreignKey, this.#bounds.sliceMs);
    }
  }

  async #search(name: string, kind: Kind, words: readonly string[]): Promise<void> {
    const running = this.#running.get(name);
    if (running === undefined) throw new Error(`the search ${name} is not under way`);
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      running.changed = new Set();
      const isUnchanged = () => running.changed?.size === 0;
      const ids = await inSlices(this.#find(kind, words, isUnchanged), this.#bounds.sliceMs);
      const changed: ReadonlySet<number> | null = running.changed;
      if (changed === null) continue;
      for (const id of changed) {
        const row = this.#lookup(kind.name, id);
        if (row !== undefined && this.#rowMatches(kind, words, row)) ids.add(id);
        else ids.delete(id);
      }
      this.#keep(name, { kind, matches: matchesIn(ids) });
      return;
    }
    throw new CatalogError(
      'busy',
      `the ${kind.plural} change faster than they can be searched; try again`,
      { headers: { 'Retry-After': '5' } },
    );
  }

  #keep(name: string, result: Result): void {
    this.#results.set(name, result);
    const [oldest] = this.#results.keys();
    if (this.#results.size > MAX_RESULTS && oldest !== undefined) this.#results.delete(oldest);
  }

  /**
   * The rows in which every word occurs.
   *
   * @param isUnchanged whether every row that may match is as it was at the beginning.
   */
  *#find(
    kind: Kind,
    words: readonly string[],
    isUnchanged: () => boolean,
  ): Generator<undefined, Bitmap> {
    const { size } = this.#source.rows[kind.name];
    let all: Bitmap | null = null;
    for (const word of words) {
      const found = new Bitmap();
      for (const text of searchedTextsOf(kind)) {
        // Joined texts come last, since a short word often occurs in the own texts of every row.
        if (text.foreignKey !== null && found.count() === size && isUnchanged()) break;
        yield* this.#findIn(kind, text, word, found);
        yield;
      }
      if (all === null) all = found;
      else all.intersect(found);
    }
    return all ?? new Bitmap();
  }

  /** Adds the rows whose attribute contains the word. */
  *#findIn(
    kind: Kind,
    { kind: ownerKind, attribute, foreignKey }: SearchedText,
    word: string,
    found: Bitmap,
  ): Generator<undefined, void> {
    const index = this.#indexes[ownerKind].get(attribute);
    if (index === undefined) throw new Error(`${ownerKind} has no words of ${attribute}`);
    if (foreignKey === null) {
      yield* index.find(word, found);
      return;
    }
    const ids = new Bitmap();
    yield* index.find(word, ids);
    yield* this.#dependents.addTo(found, kind.name, foreignKey, { kind: ownerKind, ids });
  }

  #rowMatches(kind: Kind, words: readonly string[], row: Row): boolean {
    const texts = searchedAttributes(kind).map(([name]) => foldText(this.#textOf(kind, name, row)));
    return words.every((word) => texts.some((text) => text.includes(word)));
  }

  #textOf(kind: Kind, attribute: string, row: Row): string {
    const value: Scalar = valueOf(kind, attribute, row, this.#lookup);
    return typeof value === 'string' ? value : '';
  }
}

function matchesIn(bitmap: Bitmap): Matches {
  return { size: bitmap.count(), bitmap };
}

function nameOf(kind: Kind, words: readonly string[]): string {
  return `${kind.name} ${words.join(' ')}`;
}
