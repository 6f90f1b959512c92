/** A row as clients see it (SPEC 2): its attributes in order, joined and owned ones filled in. */
import type { Attribute, Kind, KindName, Row, Scalar } from '../model/kind.ts';
import { KINDS } from '../model/kinds.ts';
import { joinOf } from '../model/rules.ts';
import type { View } from '../store/draft.ts';

type Shown = Scalar | readonly Readonly<Record<string, Scalar>>[];

/** One attribute of the object. */
type Reader = (row: Row, view: View) => Shown;

export interface Representation {
  /** JSON text of the object. */
  readonly text: string;
  /** Strong entity tag, quotes included (RFC 9110, section 8.8.3). */
  readonly etag: string;
}

const readers = new Map<KindName, readonly (readonly [string, Reader])[]>();

/** The row's object as JSON text. */
export function textOf(kind: Kind, row: Row, view: View): string {
  const object: Record<string, Shown> = {};
  for (const [name, read] of readersOf(kind)) object[name] = read(row, view);
  return JSON.stringify(object);
}

/** The row's object with its entity tag, which changes whenever the text does. */
export function represent(kind: Kind, row: Row, view: View): Representation {
  const text = textOf(kind, row, view);
  return { text, etag: `"${Bun.hash.xxHash64(text).toString(36)}"` };
}

/** Attributes that a client sees; what the path says is not among them. */
export function visibleAttributes(kind: Kind): (readonly [string, Attribute])[] {
  return Object.entries(kind.attributes).filter(
    ([, declared]) => !(declared.role === 'written' && declared.fromPath),
  );
}

/** Attributes with one value, by which a collection can be sorted. */
export function scalarAttributes(kind: Kind): string[] {
  return visibleAttributes(kind).flatMap(([name, { role }]) => (role === 'owned' ? [] : [name]));
}

function readersOf(kind: Kind): readonly (readonly [string, Reader])[] {
  let found = readers.get(kind.name);
  if (found === undefined) {
    found = visibleAttributes(kind).map(([name, declared]) => [name, reader(kind, name, declared)]);
    readers.set(kind.name, found);
  }
  return found;
}

function reader(kind: Kind, name: string, declared: Attribute): Reader {
  if (declared.role === 'joined') {
    const { references, through, attribute } = joinOf(kind, declared);
    return (row, view) => view.get(references, row[through] ?? null)?.[attribute] ?? null;
  }
  if (declared.role !== 'owned') return (row) => row[name] ?? null;

  const owned = KINDS[declared.kind];
  const shown = visibleAttributes(owned).flatMap(([attribute, { role }]) =>
    role === 'id' ? [] : [attribute],
  );
  return (row, view) => {
    const elements: Record<string, Scalar>[] = [];
    for (const id of view.matching(owned.name, declared.through, row.id)) {
      const record = view.get(owned.name, id);
      const element: Record<string, Scalar> = {};
      for (const attribute of shown) element[attribute] = record?.[attribute] ?? null;
      elements.push(element);
    }
    return elements;
  };
}
