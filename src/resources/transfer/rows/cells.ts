/** The cells of one row of CSV as the object that they stand for (spec 12.9). */
import * as v from 'valibot';
import { CatalogError } from '../../../errors.ts';
import type { Kind, Row, Scalar } from '../../../model/kind.ts';
import type { Money } from '../../../model/money.ts';
import { existingRow } from '../../../model/rows.ts';
import { price } from '../../../model/schemas.ts';
import type { View } from '../../../store/view.ts';
import type { Transaction } from '../../../store/writer/draft.ts';
import { isOwnerColumn, specsInParts } from '../columns.ts';
import { guardFormula, unguardFormula } from '../formulas.ts';
import { LabelError } from '../labels.ts';
import type { SentColumn } from './header.ts';
import type { References } from './references.ts';
import { type RowProblem, RowProblems } from './row-problems.ts';

/** A cell and its column. */
export interface Cell {
  readonly column: SentColumn;
  readonly raw: string;
}

interface Said {
  readonly value: unknown;
  /** The column, as the header names it. */
  readonly by: string;
}

interface Reading {
  readonly kind: Kind;
  readonly money: Money;
  readonly transaction: Transaction;
  /** The rows without the changes of the import. */
  readonly before: View;
  readonly references: References;
  /** The row that is changed; null if one is created. */
  readonly target: Row | null;
  /** Specification records, at most. */
  readonly maxSpecs: number;
}

type Steps = Generator<undefined, void>;

/**
 * The members of the object by their attributes, without attributes that no cell sets.
 * Yields between parts of the work.
 *
 * @throws RowProblems with every problem.
 */
export function readCells(
  cells: readonly Cell[],
  reading: Reading,
): Generator<undefined, Record<string, unknown>> {
  return new CellReader(cells, reading).read();
}

class CellReader {
  readonly #cells: readonly Cell[];
  readonly #reading: Reading;
  readonly #said = new Map<string, Said>();
  readonly #problems: RowProblem[] = [];

  constructor(cells: readonly Cell[], reading: Reading) {
    this.#cells = cells;
    this.#reading = reading;
  }

