/** Where the texts that a search of a kind reads are stored: in its own rows, or in joined ones. */
import type { Attribute, Kind, KindName } from '../../../model/kind.ts';
import { perKind } from '../../../model/per-kind.ts';
import { joinOf } from '../../../model/rules.ts';

export interface SearchedText {
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
function searchedText(kind: Kind, attribute: string): SearchedText {
  const declared = kind.attributes[attribute];
  if (declared?.role !== 'lookup') return { kind: kind.name, attribute, foreignKey: null };
  const join = joinOf(kind, declared);
  return { kind: join.references, attribute: join.attribute, foreignKey: declared.foreignKey };
}

/** The texts that a search of a kind reads, the rows' own ones first. */
export function searchedTextsOf(kind: Kind): SearchedText[] {
  const texts = searchedAttributes(kind).map(([name]) => searchedText(kind, name));
  const isOwn = ({ foreignKey }: SearchedText) => foreignKey === null;
  return [...texts.filter(isOwn), ...texts.filter((text) => !isOwn(text))];
}

/** The attributes through which a kind joins texts of another. */
export function joinsTo(kind: Kind, joined: KindName): string[] {
  return searchedTextsOf(kind).flatMap(({ kind: stored, foreignKey }) =>
    foreignKey !== null && stored === joined ? [foreignKey] : [],
  );
}

/** Whether changes of rows of one kind may change which rows of another match. */
export function concerns(kind: Kind, changed: KindName): boolean {
  return kind.name === changed || joinsTo(kind, changed).length > 0;
}

/** The references of a kind through which a search follows texts of other rows. */
export function foreignKeysOf(kind: Kind): string[] {
  return searchedTextsOf(kind).flatMap(({ foreignKey }) => foreignKey ?? []);
}
