/**
 * Pages of a collection: which rows a selection has, in which order.
 *
 * A page is read from the ordering that its sort order and its narrowest filter determine. Every
 * other condition is a restriction. If one of them lets only few rows pass, these are gathered and
 * sorted. Otherwise the ordering is walked until the page is full, past the ids that do not pass:
 * a restriction knows its ids from an index, so that no row is read for it.
 */
import type { KindName, Row } from '../../model/kind.ts';
import { KINDS } from '../../model/kinds.ts';
import {
  existingRow,
  type Lookup,
  lookupIn,
  type RowOf,
  type RowSource,
} from '../../model/rows.ts';
import type { IdList } from './id-list.ts';
import { orderOfRange, type Restriction, Restrictions, type Sources } from './restrictions.ts';
import { foreignKeysOf } from './search/searched-texts.ts';
import { Bitmap } from './search/bitmap.ts';
import type { Page, RowsOf, RowSelection, Selection } from './selection.ts';
import { sortByKey } from './orders/sort-key.ts';
import type { Direction } from './orders/order.ts';
import { keyOf } from './orders/sorting.ts';

/** The most rows that are gathered and sorted for one page: a few milliseconds. */
const MAX_GATHERED_ROWS = 10_000;

/** Gathering and sorting a row costs about as much as walking past this many. */
const WALKED_PER_GATHERED = 8;

/** How a page is read. */
interface Plan {
  /** The ids of the ordering that it is read from. */
  readonly list: IdList;
  /** Whether they are read from the end. */
  readonly backwards: boolean;
  /** The conditions that remain. */
  readonly restrictions: readonly Restriction[];
}

export class Queries {
  readonly #sources: Sources;
  readonly #restrictions: Restrictions;
  readonly #lookup: Lookup;
  readonly #source: RowSource;

  constructor(sources: Sources) {
    this.#sources = sources;
    this.#restrictions = new Restrictions(sources);
    this.#lookup = lookupIn((kind, id) => sources.rows[kind].get(id));
    this.#source = { get: this.#lookup };
  }

  /**
   * Prepares a selection, so that {@link Queries.select} does not block the event loop.
   *
   * @returns a promise to await before calling this again; undefined if the selection is ready.
   * @throws CatalogError `busy`, as a rejection.
   */
  prepare(name: KindName, selection: RowSelection): Promise<void> | undefined {
    const { orderings, searches } = this.#sources;
    const kind = KINDS[name];
    const { filters, words = [], ranges = [] } = selection;
    const sought = filters.map(([attribute]) => attribute);
    if (words.length > 0) sought.push(...foreignKeysOf(kind));
    for (const attribute of sought) {
      const building = orderings.prepareIndex(kind, attribute, false);
      if (building !== undefined) return building;
    }
    const orders = [this.#orderOf(name, selection).order, ...ranges.map(orderOfRange)];
    // All are requested together, so that they are built one after the other. Builds for other pages
    // in between could cause the first to be dropped before the last exists.
    const sorting = orders.flatMap((order) => orderings.prepare(kind, order) ?? []);
    if (sorting.length > 0) return Promise.all(sorting).then(() => {});
    return words.length === 0 ? undefined : searches.prepare(kind, words);
  }

  /** One page. */
  select(name: KindName, selection: Selection): Page {
    const plan = this.#planOf(name, selection);
    if (plan.restrictions.length > 0) return this.#restricted(name, selection, plan);
    return pageOf(plan.list, plan.list.length, plan.backwards, selection);
  }

  /**
   * All rows of a selection, ignoring its limit. They are looked up as they are read, so that they
   * take no memory; later changes do not show in them.
   */
  selectAll<K extends KindName>(name: K, selection: Selection): RowsOf<K> {
    const { list, backwards, restrictions } = this.#planOf(name, selection);
    const rows = this.#sources.rows[name].snapshot();
    const source = { get: lookupIn((_, id) => rows.get(id)) };
    const passing = restrictions.length > 0 ? this.#passing(restrictions) : null;
    const ids = list.snapshot(backwards);
    return {
      total: passing === null ? list.length : this.#countIn(name, list, passing),
      rows: {
        *[Symbol.iterator]() {
          let skip = selection.offset;
          for (const id of ids) {
            if (passing?.has(id) === false) continue;
            if (skip > 0) skip -= 1;
            else yield existingRow(source, name, id);
          }
        },
      },
    };
  }

  /**
   * The rows of a selection as of the time of the call, looked up one by one as they are read; null
   * for a row that does not match.
   */
  scan<K extends KindName>(name: K, selection: RowSelection): Iterable<RowOf<K> | null> {
    const { list, backwards, restrictions } = this.#planOf(name, selection);
    const ids = list.snapshot(backwards);
    const rows = this.#sources.rows[name].snapshot();
    // A scan reads too many rows to keep them as objects.
    const source = { get: lookupIn((_, id) => rows.peek(id)) };
    return {
      *[Symbol.iterator]() {
        for (const id of ids) {
          const row = existingRow(source, name, id);
          yield passesAll(restrictions, row) ? row : null;
        }
      },
    };
  }

  /** The ordering that a page is read from, and the filters that remain. */
  #orderOf(name: KindName, { filters, sortby, order }: RowSelection) {
    const lengthOf = ([attribute, value]: Selection['filters'][number]) =>
      this.#sources.matching(name, attribute, value).length;
    const [narrowest, ...others] =
      filters.length < 2 ? filters : filters.toSorted((a, b) => lengthOf(a) - lengthOf(b));
    // No two ids are equal, so their other direction is the same list read backwards.
    const backwards = sortby === 'id' && order === 'desc';
    const partition = narrowest?.[0] ?? null;
    const direction: Direction = backwards ? 'asc' : order;
    return {
      order: { partition, sortby, order: direction },
      backwards,
      value: narrowest?.[1] ?? null,
      others,
    };
  }

