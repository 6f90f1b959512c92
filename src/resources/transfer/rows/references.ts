/** Resolves names in cells to ids: references, paths of categories, specifications and options. */
import type { KindName, Row } from '../../../model/kind.ts';
import { KINDS, TRANSFERABLE } from '../../../model/kinds.ts';
import { namingOf } from '../../../model/relations.ts';
import { withAncestors } from '../../../model/rules.ts';
import { existingRow, type RowOf } from '../../../model/rows.ts';
import { atOnce } from '../../../slices.ts';
import type { Transaction } from '../../../store/writer/draft.ts';
import { parseInput } from '../../input.ts';
import { insertUnseen } from '../../rows.ts';
import { LabelError, parsePairs, parsePath } from '../labels.ts';
import { MAX_NAMED, type Names } from './names.ts';

/** Kinds whose missing rows can be created. */
export const CREATABLE: readonly KindName[] = TRANSFERABLE.flatMap(({ name, naming }) =>
  naming?.creatable === true ? [name] : [],
);

/** @returns the kinds in a list with commas; null if one of them is not {@link CREATABLE}. */
export function parseCreatable(text: string): ReadonlySet<string> | null {
  const names = text.split(',');
  const areKnown = names.every((name) => CREATABLE.some((each) => each === name));
  return areKnown ? new Set(names) : null;
}

/** A row that was created because no row had the name. */
export interface CreatedMissing {
  readonly resource: KindName;
  readonly id: number;
  readonly name: string;
}

const NONE: readonly CreatedMissing[] = [];

export interface Pair {
  readonly spec_id: number;
  readonly option_id: number;
}

/** Ids by name, of the rows that belong to one row. */
type NamesBelow = Map<string, number[]>;

/** What cells of SKUs name of an SPU. */
interface SpuNames {
  readonly specs: NamesBelow;
  /** By specification, of those that were named so far. */
  readonly options: Map<number, NamesBelow>;
}

/** Paths that are remembered, at most. */
const MAX_PATHS = 1000;

/** Names of specifications and options that are remembered, at most; those of one SPU always are. */
const MAX_NAMES = 100_000;

export class References {
  readonly #transaction: Transaction;
  readonly #names: Names;
  readonly #createMissing: ReadonlySet<string>;
  /** Ids of paths that were found; null if the import writes categories. */
  readonly #paths: Map<string, readonly number[]> | null;
  /** By SPU, of those that were read: a specification may have as many options as its SPU has SKUs. */
  readonly #spuNames = new Map<number, SpuNames>();
  /** What they hold: names, and the maps of these, which may be empty. */
  #remembered = 0;
  /** What was created since {@link References.takeCreated}. */
  #created: CreatedMissing[] = [];

  constructor(
    transaction: Transaction,
    names: Names,
    createMissing: ReadonlySet<string>,
    remembers: boolean,
  ) {
    this.#transaction = transaction;
    this.#names = names;
    this.#createMissing = createMissing;
    this.#paths = remembers ? new Map() : null;
  }

  /** Call this when what a row has created was undone, because the row failed. */
  forgetCreated(): void {
    if (this.takeCreated().length > 0) this.#forgetNames();
  }