  *read(): Generator<undefined, Record<string, unknown>> {
    const owner = this.#ownerCell;
    const isOwned =
      owner === null || (yield* this.#attempt(owner.column, () => this.#requireSpu(owner)));
    for (const cell of this.#cells) {
      if (cell.column.form === 'specs' || !this.#counts(cell)) continue;
      // If the SPU does not exist, the specification would only be reported as missing as well.
      const waits = !isOwned && cell.column.name === 'spec';
      if (!waits) yield* this.#attempt(cell.column, () => this.#readOne(cell));
    }
    if (owner !== null && isOwned) {
      yield* this.#attempt(owner.column, () => this.#requireOwner(owner));
    }
    for (const cell of this.#cells) {
      if (cell.column.form === 'specs') yield* this.#readSpecs(cell);
    }
    if (this.#problems.length > 0) throw new RowProblems(this.#problems);
    const members: Record<string, unknown> = {};
    for (const [name, { value }] of this.#said) members[name] = value;
    return members;
  }

  /** Whether a cell sets a value. An empty one does not if another cell of its reference does. */
  #counts(cell: Cell): boolean {
    const { column, raw } = cell;
    if (column.name === 'id' || this.#isOwner(column) || this.#isFromPath(cell)) return false;
    if (raw !== '') return true;
    return !this.#cells.some(
      (other) => other.column.attribute === column.attribute && other.raw !== '',
    );
  }

  /** Whether the path of an SPU's third level gives the level that the cell is about. */
  #isFromPath({ column, raw }: Cell): boolean {
    const isLevel = column.attribute === 'category1_id' || column.attribute === 'category2_id';
    if (!isLevel || (raw !== '' && !this.#isUnchanged(column, raw))) return false;
    return this.#cells.some((other) => other.column.name === 'category' && other.raw !== '');
  }

  #isOwner(column: SentColumn): boolean {
    return isOwnerColumn(this.#reading.kind, column);
  }

  /** The cell that names the SPU of an option's specification; null if nothing does. */
  get #ownerCell(): Cell | null {
    const cell = this.#cells.find(({ column }) => this.#isOwner(column));
    return cell === undefined || cell.raw === '' ? null : cell;
  }

  /** @throws LabelError if there is no such SPU. */
  #requireSpu({ raw }: Cell): void {
    this.#reading.references.requireSpu(unguardFormula(raw));
  }

  /** Checks the SPU of the specification if no cell names the specification. @throws LabelError. */
  #requireOwner({ raw }: Cell): void {
    const { target, transaction } = this.#reading;
    const isNamed = this.#cells.some(({ column, raw: name }) => {
      return column.name === 'spec' && name !== '';
    });
    const id = this.#said.get('spec_id')?.value ?? target?.['spec_id'];
    const spec = transaction.get('specs', typeof id === 'number' ? id : null);
    if (isNamed || spec === undefined) return;
    const owner = existingRow(transaction, 'goods', spec.goods_id).name;
    if (owner === unguardFormula(raw)) return;
    throw new LabelError(`specification ${spec.id} belongs to SPU ${JSON.stringify(owner)}`);
  }

  /** Does what `run` does or yields, and reports what it throws. @returns whether it succeeded. */
  *#attempt(column: SentColumn, run: () => Steps | void): Generator<undefined, boolean> {
    try {
      yield* run() ?? [];
      return true;
    } catch (error) {
      this.#report(column, error);
      return false;
    }
  }

  /** @throws the error, if it is not about the cell. */
  #report(column: SentColumn, error: unknown): void {
    const known = error instanceof LabelError || error instanceof CatalogError;
    if (!known) throw error;
    this.#problems.push({ column: column.sent, message: error.message });
  }

  *#readOne({ column, raw }: Cell): Steps {
    const { target } = this.#reading;
    const { attribute, sent, form } = column;
    const beside = form === 'name' ? this.#idBeside(attribute) : null;
    if (beside === null && this.#isUnchanged(column, raw) && !this.#isMoved(column)) {
      this.#say(attribute, target?.[attribute] ?? null, sent);
    } else if (form === 'name') yield* this.#readName(column, unguardFormula(raw), beside);
    else if (form === 'money') this.#say(attribute, this.#amount(raw), sent);
    else this.#say(attribute, plainValue(this.#reading, attribute, unguardFormula(raw)), sent);
  }

  /**
   * Whether an export would write the cell for the row: now, or with the names that other rows had
   * before the import, if an earlier row of the file has changed them.
   */
  #isUnchanged({ text }: SentColumn, raw: string): boolean {
    const { target, transaction, before } = this.#reading;
    if (target === null) return false;
    if (raw === guardFormula(text(target, transaction))) return true;
    return before !== transaction && raw === guardFormula(text(target, before));
  }

  /** Whether the row names another SPU than that of the option's specification. */
  #isMoved({ name }: SentColumn): boolean {
    const owner = name === 'spec' ? this.#ownerCell : null;
    return owner !== null && !this.#isUnchanged(owner.column, owner.raw);
  }

  #amount(raw: string): number {
    const { money } = this.#reading;
    const amount = money.parse(raw);
    if (amount !== null) return amount;
    if (raw === '') throw new LabelError('must not be empty');
    const places =
      money.digits === 0 ? 'no decimals' : `at most ${money.digits} decimals after "."`;
    throw new LabelError(`must be an amount in ${money.currency}: digits, with ${places}`);
  }

  /** @param beside see {@link CellReader.#idBeside}. */
  *#readName({ attribute, sent }: SentColumn, text: string, beside: number | null): Steps {
    const { references, kind } = this.#reading;
    const isParent = attribute === 'parent_id';
    if (text === '' && !isParent) throw new LabelError('must not be empty');
    if (attribute === 'brand_id') {
      this.#say(attribute, beside ?? references.named('brands', text), sent);
    } else if (attribute === 'goods_id') {
      this.#say(attribute, beside ?? references.named('goods', text), sent);
    } else if (attribute === 'spec_id') {
      const owner = this.#ownerCell;
      const spu = owner === null ? null : unguardFormula(owner.raw);
      this.#say(attribute, beside ?? (yield* references.spec(text, spu)), sent);
    } else {
      const path = beside === null ? yield* references.path(text) : references.pathTo(beside);
      if (!isParent && path.length !== 3) throw new LabelError('must have three levels');
      this.#say(attribute, path.at(-1) ?? null, sent);
      if (kind.name === 'goods') this.#sayLevels(path, sent);
    }
  }

  /**
   * The id that the row has beside a name of a reference, if an export of that id would write the
   * same names: it selects one of several rows with the same name. Null if there is no such id.
   */
  #idBeside(attribute: string): number | null {
    const about = this.#cells.filter(({ column }) => column.attribute === attribute);
    const raw = about.find(({ column }) => column.form === 'plain')?.raw ?? '';
    if (!/^\d+$/.test(raw)) return null;
    const id = Number(raw);
    const row: Row = { id: 0, [attribute]: id };
    const names = about.filter((cell) => cell.column.form === 'name' && cell.raw !== '');
    const { transaction } = this.#reading;
    return names.every(({ column, raw: name }) => {
      return name === guardFormula(column.text(row, transaction));
    })
      ? id
      : null;
  }

  /** The path of an SPU's third level gives the first two as well. */
  #sayLevels(path: readonly number[], by: string): void {
    for (const [index, attribute] of ['category1_id', 'category2_id'].entries()) {
      this.#say(attribute, path[index], by);
    }
  }

  *#readSpecs({ column, raw }: Cell): Steps {
    const { target, references, transaction, maxSpecs } = this.#reading;
    const spu = this.#said.get('goods_id')?.value ?? target?.['goods_id'];
    const stays = target !== null && spu === target['goods_id'];
    if (stays && raw === guardFormula(yield* specsInParts(target, transaction))) return;
    if (typeof spu !== 'number') return;
    try {
      const pairs = yield* references.pairs(unguardFormula(raw), spu, maxSpecs);
      this.#say(column.attribute, pairs, column.sent);
    } catch (error) {
      this.#report(column, error);
    }
  }

  #say(attribute: string, value: unknown, by: string): void {
    const said = this.#said.get(attribute);
    if (said === undefined) this.#said.set(attribute, { value, by });
    else if (said.value !== value) throw new LabelError(`differs from the column ${said.by}`);
  }
}

