/** The specifications and options of SPUs by their names, for the cells `specs` of SKUs (spec 12.3). */
import type { KindName } from '../../../model/kind.ts';
import { namingOf } from '../../../model/relations.ts';
import { existingRow } from '../../../model/rows.ts';
import type { Transaction } from '../../../store/writer/draft.ts';
import { parsePairs } from '../labels.ts';
import { ambiguous, type NamedRows } from './named-rows.ts';

/** The attribute by which SKUs and specifications refer to their SPU. */
export const SPU = 'goods_id';

interface Pair {
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

/** Names that are remembered, at most; those of one SPU always are. */
const MAX_NAMES = 100_000;

export class SpecNames {
  readonly #transaction: Transaction;
  readonly #rows: NamedRows;
  /** By SPU, of those that were read: a specification may have as many options as its SPU has SKUs. */
  readonly #spuNames = new Map<number, SpuNames>();
  /** What they hold: names, and the maps of these, which may be empty. */
  #remembered = 0;

  constructor(transaction: Transaction, rows: NamedRows) {
    this.#transaction = transaction;
    this.#rows = rows;
  }

  /** Call this when rows that {@link SpecNames.pairs} has created were undone. */
  forget(): void {
    this.#spuNames.clear();
    this.#remembered = 0;
  }

  /**
   * The specifications and options of a SKU. Yields between them.
   *
   * @param most records, at most.
   * @throws LabelError.
   */
  *pairs(text: string, spu: number, most: number): Generator<undefined, Pair[]> {
    const named = yield* parsePairs(text, most);
    if (this.#remembered > MAX_NAMES && this.#spuNames.size > 1) this.forget();
    const { specs, options } = yield* this.#namesOf(spu);
    const pairs: Pair[] = [];
    for (const [name, value] of named) {
      const spec_id = this.#one(specs, 'specs', name, spu);
      let own = options.get(spec_id);
      if (own === undefined) {
        own = yield* this.#below('options', 'spec_id', spec_id);
        options.set(spec_id, own);
      }
      const option_id = this.#one(own, 'options', value, spec_id);
      pairs.push({ spec_id, option_id });
      yield;
    }
    return pairs;
  }

  *#namesOf(spu: number): Generator<undefined, SpuNames> {
    const known = this.#spuNames.get(spu);
    if (known !== undefined) return known;
    const specs = yield* this.#below('specs', SPU, spu);
    const read: SpuNames = { specs, options: new Map() };
    this.#spuNames.set(spu, read);
    return read;
  }

  /** The rows that belong to a row, by name. */
  *#below(kind: KindName, foreignKey: string, parent: number): Generator<undefined, NamesBelow> {
    const below: NamesBelow = new Map();
    const { attribute } = namingOf(kind);
    this.#remembered += 1;
    for (const id of this.#transaction.matching(kind, foreignKey, parent)) {
      const name = String(existingRow(this.#transaction, kind, id)[attribute]);
      const ids = below.get(name);
      if (ids === undefined) below.set(name, [id]);
      else ids.push(id);
      this.#remembered += 1;
      yield;
    }
    return below;
  }

  /** @param parent that the name is within. @throws LabelError, CatalogError. */
  #one(below: NamesBelow, kind: KindName, name: string, parent: number): number {
    const ids = below.get(name) ?? [];
    // A cell of specs has no ids.
    if (ids.length > 1) throw ambiguous(kind, ids, 'give them different names');
    const id = this.#rows.one(kind, name, ids, () => parent);
    if (ids.length === 0) {
      below.set(name, [id]);
      this.#remembered += 1;
    }
    return id;
  }
}
