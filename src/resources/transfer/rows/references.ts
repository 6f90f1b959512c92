/** Resolves names in cells to the ids of the rows that they refer to. */
import type { KindName, Row } from '../../../model/kind.ts';
import { KINDS } from '../../../model/kinds.ts';
import { namingOf, withinOf } from '../../../model/relations.ts';
import { existingRow } from '../../../model/rows.ts';
import { type Reference, withAncestors } from '../../../model/rules.ts';
import type { Transaction } from '../../../store/writer/draft.ts';
import { LabelError, parsePath } from '../labels.ts';
import { ambiguous, type CreatedMissing, missing, NamedRows } from './named-rows.ts';
import { MAX_NAMED, nameOf, type Names } from './names.ts';
import { SpecNames } from './spec-names.ts';

/** Paths that are remembered, at most. */
const MAX_PATHS = 1000;

export class References {
  readonly specs: SpecNames;
  readonly #transaction: Transaction;
  readonly #names: Names;
  readonly #rows: NamedRows;
  /** Ids of paths that were found; null if the import writes categories. */
  readonly #paths: Map<string, readonly number[]> | null;

  constructor(
    transaction: Transaction,
    names: Names,
    createMissing: ReadonlySet<string>,
    remembers: boolean,
  ) {
    this.#transaction = transaction;
    this.#names = names;
    this.#rows = new NamedRows(transaction, names, createMissing);
    this.specs = new SpecNames(transaction, this.#rows);
    this.#paths = remembers ? new Map() : null;
  }

  /** Call this when what a row has created was undone, because the row failed. */
  forgetCreated(): void {
    if (this.takeCreated().length > 0) this.specs.forget();
  }

  /** See {@link NamedRows.takeCreated}. */
  takeCreated(): readonly CreatedMissing[] {
    return this.#rows.takeCreated();
  }

  /** @throws LabelError if no row has the name. */
  require(kind: KindName, name: string): void {
    if (this.#find(kind, name, 1).length === 0) throw missing(kind, name);
  }

  /**
   * The id of a row by its name. Yields.
   *
   * @param owner the name of the row that it is within; null if that is not given, or there is none.
   * @throws LabelError, CatalogError.
   */
  *named(kind: KindName, name: string, owner: string | null): Generator<undefined, number> {
    const within = withinOf(kind);
    if (within !== null && owner !== null) return yield* this.#owned(kind, name, within, owner);
    return this.#rows.one(kind, name, this.#find(kind, name), () => {
      if (within === null) return null;
      throw unknownOwner(kind, within);
    });
  }

  *#owned(
    kind: KindName,
    name: string,
    within: Reference,
    owner: string,
  ): Generator<undefined, number> {
    const { attribute } = namingOf(kind);
    const ownerOf = (row: Row) =>
      existingRow(this.#transaction, within.to, Number(row[within.attribute]));
    // Not only by its name: most specifications are called "Colour" or "Size".
    const own = yield* this.#common(
      kind,
      this.#within(kind, within, owner),
      this.#names.each(this.#transaction, kind, name),
      (row) => row[attribute] === name && nameOf(within.to, ownerOf(row)) === owner,
    );
    return this.#rows.one(kind, name, own, () => {
      const owners = this.#find(within.to, owner);
      const advice = `create the ${KINDS[kind].label} first`;
      // A file has no column for the id of an owner.
      if (owners.length > 1) throw ambiguous(within.to, owners, advice);
      return this.#rows.one(within.to, owner, owners, () => null);
    });
  }

  /** The ids of a path of categories, from the first level. Yields. @throws LabelError. */
  *path(text: string): Generator<undefined, readonly number[]> {
    const known = this.#paths?.get(text);
    if (known !== undefined) return known;
    const before = this.#rows.created;
    const ids: number[] = [];
    for (const name of parsePath(text)) ids.push(yield* this.#below(ids.at(-1) ?? null, name));
    // What a row creates is lost if the row fails.
    if (this.#rows.created === before && (this.#paths?.size ?? 0) < MAX_PATHS) {
      this.#paths?.set(text, ids);
    }
    return ids;
  }

  /** The ids of a category and those above it, from the first level. */
  pathTo(category: number): readonly number[] {
    return withAncestors(category, this.#transaction).map(({ id }) => id);
  }

  *#below(parent: number | null, name: string): Generator<undefined, number> {
    const found = yield* this.#common(
      'categories',
      this.#names.each(this.#transaction, 'categories', name),
      this.#transaction.matching('categories', 'parent_id', parent),
      (row) => row['parent_id'] === parent && row['name'] === name,
    );
    return this.#rows.one('categories', name, found, () => parent);
  }

  #find(kind: KindName, name: string, most = MAX_NAMED): readonly number[] {
    return this.#names.find(this.#transaction, kind, name, most);
  }

  /** Ids of the rows within the rows with a name; null after those within each. */
  *#within(kind: KindName, { to, attribute }: Reference, name: string): Generator<number | null> {
    for (const owner of this.#names.each(this.#transaction, to, name)) {
      yield* this.#transaction.matching(kind, attribute, owner);
      yield null;
    }
  }

  /**
   * The rows that pass, of two lists that both have all of them: ids, ascending, at most
   * {@link MAX_NAMED}. Reads the lists in turn until one of them ends, as the other may be long. The
   * second one is begun only if the first one is not short, because to begin may copy its ids.
   * Yields between rows.
   */
  *#common(
    kind: KindName,
    first: Iterable<number | null>,
    second: Iterable<number | null>,
    passes: (row: Row) => boolean,
  ): Generator<undefined, number[]> {
    const lists = [first, second].map((list) => ({
      ids: Iterator.from(list),
      found: new Array<number>(),
    }));
    for (let nth = 0; ; nth += 1) {
      for (const { ids, found } of nth < MAX_NAMED ? lists.slice(0, 1) : lists) {
        const { done, value: id } = ids.next();
        if (typeof id === 'number' && passes(existingRow(this.#transaction, kind, id))) {
          found.push(id);
        }
        if (done === true || found.length === MAX_NAMED) return found.sort((a, b) => a - b);
      }
      yield;
    }
  }
}

function unknownOwner(kind: KindName, { to, nameColumn }: Reference): LabelError {
  const { label } = KINDS[kind];
  const owner = KINDS[to].label;
  return new LabelError(
    `there is no such ${label}; to create it, name its ${owner} in the column ${nameColumn}`,
  );
}