  #forgetNames(): void {
    this.#spuNames.clear();
    this.#remembered = 0;
  }

  /** @returns what was created since the last call. */
  takeCreated(): readonly CreatedMissing[] {
    // Not the empty list itself, which later rows add to.
    if (this.#created.length === 0) return NONE;
    const created = this.#created;
    this.#created = [];
    return created;
  }

  /** The id of a brand or an SPU. @throws LabelError. */
  named(kind: 'brands' | 'goods', name: string): number {
    const ids = this.#names.find(this.#transaction, kind, name, MAX_NAMED);
    return this.#one(kind, name, ids, () => null);
  }

  /** The ids of a path of categories, from the first level. Yields. @throws LabelError. */
  *path(text: string): Generator<undefined, readonly number[]> {
    const known = this.#paths?.get(text);
    if (known !== undefined) return known;
    const before = this.#created.length;
    const ids = yield* this.#find(text);
    // What a row creates is lost if the row fails.
    if (this.#created.length === before && (this.#paths?.size ?? 0) < MAX_PATHS) {
      this.#paths?.set(text, ids);
    }
    return ids;
  }

  /** The ids of a category and those above it, from the first level. */
  pathTo(category: number): readonly number[] {
    return withAncestors(category, this.#transaction).map(({ id }) => id);
  }

  *#find(text: string): Generator<undefined, readonly number[]> {
    const ids: number[] = [];
    for (const name of parsePath(text)) {
      const parent_id: number | null = ids.at(-1) ?? null;
      const found = yield* this.#common(
        'categories',
        this.#names.each(this.#transaction, 'categories', name),
        this.#transaction.matching('categories', 'parent_id', parent_id),
        (row) => row.parent_id === parent_id && row.name === name,
      );
      ids.push(this.#one('categories', name, found, () => parent_id));
    }
    return ids;
  }

  /** @throws LabelError if no SPU has the name. */
  requireSpu(name: string): void {
    if (this.#names.find(this.#transaction, 'goods', name, 1).length > 0) return;
    throw missing('goods', name);
  }

  /** The id of a specification. Yields. @param spu the name of its SPU; null if it is not given. */
  *spec(name: string, spu: string | null): Generator<undefined, number> {
    if (spu === null) {
      const found = this.#names.find(this.#transaction, 'specs', name, MAX_NAMED);
      return this.#one('specs', name, found, () => {
        throw new LabelError(
          'there is no such specification; to create it, name its SPU in the column spu',
        );
      });
    }
    // Not only by its name: most specifications are called "Colour" or "Size".
    const own = yield* this.#common(
      'specs',
      this.#specsOf(spu),
      this.#names.each(this.#transaction, 'specs', name),
      (row) =>
        row.name === name && existingRow(this.#transaction, 'goods', row.goods_id).name === spu,
    );
    return this.#one('specs', name, own, () => {
      const owners = this.#names.find(this.#transaction, 'goods', spu, MAX_NAMED);
      // A file of options has no column for the id of an SPU.
      if (owners.length > 1) throw ambiguous('goods', owners, 'create the specification first');
      return this.named('goods', spu);
    });
  }

  /** Ids of the specifications of the SPUs with a name; null after those of each SPU. */
  *#specsOf(spu: string): Generator<number | null> {
    for (const owner of this.#names.each(this.#transaction, 'goods', spu)) {
      yield* this.#transaction.matching('specs', 'goods_id', owner);
      yield null;
    }
  }

  /**
   * The rows that pass, of two lists that both have all of them: ids, ascending, at most
   * {@link MAX_NAMED}. Reads the lists in turn until one of them ends, as the other may be long. The
   * second one is begun only if the first one is not short, because to begin may copy its ids.
   * Yields between rows.
   */
  *#common<K extends 'categories' | 'specs'>(
    kind: K,
    first: Iterable<number | null>,
    second: Iterable<number | null>,
    passes: (row: RowOf<K>) => boolean,
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

  /**
   * The specifications and options of a SKU. Yields between them.
   *
   * @param most records, at most.
   * @throws LabelError.
   */
  *pairs(text: string, spu: number, most: number): Generator<undefined, Pair[]> {
    const named = yield* parsePairs(text, most);
    if (this.#remembered > MAX_NAMES && this.#spuNames.size > 1) this.#forgetNames();
    const { specs, options } = yield* this.#namesOf(spu);
    const pairs: Pair[] = [];
    for (const [name, value] of named) {
      const spec_id = this.#oneBelow(specs, 'specs', name, spu);
      let own = options.get(spec_id);
      if (own === undefined) {
        own = yield* this.#below('options', spec_id);
        options.set(spec_id, own);
      }
      const option_id = this.#oneBelow(own, 'options', value, spec_id);
      pairs.push({ spec_id, option_id });
      yield;
    }
    return pairs;
  }

  *#namesOf(spu: number): Generator<undefined, SpuNames> {
    const known = this.#spuNames.get(spu);
    if (known !== undefined) return known;
    const specs = yield* this.#below('specs', spu);
    const read: SpuNames = { specs, options: new Map() };
    this.#spuNames.set(spu, read);
    return read;
  }

  /** The rows that belong to a row, by name. */
  *#below(kind: 'specs' | 'options', parent: number): Generator<undefined, NamesBelow> {
    const below: NamesBelow = new Map();
    const { attribute, within = '' } = namingOf(kind);
    this.#remembered += 1;
    for (const id of this.#transaction.matching(kind, within, parent)) {
      const row: Row = existingRow(this.#transaction, kind, id);
      const name = String(row[attribute]);
      const ids = below.get(name);
      if (ids === undefined) below.set(name, [id]);
      else ids.push(id);
      this.#remembered += 1;
      yield;
    }
    return below;
  }

  /** @param parent that the name is within. @throws LabelError, CatalogError. */
  #oneBelow(below: NamesBelow, kind: 'specs' | 'options', name: string, parent: number): number {
    const ids = below.get(name) ?? [];
    // A cell of specs has no ids.
    if (ids.length > 1) throw ambiguous(kind, ids, 'give them different names');
    const id = this.#one(kind, name, ids, () => parent);
    if (ids.length === 0) {
      below.set(name, [id]);
      this.#remembered += 1;
    }
    return id;
  }

  /** @param parent gives the row that a new one is within. @throws LabelError, CatalogError. */
  #one(kind: KindName, name: string, ids: readonly number[], parent: () => number | null): number {
    const [id, ...others] = ids;
    if (id === undefined) return this.#create(kind, name, parent);
    if (others.length === 0) return id;
    throw ambiguous(kind, ids, 'give the id');
  }

  #create(resource: KindName, name: string, parent: () => number | null): number {
    const kind = KINDS[resource];
    const { attribute, within } = namingOf(resource);
    if (!this.#createMissing.has(resource)) throw missing(resource, name);
    const place = within === undefined ? {} : { [within]: parent() };
    const input = atOnce(parseInput(kind, { [attribute]: name, ...place }, 'whole'));
    const created = atOnce(insertUnseen(this.#transaction, kind, input));
    this.#names.add(resource, created);
    this.#created.push({ resource, id: created.id, name });
    return created.id;
  }
}

function missing(kind: KindName, name: string): LabelError {
  return new LabelError(`there is no ${KINDS[kind].label} ${JSON.stringify(name)}`);
}

function ambiguous(kind: KindName, ids: readonly number[], advice: string): LabelError {
  const named = ids.slice(0, MAX_NAMED).join(', ');
  return new LabelError(`${KINDS[kind].plural} ${named} have this name; ${advice}`);
}
