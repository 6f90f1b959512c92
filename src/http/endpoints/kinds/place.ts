/** Where the rows of a kind are found: at their own path, or below the path of a parent. */
import type { Role } from '../../../auth/roles.ts';
import type { Kind, Nesting } from '../../../model/kind.ts';
import { KINDS } from '../../../model/kinds.ts';
import type { Address } from '../../../resources/address.ts';
import { idInPath, type PathParameter, PK } from '../../operations/parameters.ts';
import type { Params } from '../../operations/params.ts';
import type { Tag } from '../../operations/path.ts';
import { accessTo } from '../../rules/authorization.ts';
import { capitalised, componentName, withArticle } from './names.ts';

export interface Place {
  readonly kind: Kind;
  /** Null for the path of the kind itself. */
  readonly nesting: Nesting | null;
  /** Whether writing to public collections needs a token. */
  readonly protectBooks: boolean;
}

const CHILD = idInPath('child', 'The id of an item of the nested collection.');

/** The path of the collection, as a template. */
export function templateOf({ kind, nesting }: Place): string {
  if (nesting === null) return kind.path ?? '';
  return `${KINDS[nesting.parent].path}{pk}/${nesting.segment}/`;
}

/** The parameter that names an item of the collection. */
export function itemParameterOf({ nesting }: Place): PathParameter {
  return nesting === null ? PK : CHILD;
}

/** The parameters of the path of the collection. */
export function parametersOf({ nesting }: Place): readonly PathParameter[] {
  return nesting === null ? [] : [PK];
}

/** Reads the address of the collection from the parameters of a path. */
export function addressing({ kind, nesting }: Place): (params: Params) => Address {
  if (nesting === null) {
    const address: Address = { kind, parent: null };
    return () => address;
  }
  return (params) => ({ kind, parent: { nesting, id: params.id('pk') } });
}

/** @returns the lowest role that may use a method here (spec 6.5); null if no token is needed. */
export function roleFor({ kind, protectBooks }: Place, method: string): Role | null {
  return accessTo(kind, method, protectBooks);
}

/** Ids and summaries: "SkuListOfSpu", "SKUs of an SPU". */
export function namesOf({ kind, nesting }: Place, many: '' | 'List') {
  const parent = nesting === null ? null : KINDS[nesting.parent];
  const what = many === 'List' ? kind.plural : withArticle(kind.label);
  return {
    name: `${componentName(kind)}${many}${parent === null ? '' : `Of${componentName(parent)}`}`,
    about: `${what}${parent === null ? '' : ` of ${withArticle(parent.label)}`}`,
  };
}

/** The tag of a kind's operations; a kind without its own path has the tag of its parent. */
export function tagOf({ kind, nesting, protectBooks }: Place): Tag {
  const shown = kind.path === null && nesting !== null ? KINDS[nesting.parent] : kind;
  const { plural, path, public: open, adminOnly } = shown;
  const asked = protectBooks ? 'Writing needs a token.' : 'No token is needed.';
  const token = adminOnly ? 'a token with the role `admin`' : 'a token';
  const who = open ? asked : `Needs ${token}.`;
  return { name: plural, description: `${capitalised(plural)}, at \`${path}\`. ${who}` };
}