/** The types that a schema accepts besides text. */
interface Types {
  readonly null: boolean;
  readonly number: boolean;
  readonly boolean: boolean;
}

const types = new WeakMap<object, Types>();

/** The types that a schema accepts, computed once: they are needed for each cell. */
function typesOf(schema: v.GenericSchema): Types {
  let known = types.get(schema);
  if (known === undefined) {
    const takes = (value: Scalar) => v.is(schema, value);
    known = { null: takes(null), number: takes(1), boolean: takes(true) };
    types.set(schema, known);
  }
  return known;
}

/** @throws LabelError. */
function plainValue({ kind, money }: Reading, attribute: string, text: string): Scalar {
  const declared = kind.attributes[attribute];
  if (declared?.role !== 'input') throw new Error(`${kind.name} are not sent with ${attribute}`);
  const takes = typesOf(declared.schema);
  if (text === '' && takes.null) return null;
  if (takes.number) {
    if (text === '') throw new LabelError('must not be empty');
    if (/^\d+$/.test(text)) return Number(text);
    const hint =
      declared.schema === price ? `; for decimals name it "${attribute} ${money.currency}"` : '';
    throw new LabelError(`must be a whole number in digits${hint}`);
  }
  if (!takes.boolean) return text;
  if (/^(?:true|TRUE)$/.test(text)) return true;
  if (/^(?:false|FALSE)$/.test(text)) return false;
  throw new LabelError('must be true or false');
}
