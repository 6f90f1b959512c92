/** The header of a CSV file (spec 12.8): what each column holds. */
import type { Kind } from '../../../model/kind.ts';
import type { Money } from '../../../model/money.ts';
import { visibleAttributes } from '../../visible-attributes.ts';
import { type Column, columnsOf } from '../columns.ts';
import { FileProblem } from '../reading/file-problem.ts';

/** The names of responses for the owning SPU, and the columns that they stand for. */
const ALIASES: Readonly<Record<string, string>> = { goods_id: 'spu_id', goods: 'spu' };

const CURRENCY = /^(.+) ([A-Z]{3})$/;

/** A column of a file. */
export interface SentColumn extends Column {
  /** Its name in the header of the file: {@link ALIASES} have another name than their column. */
  readonly sent: string;
}

/** The columns of a file: null for one that is not read, because only the service sets it. */
export function readHeader(
  kind: Kind,
  money: Money,
  names: readonly string[],
): readonly (SentColumn | null)[] {
  const known = knownColumns(kind, money);
  const seen = new Set<string>();
  return names.map((sent) => {
    const name = known.has(sent) ? sent : (ALIASES[sent] ?? sent);
    const column = known.get(name);
    if (column === undefined) throw unknown(money, known, sent);
    if (seen.has(name)) throw new FileProblem('occurs twice', 1, sent);
    seen.add(name);
    return isReadOnly(kind, column) ? null : { ...column, sent };
  });
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

function unknown(money: Money, known: ReadonlyMap<string, Column>, name: string): FileProblem {
  const [, attribute = '', currency] = CURRENCY.exec(name) ?? [];
  if (currency !== undefined && known.has(`${attribute} ${money.currency}`)) {
    return new FileProblem(`is in ${currency}, but prices are in ${money.currency}`, 1, name);
  }
  const columns = [...known.keys()].join(', ');
  return new FileProblem(`is not a column; the columns are ${columns}`, 1, name);
}
