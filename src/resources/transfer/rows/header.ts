/** The header of a CSV file (spec 12.8): what each column holds. */
import type { Attribute, Kind } from '../../../model/kind.ts';
import { KINDS } from '../../../model/kinds.ts';
import type { Money } from '../../../model/money.ts';
import { visibleAttributes } from '../../visible-attributes.ts';
import { type Column, columnsOf } from '../columns.ts';
import { FileProblem } from '../reading/file-problem.ts';

const CURRENCY = /^(.+) ([A-Z]{3})$/;

/** A column of a file. */
export interface SentColumn extends Column {
  /** Its name in the header of the file: {@link Column.name} or {@link Column.alias}. */
  readonly sent: string;
}

/**
 * The columns of a file: null for one that is not read, because only the service sets it.
 *
 * @param row that the names are in.
 * @throws FileProblem.
 */
export function readHeader(
  kind: Kind,
  money: Money,
  names: readonly string[],
  row: number,
): readonly (SentColumn | null)[] {
  const known = knownColumns(kind, money);
  const seen = new Set<string>();
  return names.map((sent, index) => {
    if (sent === '') throw new FileProblem(unnamed(index + 1, known), row);
    const column = known.get(sent) ?? known.values().find(({ alias }) => alias === sent);
    if (column === undefined) throw new FileProblem(unknown(money, known, sent), row, sent);
    if (seen.has(column.name)) throw new FileProblem('occurs twice', row, sent);
    seen.add(column.name);
    return isReadOnly(kind, column) ? null : { ...column, sent };
  });
}

/**
 * The name that a file gives an attribute; the given one if the file has no such column. An
 * attribute of the rows that a row owns has the name of their column.
 *
 * @param attribute by its name in requests or responses.
 */
export function sentName(
  kind: Kind,
  columns: readonly (SentColumn | null)[],
  attribute: string,
): string {
  const [key, declared] = declarationOf(kind, attribute) ?? [attribute, undefined];
  const name = declared?.role === 'input' ? (declared.request ?? key) : key;
  const known = columns.filter((column) => column !== null);
  const found =
    known.find((column) => column.name === name) ??
    known.find((column) => column.attribute === key && column.form !== 'owner');
  return found?.sent ?? (declared?.role === 'children' ? key : attribute);
}

/** The attribute, or that of the owned rows that have it; undefined for a path within it. */
function declarationOf(kind: Kind, attribute: string): readonly [string, Attribute] | undefined {
  const all = visibleAttributes(kind);
  return (
    all.find(([key, own]) => {
      return key === attribute || (own.role === 'input' && own.request === attribute);
    }) ?? all.find(([, own]) => own.role === 'children' && attribute in KINDS[own.kind].attributes)
  );
}

function knownColumns(kind: Kind, money: Money): ReadonlyMap<string, Column> {
  const known = new Map<string, Column>();
  for (const column of columnsOf(kind, money)) {
    known.set(column.name, column);
    if (column.form !== 'money') continue;
    const { attribute } = column;
    const text: Column['text'] = (row) => String(row[attribute]);
    known.set(attribute, { name: attribute, attribute, form: 'plain', text });
  }
  return known;
}

function isReadOnly(kind: Kind, { attribute }: Column): boolean {
  const declared = visibleAttributes(kind).find(([name]) => name === attribute)?.[1];
  return declared?.role === 'serverSet';
}

/** What is wrong with a name that no column has. */
function unknown(money: Money, known: ReadonlyMap<string, Column>, name: string): string {
  const [, attribute = '', currency] = CURRENCY.exec(name) ?? [];
  if (currency !== undefined && known.has(`${attribute} ${money.currency}`)) {
    return `is in ${currency}, but prices are in ${money.currency}`;
  }
  return `is not a column; ${listed(known)}`;
}

/** @param place of the column, from 1. */
function unnamed(place: number, known: ReadonlyMap<string, Column>): string {
  return `column ${place} has no name; delete it, or name it: ${listed(known)}`;
}

function listed(known: ReadonlyMap<string, Column>): string {
  return `the columns are ${[...known.keys()].join(', ')}`;
}
