/**
 * The columns of CSV (spec 12.3): the attributes of the object in their order, in words that people
 * use. References are written as id and as name, prices as decimals.
 */
import type { Attribute, Kind, KindName, Row, Scalar } from '../../model/kind.ts';
import type { Money } from '../../model/money.ts';
import { existingRow } from '../../model/rows.ts';
import { joinOf, withAncestors } from '../../model/rules.ts';
import { price } from '../../model/schemas.ts';
import { atOnce } from '../../slices.ts';
import type { View } from '../../store/view.ts';
import { visibleAttributes } from '../visible-attributes.ts';
import { joinPairs, pairText, pathText } from './labels.ts';

export interface Column {
  /** Its name in the header. */
  readonly name: string;
  /** The attribute that a cell is about. */
  readonly attribute: string;
  /** How a cell writes it. */
  readonly form: 'plain' | 'money' | 'name' | 'specs';
  /** The text of the row's cell, before `guardFormula` (formulas.ts). */
  readonly text: (row: Row, view: View) => string;
}

/** The columns of a kind in their order. */
export function columnsOf(kind: Kind, money: Money): readonly Column[] {
  const columns = visibleAttributes(kind).flatMap(([name, declared]) => [
    columnOf(kind, name, declared, money),
    ...(ADDED[`${kind.name}.${name}`] ?? []),
  ]);
  // It distinguishes specifications with the same name.
  if (kind.name === 'options') columns.push(named(OWNER, 'spec_id', spuOfOption));
  return columns;
}

const OWNER = 'spu';

/** Whether a column names the SPU of an option's specification, and not the specification itself. */
export function isOwnerColumn(kind: Kind, { name }: Column): boolean {
  return kind.name === 'options' && name === OWNER;
}

/** Name columns that follow an attribute, for names that the object itself does not show. */
const ADDED: Readonly<Record<string, readonly Column[]>> = {
  'categories.parent_id': [
    named('parent', 'parent_id', (row, view) => categoryPath(row['parent_id'], view)),
  ],
  'goods.category3_id': [
    named('category', 'category3_id', (row, view) => categoryPath(row['category3_id'], view)),
  ],
};

function named(name: string, attribute: string, text: Column['text']): Column {
  return { name, attribute, form: 'name', text };
}

function columnOf(kind: Kind, name: string, declared: Attribute, money: Money): Column {
  if (declared.role === 'lookup') return nameColumn(kind, name, declared);
  if (declared.role === 'children') return { name, attribute: name, form: 'specs', text: specs };
  const plain = (row: Row) => String(row[name] ?? '');
  if (declared.role === 'input' && declared.schema === price) {
    return {
      name: `${name} ${money.currency}`,
      attribute: name,
      form: 'money',
      text: (row) => money.decimal(Number(row[name])),
    };
  }
  const header = declared.role === 'input' ? (declared.request ?? name) : name;
  return { name: header, attribute: name, form: 'plain', text: plain };
}

/** The column with the name of the referenced row; a category has its path. */
function nameColumn(
  kind: Kind,
  name: string,
  declared: Extract<Attribute, { role: 'lookup' }>,
): Column {
  const { references, foreignKey, attribute } = joinOf(kind, declared);
  const reference = kind.attributes[foreignKey];
  const request = reference?.role === 'input' ? reference.request : undefined;
  const header = request === undefined ? name : request.replace(/_id$/, '');
  if (references === 'categories') {
    return named(header, foreignKey, (row, view) => categoryPath(row[foreignKey], view));
  }
  return named(header, foreignKey, (row, view) =>
    String(view.get<KindName>(references, row[foreignKey] ?? null)?.[attribute] ?? ''),
  );
}

/** `Electronics > Phones`; empty for none. */
function categoryPath(id: Scalar | undefined, view: View): string {
  return pathText(withAncestors(id ?? null, view).map(({ name }) => name));
}

function spuOfOption(row: Row, view: View): string {
  const spec = view.get('specs', row['spec_id'] ?? null);
  return view.get('goods', spec?.goods_id ?? null)?.name ?? '';
}

function specs(row: Row, view: View): string {
  return atOnce(specsInParts(row, view));
}

/** The specification records of a SKU, which can be many; yields between them. */
export function* specsInParts({ id }: Row, view: View): Generator<undefined, string> {
  const pairs: string[] = [];
  for (const record of view.matching('sku_specs', 'sku_id', id)) {
    const { spec_id, option_id } = existingRow(view, 'sku_specs', record);
    const { name } = existingRow(view, 'specs', spec_id);
    pairs.push(pairText([name, existingRow(view, 'options', option_id).value]));
    yield;
  }
  return joinPairs(pairs);
}
