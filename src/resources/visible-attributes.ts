/** Which attributes of a kind clients see. */
import type { Attribute, Kind } from '../model/kind.ts';
import { perKind } from '../model/per-kind.ts';

/** The attributes that clients see: all but the internal ones and those that the path gives. */
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

/** Whether rows keep the JSON text of the value that objects show. */
export function isText(declared: Attribute): boolean {
  return declared.role === 'document' || (declared.role === 'input' && declared.isList === true);
}
