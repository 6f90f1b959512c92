/** A row as clients see it (spec 1.5 to 1.8): its attributes in order, those not its own filled in. */
import type { Attribute, Kind, KindName, ChildrenAttribute, Row, Scalar } from '../model/kind.ts';
import { KINDS } from '../model/kinds.ts';
import { perKind } from '../model/per-kind.ts';
import { existingRow, lookupIn } from '../model/rows.ts';
import { joinOf } from '../model/rules.ts';
import type { View } from '../store/view.ts';
import { atOnce } from '../slices.ts';
import { entityTag } from './entity-tag.ts';

type Shown = Scalar | object;

/** How the objects of a kind are put together, worked out once. */
interface Plan {
  /** Every attribute in the order of the object. */
  readonly names: readonly string[];
  readonly joins: readonly {
    readonly name: string;
    readonly references: KindName;
    readonly through: string;
    readonly attribute: string;
  }[];
  readonly owned: readonly {
    readonly name: string;
    readonly kind: KindName;
    readonly through: string;
    /** What an element shows. */
    readonly attributes: readonly string[];
  }[];
  /** Attributes whose text is an object or a list. */
  readonly documents: readonly string[];
}

/** An object as clients see it. */
export class Representation {
  /** JSON text of the object. */
  readonly text: string;
  #etag: string | null = null;

  constructor(text: string) {
    this.text = text;
  }

  /** See {@link entityTag}. It is made when it is first asked for: lists need none. */
  get etag(): string {
    return (this.#etag ??= entityTag(this.text));
  }
}

const plans = new Map<KindName, Plan>();

/** The row's object as JSON text. Yields between the rows that belong to it. */
function* textOf(kind: Kind, row: Row, view: View): Generator<undefined, string> {
  const { names, joins, owned, documents } = planOf(kind);
  const object: Record<string, Shown> = {};
  // First every name in its place, then what is not the row's own.
  for (const name of names) object[name] = row[name] ?? null;
  for (const { name, references, through, attribute } of joins) {
    object[name] = view.get(references, row[through] ?? null)?.[attribute] ?? null;
  }
  for (const each of owned) object[each.name] = yield* elementsOf(each, row, view);
  for (const name of documents) object[name] = objectIn(row[name] ?? null);
  return JSON.stringify(object);
}

/** Whether rows keep the JSON text of what objects show. */
function isText(declared: Attribute): boolean {
  return declared.role === 'document' || (declared.role === 'input' && declared.isList === true);
}

function objectIn(text: Scalar): object | null {
  return typeof text === 'string' ? (JSON.parse(text) as object) : null;
}

function* elementsOf(
  { kind, through, attributes }: Plan['owned'][number],
  row: Row,
  view: View,
): Generator<undefined, Record<string, Scalar>[]> {
  const elements: Record<string, Scalar>[] = [];
  for (const id of view.matching(kind, through, row.id)) {
    const record = existingRow(view, kind, id);
    const element: Record<string, Scalar> = {};
    for (const attribute of attributes) element[attribute] = record[attribute] ?? null;
    elements.push(element);
    yield;
  }
  return elements;
}

/** The row as clients see it. */
export function represent(kind: Kind, row: Row, view: View): Representation {
  return atOnce(representInParts(kind, row, view));
}

/** The same in steps, between which what the view shows must not change. */
export function* representInParts(
  kind: Kind,
  row: Row,
  view: View,
): Generator<undefined, Representation> {
  return new Representation(yield* textOf(kind, row, view));
}

/**
 * The JSON texts of rows, made as they are asked for. What they show of other rows is read now, so
 * that later changes do not show.
 *
 * @param rows read to their end now if their objects show anything of other rows.
 */
export function representAll(kind: Kind, rows: Iterable<Row>, view: View): Iterable<string> {
  const { joins, owned } = planOf(kind);
  const alone = joins.length === 0 && owned.length === 0;
  const given = alone ? rows : [...rows];
  const source = alone ? view : frozenView(kind, given, view);
  return {
    *[Symbol.iterator]() {
      for (const row of given) yield atOnce(textOf(kind, row, source));
    },
  };
}

/** What the objects of rows show of other rows, as it is now. */
function frozenView(kind: Kind, rows: Iterable<Row>, view: View): View {
  const { joins, owned } = planOf(kind);
  const found = new Map<string, Row | undefined>();
  const children = new Map<string, readonly number[]>();
  const keep = (name: KindName, id: Scalar) => found.set(`${name} ${id}`, view.get(name, id));
  for (const row of rows) {
    for (const { references, through } of joins) keep(references, row[through] ?? null);
    for (const { kind: child, through } of owned) {
      const ids = [...view.matching(child, through, row.id)];
      children.set(`${child} ${through} ${row.id}`, ids);
      for (const id of ids) keep(child, id);
    }
  }
  return {
    get: lookupIn((name, id) => found.get(`${name} ${id}`)),
    matching: (child, through, id) => children.get(`${child} ${through} ${id}`) ?? [],
  };
}

/** Attributes that a client sees; what the path says is not among them, nor what is internal. */
export function visibleAttributes({ name }: Kind): readonly (readonly [string, Attribute])[] {
  return VISIBLE[name];
}

const VISIBLE = perKind((kind) =>
  Object.entries<Attribute>(kind.attributes).filter(
    ([, declared]) =>
      declared.role !== 'internal' && !(declared.role === 'input' && declared.fromPath),
  ),
);

/** Attributes with one value, by which a collection can be sorted. */
export function scalarAttributes(kind: Kind): string[] {
  return visibleAttributes(kind).flatMap(([name, declared]) =>
    declared.role === 'children' || isText(declared) ? [] : [name],
  );
}

function planOf(kind: Kind): Plan {
  let plan = plans.get(kind.name);
  if (plan === undefined) {
    const shown = visibleAttributes(kind);
    plan = {
      names: shown.map(([name]) => name),
      joins: shown.flatMap(([name, declared]) =>
        declared.role === 'lookup' ? [{ name, ...joinOf(kind, declared) }] : [],
      ),
      owned: shown.flatMap(([name, declared]) =>
        declared.role === 'children'
          ? [
              {
                name,
                kind: declared.kind,
                through: declared.foreignKey,
                attributes: elementAttributes(declared),
              },
            ]
          : [],
      ),
      documents: shown.flatMap(([name, declared]) => (isText(declared) ? [name] : [])),
    };
    plans.set(kind.name, plan);
  }
  return plan;
}

function elementAttributes({ kind }: ChildrenAttribute): string[] {
  return visibleAttributes(KINDS[kind]).flatMap(([name, { role }]) =>
    role === 'id' ? [] : [name],
  );
}
