/** One row of a file as a write of a transaction (spec 12.7 to 12.9). */
import type { Kind, Row, Scalar } from '../../../model/kind.ts';
import { KINDS } from '../../../model/kinds.ts';
import type { Money } from '../../../model/money.ts';
import { existingRow } from '../../../model/rows.ts';
import { atOnce } from '../../../slices.ts';
import type { Transaction } from '../../../store/writer/draft.ts';
import { type Input, parseInput } from '../../input.ts';
import { visibleAttributes } from '../../visible-attributes.ts';
import { insertUnseen } from '../../rows.ts';
import { type Cell, readCells } from './cells.ts';
import type { FileRow } from '../reading/file-rows.ts';
import { unguardFormula } from '../formulas.ts';
import type { SentColumn } from './header.ts';
import { nameAttribute, type Names } from './names.ts';
import { type Pair, References } from './references.ts';
import { type RowProblem, RowProblems } from './row-problems.ts';

/** How rows of a file are matched with those of the store. */
export const MATCHES = ['id', 'code', 'name'] as const;

export type Match = (typeof MATCHES)[number];

/** How rows of a kind can be matched: SKUs alone have a code. */
export function matchesOf(kind: Kind): readonly Match[] {
  return MATCHES.filter((match) => match !== 'code' || 'code' in kind.attributes);
}

export interface ImportTask {
  readonly kind: Kind;
  readonly match: Match;
  readonly createMissing: ReadonlySet<string>;
}

/** What a row of a file does. */
export interface RowChange {
  readonly action: 'create' | 'update';
  readonly id: number;
  /** Before and after, by the attributes that differ; only the first changes are shown. */
  readonly fields: () => Readonly<Record<string, readonly [unknown, unknown]>>;
}

/** Ids and codes of a file so far: each may occur once. */
export class Seen {
  readonly #values = new Set<string>();

  /** @returns whether it occurred before. */
  repeats(what: string, value: string): boolean {
    const key = `${what} ${value}`;
    if (this.#values.has(key)) return true;
    this.#values.add(key);
    return false;
  }
}

export class RowWriter {
  readonly #task: ImportTask;
  readonly #money: Money;
  readonly #names: Names;
  /** Null while every row has been seen before: in the second run of a file. */
  readonly #seen: Seen | null;
  #columns: readonly (SentColumn | null)[] = [];
  #last: { readonly transaction: Transaction; readonly references: References } | null = null;

  constructor(task: ImportTask, money: Money, names: Names, seen: Seen | null) {
    this.#task = task;
    this.#money = money;
    this.#names = names;
    this.#seen = seen;
  }

  /** @param columns of a CSV file. */
  useColumns(columns: readonly (SentColumn | null)[]): void {
    this.#columns = columns;
  }

  /** What the file calls an attribute. */
  readonly columnOf = (attribute: string): string => {
    const { kind } = this.#task;
    const declared = kind.attributes[attribute];
    const name = declared?.role === 'input' ? (declared.request ?? attribute) : attribute;
    const columns = this.#columns.filter((column) => column !== null);
    const about = (column: SentColumn) =>
      column.attribute === attribute || kind.attributes[column.attribute] === declared;
    const found =
      columns.find((column) => column.name === name) ??
      columns.find((column) => declared !== undefined && about(column));
    return found?.sent ?? name;
  };

  /**
   * Writes a row.
   *
   * @returns what changes; null if nothing does.
   * @throws RowProblems; CatalogError `invalid`.
   */
  write(transaction: Transaction, { content }: FileRow): RowChange | null {
    if ('problem' in content) throw problem(null, content.problem);
    if ('cells' in content) return this.#writeCells(transaction, content.cells);
    if (!isObject(content.value)) throw problem(null, 'must be an object');
    return this.#writeObject(transaction, content.value);
  }

  #writeCells(transaction: Transaction, raws: readonly string[]): RowChange | null {
    const { kind, createMissing } = this.#task;
    const cells: Cell[] = [];
    for (const [index, column] of this.#columns.entries()) {
      if (column !== null) cells.push({ column, raw: raws[index] ?? '' });
    }
    const textOf = (name: string) => {
      const cell = cells.find(({ column }) => column.name === name);
      return cell === undefined ? undefined : unguardFormula(cell.raw);
    };
    const target = this.#target(transaction, textOf);
    const references = this.#referencesOf(transaction, createMissing);
    const money = this.#money;
    const said = readCells(cells, { kind, money, transaction, references, target });
    return this.#put(transaction, target, said);
  }

  /** Those of a transaction remember paths; a path is another one when categories are written. */
  #referencesOf(transaction: Transaction, createMissing: ReadonlySet<string>): References {
    const { transaction: last, references } = this.#last ?? {};
    if (references !== undefined && last === transaction) return references;
    const remembers = this.#task.kind.name !== 'categories';
    const made = new References(transaction, this.#names, createMissing, remembers);
    this.#last = { transaction, references: made };
    return made;
  }

