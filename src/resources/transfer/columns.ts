/**
 * The columns of CSV (spec 12.3): the attributes of the object in their order, in words that people
 * use. References are written as id and as name, prices as decimals.
 */
import type { Attribute, Kind, KindName, Row, Scalar } from '../../model/kind.ts';
import { KINDS } from '../../model/kinds.ts';
import type { Money } from '../../model/money.ts';
import { namingOf } from '../../model/relations.ts';
import { existingRow } from '../../model/rows.ts';
import { referenceOf, withAncestors } from '../../model/rules.ts';
import { price } from '../../model/schemas.ts';
import { atOnce } from '../../slices.ts';
import type { View } from '../../store/view.ts';
import { visibleAttributes } from '../visible-attributes.ts';
import { joinPairs, pairText, pathText } from './labels.ts';

export interface Column {
  /** Its name in the header. */
  readonly name: string;
  /** Its name in responses. */
  readonly alias?: string;
  /** The attribute that a cell is about. */
  readonly attribute: string;
  /**
   * How a cell writes it. `owner` is the name of the row within which the referenced row has its
   * name: the SPU of an option's specification.
   */
  readonly form: 'plain' | 'money' | 'name' | 'path' | 'owner' | 'specs';
  /** The kind of the row that a cell names, if it names one. */
  readonly names?: KindName;
  /** The attributes that a path gives as well. */
  readonly ancestors?: readonly string[];
  /** The text of the row's cell, before `guardFormula` (formulas.ts). */
  readonly text: (row: Row, view: View) => string;
}

/** The columns of a kind in their order. */
export function columnsOf(kind: Kind, money: Money): readonly Column[] {
  const columns = visibleAttributes(kind).flatMap(([name, declared]) =>
    columnsOfAttribute(kind, name, declared, money),
  );
  return [...columns, ...columns.flatMap((column) => ownerColumn(column, money))];
}

function columnsOfAttribute(
  kind: Kind,
  name: string,
  declared: Attribute,
  money: Money,
): readonly Column[] {
  if (declared.role === 'lookup') {
    return [{ ...nameColumn(kind, declared.foreignKey), alias: name }];
  }
  if (declared.role === 'children') {
    return [{ name, attribute: name, form: 'specs', text: specs }];
  }
  const plain = (row: Row) => String(row[name] ?? '');
  if (declared.role !== 'input') return [{ name, attribute: name, form: 'plain', text: plain }];
  if (declared.schema === price) {
    const text = (row: Row) => money.decimal(Number(row[name]));
    return [{ name: `${name} ${money.currency}`, attribute: name, form: 'money', text }];
  }
  const { request = name, nameColumn: named } = declared;
  const column: Column = {
    name: request,
    alias: name,
    attribute: name,
    form: 'plain',
    text: plain,
  };
  return named === undefined ? [column] : [column, nameColumn(kind, name)];
}

/** The column with the name of the referenced row; a category has its path. */
function nameColumn(kind: Kind, attribute: string): Column {
  const { to: names, nameColumn: name, ancestors } = referenceOf(kind, attribute);
  if (names === 'categories') {
    const text: Column['text'] = (row, view) => categoryPath(row[attribute] ?? null, view);
    return { name, attribute, form: 'path', names, ancestors, text };
  }
  const { attribute: called } = namingOf(names);
  const text: Column['text'] = (row, view) =>
    String(view.get<KindName>(names, row[attribute] ?? null)?.[called] ?? '');
  return { name, attribute, form: 'name', names, text };
}

/** The column that distinguishes rows with the same name by the row within which they have it. */
function ownerColumn({ form, names, attribute }: Column, money: Money): readonly Column[] {
  if (form !== 'name' || names === undefined) return [];
  const { within } = namingOf(names);
  return columnsOf(KINDS[names], money)
    .filter((column) => column.form === 'name' && column.attribute === within)
    .map((column) => ({
      ...column,
      attribute,
      form: 'owner',
      text: (row, view) => {
        const named = view.get<KindName>(names, row[attribute] ?? null);
        return named === undefined ? '' : column.text(named, view);
      },
    }));
}

/** `Electronics > Phones`; empty for none. */
function categoryPath(id: Scalar, view: View): string {
  return pathText(withAncestors(id, view).map(({ name }) => name));
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
