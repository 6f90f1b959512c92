/** Which attributes of a kind clients see. */
import type { Attribute, Kind } from '../model/kind.ts';
import { perKind } from '../model/per-kind.ts';

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

/** Whether rows keep the JSON text of what objects show. */
export function isText(declared: Attribute): boolean {
  return declared.role === 'document' || (declared.role === 'input' && declared.isList === true);
}
