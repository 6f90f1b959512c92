/** One row of a file as a write of a transaction (spec 12.7 to 12.9). */
import * as v from 'valibot';
import type { JsonLimits } from '../../../json/json-limits.ts';
import type { Row, Scalar } from '../../../model/kind.ts';
import type { Money } from '../../../model/money.ts';
import { isNested } from '../../../model/relations.ts';
import { existingRow } from '../../../model/rows.ts';
import { uniqueAttributes } from '../../../model/rules.ts';
import { identifier, isObject } from '../../../model/schemas.ts';
import type { Transaction } from '../../../store/writer/draft.ts';
import { type Input, parseInput } from '../../input.ts';
import { membersOf } from '../../members.ts';
import { insertUnseen, replaceOwned } from '../../rows.ts';
import { lengthProblem } from './cell-limit.ts';
import { type Cell, readCells } from './cells.ts';
import type { FileRow } from '../reading/file-row.ts';
import { unguardFormula } from '../formulas.ts';
import { type SentColumn, sentName } from './header.ts';
import { type ImportTask, matchedBy, requiredText, type TextOf } from './matching.ts';
import { isIndexed, MAX_NAMED, type Names } from './names.ts';
import type { CreatedMissing } from './named-rows.ts';
import { References } from './references.ts';
import { type RowProblem, RowProblems } from './row-problems.ts';
import { RowsBefore } from './rows-before.ts';
import type { Seen } from './seen.ts';

interface RowTask extends ImportTask {
  /** The JSON limits of a body, which apply to a row as well. */
  readonly jsonLimits: JsonLimits;
}

/** What a row of a file changes. */
export interface RowChange {
  readonly action: 'create' | 'update';
  readonly id: number;
  /** Before and after, by the attributes that differ. Called only for changes that are shown. */
  readonly fields: () => Readonly<Record<string, readonly [unknown, unknown]>>;
}

/** What a row of a file writes. */
export interface WrittenRow {
  /** Null if nothing changes. */
  readonly change: RowChange | null;
  /** Rows that the names in it have created. */
  readonly created: readonly CreatedMissing[];
}

export class RowWriter {
  readonly #task: RowTask;
  readonly #money: Money;
  readonly #names: Names;
  /** Null in the second pass over a file, in which every row was seen before. */
  readonly #seen: Seen | null;
  readonly #before: RowsBefore;
  #columns: readonly (SentColumn | null)[] = [];
  #last: { readonly transaction: Transaction; readonly references: References } | null = null;

  constructor(task: RowTask, money: Money, names: Names, seen: Seen | null) {
    this.#task = task;
    this.#money = money;
    this.#names = names;
    this.#seen = seen;
    this.#before = new RowsBefore(task.kind);
  }

  /** @param columns of a CSV file. */
  useColumns(columns: readonly (SentColumn | null)[]): void {
    this.#columns = columns;
  }

  /** The name of an attribute in the file. */
  readonly columnOf = (name: string) => sentName(this.#task.kind, this.#columns, name);

  /** About how many characters a row writes: the pairs of a cell write seven times its length. */
  unitsOf({ content, units }: FileRow): number {
    if (!('cells' in content)) return units;
    const specs = this.#columns.findIndex((column) => column?.form === 'specs');
    return units + 6 * (content.cells[specs]?.length ?? 0);
  }

  /**
   * Writes a row. Yields between parts of the work.
   *
   * @throws RowProblems; CatalogError `invalid`.
   */
  *write(transaction: Transaction, row: FileRow): Generator<undefined, WrittenRow> {
    // A row that failed has left what it created.
    this.#last?.references.forgetCreated();
    const change = yield* this.#write(transaction, row);
    return { change, created: this.#last?.references.takeCreated() ?? [] };
  }

  *#write(transaction: Transaction, { content }: FileRow): RowSteps {
    if ('problem' in content) throw problem(null, content.problem);
    if ('cells' in content) return yield* this.#writeCells(transaction, content.cells);
    if (!isObject(content.value)) throw problem(null, 'must be an object');
    return yield* this.#writeObject(transaction, content.value);
  }

  *#writeCells(transaction: Transaction, raws: readonly string[]): RowSteps {
    const { kind, jsonLimits } = this.#task;
    const cells = this.#cellsOf(raws);
    const textOf = (name: string) => {
      const cell = cells.find(({ column }) => column.name === name);
      return cell === undefined ? undefined : unguardFormula(cell.raw);
    };
    const target = this.#target(transaction, textOf);
    const references = this.#referencesOf(transaction);
    const money = this.#money;
    const maxSpecs = jsonLimits.elements;
    const before = this.#before.in(transaction);
    const reading = { kind, money, transaction, before, references, target, maxSpecs };
    const said = yield* readCells(cells, reading);
    return yield* this.#put(transaction, target, said, textOf);
  }

  /** @throws RowProblems if a cell is longer than any value. */
  #cellsOf(raws: readonly string[]): Cell[] {
    const cells: Cell[] = [];
    const problems: RowProblem[] = [];
    for (const [index, column] of this.#columns.entries()) {
      if (column === null) continue;
      const cell = { column, raw: raws[index] ?? '' };
      cells.push(cell);
      const found = lengthProblem(this.#task.kind, cell);
      if (found !== null) problems.push(found);
    }
    if (problems.length > 0) throw new RowProblems(problems);
    return cells;
  }

