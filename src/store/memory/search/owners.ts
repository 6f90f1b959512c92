/** Where the texts that a search of a kind reads are stored: in its own rows, or in joined ones. */
import type { Attribute, Kind, KindName } from '../../../model/kind.ts';
import { perKind } from '../../../model/per-kind.ts';
import { joinOf } from '../../../model/rules.ts';

export interface Owner {
  readonly kind: KindName;
  readonly attribute: string;
  /** The attribute through which the text is joined; null if it is the row's own. */
  readonly foreignKey: string | null;
}

const SEARCHED = perKind((kind) =>
  Object.entries<Attribute>(kind.attributes).filter(([, declared]) => isSearched(declared)),
);

/** The attributes of a kind whose texts a search reads (spec 4.7), its own and joined ones. */
export function searchedAttributes({ name }: Kind): readonly (readonly [string, Attribute])[] {
  return SEARCHED[name];
}

function isSearched(declared: Attribute): boolean {
  if (declared.role === 'lookup') return true;
  return (declared.role === 'input' || declared.role === 'serverSet') && declared.searched === true;
}

/** Where the text of an attribute is stored. */
function ownerOf(kind: Kind, attribute: string): Owner {
  const declared = kind.attributes[attribute];
  if (declared?.role !== 'lookup') return { kind: kind.name, attribute, foreignKey: null };
  const join = joinOf(kind, declared);
  return { kind: join.references, attribute: join.attribute, foreignKey: declared.foreignKey };
}

/** The texts that a search of a kind reads, the rows' own ones first. */
export function ownersOf(kind: Kind): Owner[] {
  const owners = searchedAttributes(kind).map(([name]) => ownerOf(kind, name));
  const isOwn = ({ foreignKey }: Owner) => foreignKey === null;
  return [...owners.filter(isOwn), ...owners.filter((owner) => !isOwn(owner))];
}

/** The attributes through which a kind joins texts of another. */
export function joinsTo(kind: Kind, ownerKind: KindName): string[] {
  return ownersOf(kind).flatMap(({ kind: owner, foreignKey }) =>
    foreignKey !== null && owner === ownerKind ? [foreignKey] : [],
  );
}

/** Whether changes of rows of one kind may change which rows of another match. */
export function concerns(kind: Kind, changed: KindName): boolean {
  return kind.name === changed || joinsTo(kind, changed).length > 0;
}

/** The references of a kind through which a search follows texts of other rows. */
export function foreignKeysOf(kind: Kind): string[] {
  return ownersOf(kind).flatMap(({ foreignKey }) => foreignKey ?? []);
}
