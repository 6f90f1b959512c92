/** A row as clients see it (spec 1.5 to 1.8): its attributes in order, and values of other rows. */
import type { Kind, KindName, ChildrenAttribute, Row, Scalar } from '../model/kind.ts';
import { KINDS } from '../model/kinds.ts';
import { perKind } from '../model/per-kind.ts';
import { existingRow, type RowSource } from '../model/rows.ts';
import { joinOf } from '../model/rules.ts';
import { atOnce } from '../slices.ts';
import type { View } from '../store/view.ts';
import type { ReadableStore } from '../store/readable-store.ts';
import { EntityTagger } from './entity-tag.ts';
import { Representation } from './representation.ts';
import { countOwned, MAX_READ_AT_ONCE, OwnedRows } from './text/owned-rows.ts';
import { isText, visibleAttributes } from './visible-attributes.ts';

type Shown = Scalar | object;

/** How the objects of a kind are built, computed once. */
interface Plan {
  /** Every attribute in the order of the object. */
  readonly names: readonly string[];
  readonly joins: readonly {
    readonly name: string;
    readonly references: KindName;
    readonly foreignKey: string;
    readonly attribute: string;
  }[];
  readonly owned: readonly {
    readonly name: string;
    readonly kind: KindName;
    readonly foreignKey: string;
    /** The attributes that an element shows. */
    readonly attributes: readonly string[];
  }[];
  /** Attributes that hold the JSON text of an object or a list. */
  readonly documents: readonly string[];
}

/** What an object shows of other rows. */
interface Related {
  /** Values of the joined attributes, in the order of the plan. */
  readonly joined: readonly Scalar[];
  /** Rows that belong to it, in the order of the plan. */
  readonly owned: readonly Iterable<Row>[];
}

/** Elements of one part of a text. */
const PART_ELEMENTS = 64;

const PLANS = perKind((kind): Plan => {
  const shown = visibleAttributes(kind);
  return {
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
              foreignKey: declared.foreignKey,
              attributes: elementAttributes(declared),
            },
          ]
        : [],
    ),
    documents: shown.flatMap(([name, declared]) => (isText(declared) ? [name] : [])),
  };
});

/** The row's object, except the rows that belong to it. */
function objectOf(plan: Plan, row: Row, joined: readonly Scalar[]): Record<string, Shown> {
  const object: Record<string, Shown> = {};
  // All names first, for their order, then the values that are not the row's own.
  for (const name of plan.names) object[name] = row[name] ?? null;
  for (const [index, { name }] of plan.joins.entries()) object[name] = joined[index] ?? null;
  for (const name of plan.documents) object[name] = objectIn(row[name] ?? null);
  return object;
}

/**
 * The text of a row that owns few rows, made at once: lists have hardly any other rows, and making
 * it with {@link textParts} would double the cost.
 *
 * @param owned the source of the rows that it owns.
 * @returns null if it owns too many.
 */
function shortText(kind: Kind, row: Row, view: View, owned: RowSource = view): string | null {
  const plan = PLANS[kind.name];
  const object = objectOf(plan, row, joinedIn(kind, row, view));
  for (const { name, kind: child, foreignKey, attributes } of plan.owned) {
    const elements: Element[] = [];
    for (const id of view.matching(child, foreignKey, row.id)) {
      if (elements.length === PART_ELEMENTS) return null;
      elements.push(elementOf(attributes, existingRow<KindName>(owned, child, id)));
    }
    object[name] = elements;
  }
  return JSON.stringify(object);
}

/** The row's object as JSON text, in parts that are short unless the row itself is long. */
function* textParts(kind: Kind, row: Row, { joined, owned }: Related): Generator<string, void> {
  const plan = PLANS[kind.name];
  const object = objectOf(plan, row, joined);
  const long = new Map<string, Generator<Element[], void>>();
  for (const [index, { name, attributes }] of plan.owned.entries()) {
    const parts = elementsOf(attributes, owned[index] ?? []);
    const first = parts.next().value ?? [];
    object[name] = first;
    if (first.length === PART_ELEMENTS) long.set(name, parts);
  }
  if (long.size === 0) return yield JSON.stringify(object);
  let separator = '{';
  for (const name of plan.names) {
    const rest = long.get(name);
    const text = JSON.stringify(object[name]);
    yield `${separator}${JSON.stringify(name)}:${rest === undefined ? text : text.slice(0, -1)}`;
    separator = ',';
    if (rest === undefined) continue;
    for (const elements of rest) yield `,${JSON.stringify(elements).slice(1, -1)}`;
    yield ']';
  }
  yield '}';
}

function objectIn(text: Scalar): object | null {
  return typeof text === 'string' ? (JSON.parse(text) as object) : null;
}

type Element = Readonly<Record<string, Scalar>>;

