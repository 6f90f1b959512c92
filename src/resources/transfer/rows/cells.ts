/** The cells of one row of CSV as the object that they stand for (spec 12.9). */
import { hasCode } from '../../../errors.ts';
import type { Kind, KindName, Row } from '../../../model/kind.ts';
import { KINDS } from '../../../model/kinds.ts';
import type { Money } from '../../../model/money.ts';
import { referenceOf } from '../../../model/rules.ts';
import type { View } from '../../../store/view.ts';
import type { Transaction } from '../../../store/writer/draft.ts';
import { specsInParts } from '../columns.ts';
import { guardFormula, unguardFormula } from '../formulas.ts';
import { LabelError } from '../labels.ts';
import { amountOf, plainValue } from './cell-values.ts';
import type { SentColumn } from './header.ts';
import type { References } from './references.ts';
import { type RowProblem, RowProblems } from './row-problems.ts';
import { SPU } from './spec-names.ts';

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

/** A cell with the name of the row within which another cell names a row. */
interface Owner extends Cell {
  readonly kind: KindName;
  readonly name: string;
}

function ownerIn(cells: readonly Cell[]): Owner | null {
  const cell = cells.find(({ column }) => column.form === 'owner');
  if (cell?.column.names === undefined || cell.raw === '') return null;
  return { ...cell, kind: cell.column.names, name: unguardFormula(cell.raw) };
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
  readonly #owner: Owner | null;
  readonly #said = new Map<string, Said>();
  readonly #problems: RowProblem[] = [];

  constructor(cells: readonly Cell[], reading: Reading) {
    this.#cells = cells;
    this.#reading = reading;
    this.#owner = ownerIn(cells);
  }

  *read(): Generator<undefined, Record<string, unknown>> {
    const { references } = this.#reading;
    const owner = this.#owner;
    const isOwned =
      owner === null ||
      (yield* this.#attempt(owner.column, () => references.require(owner.kind, owner.name)));
    for (const cell of this.#cells) {
      if (cell.column.form === 'specs' || !this.#counts(cell)) continue;
      // If its owner does not exist, the row would only be reported as missing as well.
      if (!isOwned && this.#isOwned(cell)) continue;
      yield* this.#attempt(cell.column, () => this.#readOne(cell));
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
    if (column.name === 'id' || column.form === 'owner' || this.#isFromPath(cell)) return false;
    if (raw !== '') return true;
    return !this.#cells.some(
      (other) => other.column.attribute === column.attribute && other.raw !== '',
    );
  }

  /** Whether a path gives the value, because the cell is about a level of it. */
  #isFromPath({ column, raw }: Cell): boolean {
    const isLevel = this.#cells.some(
      (other) => other.raw !== '' && other.column.ancestors?.includes(column.attribute) === true,
    );
    return isLevel && (raw === '' || this.#isUnchanged(column, raw));
  }

  /** Whether a cell names the row of which another cell names the owner. */
  #isOwned({ column: { form, attribute } }: Cell): boolean {
    return form === 'name' && attribute === this.#owner?.column.attribute;
  }

  /** Checks the owner of the row that is referred to, if no cell names that row. @throws LabelError. */
  #requireOwner({ column: { attribute, text }, kind, name }: Owner): void {
    const { kind: own, transaction } = this.#reading;
    const isNamed = this.#cells.some((cell) => cell.raw !== '' && this.#isOwned(cell));
    const id = this.#valueOf(attribute);
    if (isNamed || typeof id !== 'number') return;
    const owner = text({ id: 0, [attribute]: id }, transaction);
    if (owner === '' || owner === name) return;
    const owned = KINDS[referenceOf(own, attribute).to].label;
    throw new LabelError(`${owned} ${id} belongs to ${KINDS[kind].label} ${JSON.stringify(owner)}`);
  }

  /** The value that the row is to have, as far as it is known. */
  #valueOf(attribute: string): unknown {
    return this.#said.get(attribute)?.value ?? this.#reading.target?.[attribute];
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
    const known = error instanceof LabelError || hasCode(error, 'invalid');
    if (!known) throw error;
    this.#problems.push({ column: column.sent, message: error.message });
  }

  *#readOne(cell: Cell): Steps {
    const { column, raw } = cell;
    const { target, kind, money } = this.#reading;
    const { attribute, sent, form } = column;
    const isName = form === 'name' || form === 'path';
    const beside = isName ? this.#idBeside(attribute) : null;
    if (beside === null && this.#isUnchanged(column, raw) && !this.#isMoved(cell)) {
      this.#say(attribute, target?.[attribute], sent);
    } else if (isName) yield* this.#readName(column, unguardFormula(raw), beside);
    else if (form === 'money') this.#say(attribute, amountOf(raw, money), sent);
    else this.#say(attribute, plainValue(unguardFormula(raw), kind, attribute, money), sent);
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

  /** Whether a cell names a row whose owner is another one than before. */
  #isMoved(cell: Cell): boolean {
    const owner = this.#isOwned(cell) ? this.#owner : null;
    return owner !== null && !this.#isUnchanged(owner.column, owner.raw);
  }

  /** @param beside see {@link CellReader.#idBeside}. */
  *#readName({ attribute, form, sent }: SentColumn, text: string, beside: number | null): Steps {
    const { references, kind } = this.#reading;
    const { to, ancestors } = referenceOf(kind, attribute);
    const isParent = to === kind.name;
    if (text === '' && !isParent) throw new LabelError('must not be empty');
    if (form === 'name') {
      const owner = this.#owner?.name ?? null;
      this.#say(attribute, beside ?? (yield* references.named(to, text, owner)), sent);
      return;
    }
    const path = beside === null ? yield* references.path(text) : references.pathTo(beside);
    if (!isParent && path.length !== 3) throw new LabelError('must have three levels');
    this.#say(attribute, path.at(-1) ?? null, sent);
    for (const [index, above] of ancestors.entries()) this.#say(above, path[index], sent);
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
    const names = about.filter(
      ({ column, raw: name }) => column.names !== undefined && name !== '',
    );
    const { transaction } = this.#reading;
    return names.every(({ column, raw: name }) => {
      return name === guardFormula(column.text(row, transaction));
    })
      ? id
      : null;
  }

  *#readSpecs({ column, raw }: Cell): Steps {
    const { target, references, transaction, maxSpecs } = this.#reading;
    const spu = this.#valueOf(SPU);
    const stays = target !== null && spu === target[SPU];
    if (stays && raw === guardFormula(yield* specsInParts(target, transaction))) return;
    if (typeof spu !== 'number') return;
    try {
      const pairs = yield* references.specs.pairs(unguardFormula(raw), spu, maxSpecs);
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