  /** An ordering that is not prepared is built at once. */
  #planOf(name: KindName, selection: RowSelection): Plan {
    const { order, value, backwards, others } = this.#orderOf(name, selection);
    const { words = [], ranges = [] } = selection;
    const restrictions = others.map((filter) => this.#restrictions.filter(name, filter));
    for (const range of ranges) restrictions.push(this.#restrictions.range(KINDS[name], range));
    if (words.length > 0) restrictions.push(this.#restrictions.search(KINDS[name], words));
    const list = this.#sources.orderings.list(KINDS[name], order, value);
    return { list, backwards, restrictions };
  }

  #restricted(name: KindName, selection: Selection, { list, backwards, restrictions }: Plan): Page {
    const [smallest, ...others] = restrictions.toSorted((a, b) => a.size - b.size);
    if (smallest === undefined) throw new Error('there is no restriction');
    const isWhole = list.length === this.#sources.rows[name].size;
    const isById = isWhole && selection.sortby === 'id';
    const isFew = smallest.size * WALKED_PER_GATHERED <= list.length;
    if (isFew && smallest.size <= MAX_GATHERED_ROWS && !(isById && others.length === 0)) {
      return this.#gathered(name, selection, smallest.ids(), others);
    }
    const passing = this.#passing(restrictions);
    if (isById) return pageOf(passing, passing.count(), backwards, selection);
    const known = isWhole ? passing.count() : null;
    return this.#walked(selection, list.chunks(backwards), passing, known);
  }

  /** A page of few rows: they are found first, and then sorted. */
  #gathered(
    name: KindName,
    { filters, sortby, order, offset, limit }: Selection,
    ids: readonly number[],
    others: readonly Restriction[],
  ): Page {
    const rows = this.#rowsOf(name, ids).filter(
      (row: Row) =>
        filters.every(([attribute, value]) => (row[attribute] ?? null) === value) &&
        others.every(({ passes }) => passes(row)),
    );
    if (sortby === 'id') {
      if (order === 'desc') rows.reverse();
    } else {
      const keyed = rows.map((row) => ({
        row,
        key: keyOf(KINDS[name], sortby, row, this.#lookup),
      }));
      sortByKey(keyed, order);
      for (const [index, { row }] of keyed.entries()) rows[index] = row;
    }
    return { ids: rows.slice(offset, offset + limit).map(({ id }) => id), total: rows.length };
  }

  /**
   * A page of many rows: the ordering is read until the page is full, or to its end if the number
   * of matching rows is not known. No row is read.
   *
   * @param chunks the ids of the ordering, in the order of the page.
   * @param known how many rows match, or null.
   */
  #walked(
    { offset, limit }: Selection,
    chunks: Iterable<readonly number[]>,
    passing: Bitmap,
    known: number | null,
  ): Page {
    const found: number[] = [];
    let passed = 0;
    for (const ids of chunks) {
      for (const id of ids) {
        if (!passing.has(id)) continue;
        if (passed >= offset && found.length < limit) found.push(id);
        passed += 1;
      }
      if (known !== null && found.length >= limit) break;
    }
    return { ids: found, total: known ?? passed };
  }

  /** The rows that pass every restriction, of which there is at least one. */
  #passing([first, ...others]: readonly Restriction[]): Bitmap {
    if (first === undefined) throw new Error('there is no restriction');
    if (others.length === 0) return first.bitmap();
    const passing = new Bitmap();
    passing.unite(first.bitmap());
    for (const other of others) passing.intersect(other.bitmap());
    return passing;
  }

  /** How many ids of a list are in a bitmap. @param list all rows of the kind, or a part of them. */
  #countIn(name: KindName, list: IdList, bitmap: Bitmap): number {
    if (list.length === this.#sources.rows[name].size) return bitmap.count();
    let count = 0;
    for (const ids of list.chunks(false)) for (const id of ids) if (bitmap.has(id)) count += 1;
    return count;
  }

  #rowsOf<K extends KindName>(name: K, ids: readonly number[]): RowOf<K>[] {
    return ids.map((id) => existingRow(this.#source, name, id));
  }
}

/** A page of ids in their order, or backwards. */
function pageOf(
  ids: Pick<IdList, 'slice'>,
  total: number,
  backwards: boolean,
  { offset, limit }: Selection,
): Page {
  if (!backwards) return { ids: ids.slice(offset, limit), total };
  const end = Math.max(total - offset, 0);
  const start = Math.max(end - limit, 0);
  return { ids: ids.slice(start, end - start).reverse(), total };
}

function passesAll(restrictions: readonly Restriction[], row: Row): boolean {
  for (const { passes } of restrictions) if (!passes(row)) return false;
  return true;
}