function elementOf(attributes: readonly string[], record: Row): Element {
  const element: Record<string, Scalar> = {};
  for (const attribute of attributes) element[attribute] = record[attribute] ?? null;
  return element;
}

/** Yields the elements as clients see them, in batches that are never empty. */
function* elementsOf(
  attributes: readonly string[],
  records: Iterable<Row>,
): Generator<Element[], void> {
  let elements: Element[] = [];
  for (const record of records) {
    elements.push(elementOf(attributes, record));
    if (elements.length < PART_ELEMENTS) continue;
    yield elements;
    elements = [];
  }
  if (elements.length > 0) yield elements;
}

/** What the object shows of other rows; the rows that it owns are looked up as they are read. */
function relatedIn(kind: Kind, row: Row, view: View): Related {
  return {
    joined: joinedIn(kind, row, view),
    owned: PLANS[kind.name].owned.map(({ kind: child, foreignKey }) => ({
      *[Symbol.iterator]() {
        for (const id of view.matching(child, foreignKey, row.id)) {
          yield existingRow<KindName>(view, child, id);
        }
      },
    })),
  };
}

function joinedIn(kind: Kind, row: Row, view: View): Scalar[] {
  return PLANS[kind.name].joins.map(({ references, foreignKey, attribute }) => {
    const joined: Row | undefined = view.get(references, row[foreignKey] ?? null);
    return joined?.[attribute] ?? null;
  });
}

/** The same as of the time of the call, whatever is committed later. */
function relatedNow(kind: Kind, row: Row, store: ReadableStore, owned: OwnedRows): Related {
  return {
    joined: joinedIn(kind, row, store),
    owned: PLANS[kind.name].owned.map(({ kind: child, foreignKey }) =>
      owned.of(child, foreignKey, row),
    ),
  };
}

/** The row as clients see it; null if it owns so many rows that it has to be made in steps. */
export function representAtOnce(kind: Kind, row: Row, store: ReadableStore): Representation | null {
  // Only the text is cached, so the rows that it shows need not be kept as objects.
  const text = shortText(kind, row, store, { get: (child, id) => store.peek(child, id) });
  if (text !== null) return new Representation(text);
  const isLong = PLANS[kind.name].owned.some(
    ({ kind: child, foreignKey }) => countOwned(child, foreignKey, row, store) > MAX_READ_AT_ONCE,
  );
  return isLong ? null : atOnce(joinedParts(textParts(kind, row, relatedIn(kind, row, store))));
}

/** The row as clients see it. */
export function represent(kind: Kind, row: Row, view: View): Representation {
  return atOnce(representInParts(kind, row, view));
}

/** The same in steps. The state that the view shows must not change between them. */
export function* representInParts(
  kind: Kind,
  row: Row,
  view: View,
): Generator<undefined, Representation> {
  const text = shortText(kind, row, view);
  if (text !== null) return new Representation(text);
  return yield* joinedParts(textParts(kind, row, relatedIn(kind, row, view)));
}

/** A committed row as of the call, as clients see it, in steps between which commits may happen. */
export function representNow(
  kind: Kind,
  row: Row,
  store: ReadableStore,
): Generator<undefined, Representation> {
  return joinedParts(textParts(kind, row, relatedNow(kind, row, store, new OwnedRows(store))));
}

function* joinedParts(parts: Iterable<string>): Generator<undefined, Representation> {
  const texts: string[] = [];
  const tag = new EntityTagger();
  for (const part of parts) {
    if (texts.length > 0) {
      if (texts.length === 1) tag.update(texts[0] ?? '');
      tag.update(part);
    }
    texts.push(part);
    yield;
  }
  return new Representation(texts.join(''), texts.length > 1 ? tag.tag() : null);
}

/**
 * The JSON texts of rows in parts, made on demand. What they show of other rows is read now, so
 * that later changes do not show.
 *
 * @param rows read to their end now if their objects show anything of other rows.
 */
export function representAll(
  kind: Kind,
  rows: Iterable<Row>,
  store: ReadableStore,
): Iterable<Iterable<string>> {
  const { joins, owned } = PLANS[kind.name];
  if (joins.length === 0 && owned.length === 0) {
    return {
      *[Symbol.iterator]() {
        for (const row of rows) yield textParts(kind, row, ALONE);
      },
    };
  }
  const reads = new OwnedRows(store);
  const given = Array.from(rows, (row) => ({ row, related: relatedNow(kind, row, store, reads) }));
  return {
    *[Symbol.iterator]() {
      for (const { row, related } of given) yield textParts(kind, row, related);
    },
  };
}

const ALONE: Related = { joined: [], owned: [] };

function elementAttributes({ kind }: ChildrenAttribute): string[] {
  return visibleAttributes(KINDS[kind]).flatMap(([name, { role }]) =>
    role === 'id' ? [] : [name],
  );
}