  /** One object for each transaction, which remembers paths unless the import writes them. */
  #referencesOf(transaction: Transaction): References {
    const { transaction: last, references } = this.#last ?? {};
    if (references !== undefined && last === transaction) return references;
    const { kind, createMissing } = this.#task;
    const made = new References(transaction, this.#names, createMissing, !isNested(kind));
    this.#last = { transaction, references: made };
    return made;
  }

  *#writeObject(transaction: Transaction, object: Readonly<Record<string, unknown>>): RowSteps {
    const { names } = membersOf(this.#task.kind);
    const unknown = Object.keys(object).filter((name) => !names.has(name));
    if (unknown.length > 0) {
      throw new RowProblems(
        unknown.slice(0, MAX_UNKNOWN).map((column) => ({ column, message: 'is not an attribute' })),
      );
    }
    const textOf = (name: string) => this.#keyText(name, object[name] ?? null);
    const target = this.#target(transaction, textOf);
    return yield* this.#put(transaction, target, object, textOf);
  }

  /** The text of a member by which rows are matched. @throws RowProblems: types are not coerced. */
  #keyText(name: string, value: unknown): string {
    if (value === null) return '';
    if (name === 'id') return idText(value);
    if (typeof value === 'string') return value;
    // If rows are matched by id, all problems of the row are reported together later.
    if (this.#task.match === 'id') return '';
    throw problem(name, 'must be a string');
  }

  /** The row to change; null to create one. */
  #target(transaction: Transaction, textOf: TextOf): Row | null {
    const { kind, match } = this.#task;
    for (const attribute of uniqueAttributes(kind)) this.#requireNew(attribute, textOf);
    if (match !== 'id') return this.#matched(transaction, textOf);
    this.#requireNew('id', textOf);
    const text = textOf('id') ?? '';
    if (text === '') return null;
    if (!/^\d+$/.test(text)) throw problem('id', 'must be an id in digits, or empty');
    const row = transaction.get(kind.name, Number(text));
    if (row === undefined) throw problem('id', `there is no ${kind.label} ${text}`);
    return row;
  }

  /** @throws RowProblems if an earlier row of the file has the same value. */
  #requireNew(column: string, textOf: TextOf): void {
    const text = textOf(column) ?? '';
    const value = column === 'id' && /^\d+$/.test(text) ? String(Number(text)) : text;
    if (text === '' || this.#seen?.repeats(column, value) !== true) return;
    throw problem(column, `${value} is in the file twice`);
  }

  #matched(transaction: Transaction, textOf: TextOf): Row | null {
    const { kind, match } = this.#task;
    const attribute = matchedBy(this.#task);
    const text = textOf(attribute) ?? '';
    if (text === '') return null;
    // Before the look-up, which would find the item that an earlier row has created.
    if (match === 'name' && this.#seen?.repeats('name', text) === true) {
      throw problem(attribute, `${JSON.stringify(text)} is in the file twice`);
    }
    const ids = isIndexed(kind, attribute)
      ? [...Iterator.from(transaction.matching(kind.name, attribute, text)).take(MAX_NAMED)]
      : this.#names.find(transaction, kind.name, text, MAX_NAMED);
    const [id, ...others] = ids;
    if (others.length > 0) {
      throw problem(attribute, `${kind.plural} ${ids.join(', ')} have this name`);
    }
    if (id === undefined) return null;
    return existingRow(transaction, kind.name, id);
  }

  *#put(
    transaction: Transaction,
    target: Row | null,
    said: Readonly<Record<string, unknown>>,
    textOf: TextOf,
  ): RowSteps {
    const { kind } = this.#task;
    if (target === null) {
      const input = yield* parseInput(kind, said, 'whole', requiredText(this.#task, textOf));
      return yield* this.#create(transaction, input);
    }
    const input = yield* parseInput(kind, said, 'merge');
    const fields: Record<string, readonly [unknown, unknown]> = {};
    for (const [name, value] of Object.entries<Scalar>(input.values)) {
      if (target[name] !== value) fields[name] = [target[name], value];
    }
    const row: Row = { ...target, ...input.values, id: target.id };
    if (Object.keys(fields).length > 0) {
      this.#before.add(target);
      transaction.put(kind.name, row);
      this.#names.add(kind.name, row);
    }
    for (const list of input.lists) {
      const before = yield* replaceOwned(transaction, list, target.id);
      if (before !== null) fields[list.name] = [before, list.elements];
    }
    if (Object.keys(fields).length === 0) return null;
    return { action: 'update', id: target.id, fields: () => fields };
  }

  *#create(transaction: Transaction, input: Input): RowSteps {
    const { kind } = this.#task;
    const row = yield* insertUnseen(transaction, kind, input);
    this.#names.add(kind.name, row);
    const fields = () => {
      const lists = input.lists.map(({ name, elements }) => [name, elements] as const);
      const members = [...Object.entries<unknown>(input.values), ...lists];
      return Object.fromEntries(members.map(([name, value]) => [name, [null, value]] as const));
    };
    return { action: 'create', id: row.id, fields };
  }
}

/** Writes a row in steps. */
type RowSteps = Generator<undefined, RowChange | null>;

/** Unknown members that are reported of one object. */
const MAX_UNKNOWN = 10;

function problem(column: RowProblem['column'], message: string): RowProblems {
  return new RowProblems([{ column, message }]);
}

/** @throws RowProblems. */
function idText(value: unknown): string {
  const found = v.safeParse(identifier, value);
  if (!found.success) throw problem('id', found.issues[0].message);
  if (found.output < 1) throw problem('id', 'must be 1 or more');
  return String(found.output);
}