  #writeObject(
    transaction: Transaction,
    object: Readonly<Record<string, unknown>>,
  ): RowChange | null {
    const known = new Set(
      visibleAttributes(this.#task.kind).flatMap(([name, declared]) =>
        declared.role === 'input' && declared.request !== undefined
          ? [name, declared.request]
          : [name],
      ),
    );
    const strange = Object.keys(object).filter((name) => !known.has(name));
    if (strange.length > 0) {
      throw new RowProblems(
        strange.slice(0, MAX_STRANGE).map((column) => ({ column, message: 'is no attribute' })),
      );
    }
    const target = this.#target(transaction, (name) => {
      const value = object[name] ?? '';
      if (typeof value === 'string') return value;
      if (typeof value === 'number') return String(value);
      throw problem(name, 'must be text or a number');
    });
    return this.#put(transaction, target, object);
  }

  /** The row that is changed; null if one is created. @param textOf undefined without a column. */
  #target(transaction: Transaction, textOf: (name: string) => string | undefined): Row | null {
    const { kind, match } = this.#task;
    this.#requireNew('code', textOf);
    if (match !== 'id') return this.#matched(transaction, match, textOf);
    this.#requireNew('id', textOf);
    const text = textOf('id') ?? '';
    if (text === '') return null;
    if (!/^\d+$/.test(text)) throw problem('id', 'must be an id in digits, or empty');
    const row = transaction.get(kind.name, Number(text));
    if (row === undefined) throw problem('id', `there is no ${kind.label} ${text}`);
    return row;
  }

  /** @throws RowProblems if an earlier row of the file has the same value. */
  #requireNew(column: string, textOf: (name: string) => string | undefined): void {
    if (column !== 'id' && this.#task.kind.attributes[column] === undefined) return;
    const text = textOf(column) ?? '';
    const value = column === 'id' && /^\d+$/.test(text) ? String(Number(text)) : text;
    if (text === '' || this.#seen?.repeats(column, value) !== true) return;
    throw problem(column, `${value} is in the file twice`);
  }

  #matched(
    transaction: Transaction,
    match: Exclude<Match, 'id'>,
    textOf: (name: string) => string | undefined,
  ): Row | null {
    const { kind } = this.#task;
    const attribute = match === 'code' ? 'code' : nameAttribute(kind.name);
    const text = textOf(attribute) ?? '';
    if (text === '') return null;
    const ids =
      kind.name === 'skus'
        ? [...transaction.matching(kind.name, attribute, text)]
        : this.#names.find(transaction, kind.name, text);
    const [id, ...others] = ids;
    if (others.length > 0) {
      throw problem(attribute, `${kind.plural} ${ids.slice(0, 10).join(', ')} have this name`);
    }
    if (id === undefined) return null;
    if (match === 'name' && this.#seen?.repeats('row', String(id)) === true) {
      throw problem(attribute, `${JSON.stringify(text)} is in the file twice`);
    }
    return existingRow(transaction, kind.name, id);
  }

  #put(
    transaction: Transaction,
    target: Row | null,
    said: Readonly<Record<string, unknown>>,
  ): RowChange | null {
    const { kind } = this.#task;
    const input = atOnce(parseInput(kind, said, target === null ? 'whole' : 'partial'));
    if (target === null) return this.#create(transaction, input);
    const fields: Record<string, readonly [unknown, unknown]> = {};
    for (const [name, value] of Object.entries<Scalar>(input.values)) {
      if (target[name] !== value) fields[name] = [target[name], value];
    }
    const row: Row = { ...target, ...input.values, id: target.id };
    if (Object.keys(fields).length > 0) {
      transaction.put(kind.name, row);
      this.#names.add(kind.name, row);
    }
    if (Object.hasOwn(said, 'specs') && kind.name === 'skus') {
      const pairs = pairsIn(input);
      const before = replacePairs(transaction, target.id, pairs);
      if (before !== null) fields['specs'] = [before, pairs];
    }
    if (Object.keys(fields).length === 0) return null;
    return { action: 'update', id: target.id, fields: () => fields };
  }

  #create(transaction: Transaction, input: Input): RowChange {
    const { kind } = this.#task;
    const row = insertUnseen(transaction, kind, input);
    this.#names.add(kind.name, row);
    const fields = () => {
      const members = Object.entries<unknown>(input.values);
      if (kind.name === 'skus') members.push(['specs', pairsIn(input)]);
      return Object.fromEntries(members.map(([name, value]) => [name, [null, value]] as const));
    };
    return { action: 'create', id: row.id, fields };
  }
}

/** Unknown members that are reported of one object. */
const MAX_STRANGE = 10;

function problem(column: RowProblem['column'], message: string): RowProblems {
  return new RowProblems([{ column, message }]);
}

function pairsIn({ owned }: Input): Pair[] {
  return owned.map(({ values }) => ({
    spec_id: Number(values['spec_id']),
    option_id: Number(values['option_id']),
  }));
}

function nameOf({ spec_id, option_id }: Pair): string {
  return `${spec_id} ${option_id}`;
}

/**
 * Makes the specification records of a SKU those of a file: unlike PUT, an import says what the row
 * is to be. Records that stay keep their ids.
 *
 * @returns the pairs from before; null if they are the same, in whatever order.
 */
function replacePairs(
  transaction: Transaction,
  sku_id: number,
  pairs: readonly Pair[],
): Pair[] | null {
  const wanted = new Map<string, number>();
  for (const pair of pairs) wanted.set(nameOf(pair), (wanted.get(nameOf(pair)) ?? 0) + 1);
  const before: Pair[] = [];
  const surplus: number[] = [];
  for (const id of transaction.matching('sku_specs', 'sku_id', sku_id)) {
    const { spec_id, option_id } = existingRow(transaction, 'sku_specs', id);
    const pair = { spec_id, option_id };
    before.push(pair);
    const left = wanted.get(nameOf(pair)) ?? 0;
    if (left === 0) surplus.push(id);
    else wanted.set(nameOf(pair), left - 1);
  }
  for (const id of surplus) transaction.delete('sku_specs', id);
  let added = 0;
  for (const pair of pairs) {
    const left = wanted.get(nameOf(pair)) ?? 0;
    if (left === 0) continue;
    wanted.set(nameOf(pair), left - 1);
    added += 1;
    transaction.put('sku_specs', { id: transaction.nextId(KINDS.sku_specs.name), sku_id, ...pair });
  }
  return surplus.length + added === 0 ? null : before;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
