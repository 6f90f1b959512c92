/** The types of rows and of what clients send, inferred from the declarations in kinds.ts. */
import type * as v from 'valibot';
import type { KindName, Row, Scalar } from './kind.ts';
import type { Declarations } from './kinds.ts';
import type { ValueSchema } from './schemas.ts';

type Attributes<K extends KindName> = Declarations[K]['attributes'];

type StoredRole = 'id' | 'input' | 'serverSet' | 'document' | 'internal';

type NamesWith<A, Role> = {
  [N in keyof A]: A[N] extends { readonly role: Role } ? N : never;
}[keyof A];

/** `''` declares a string, `0` a number. */
type Widened<T> = T extends string ? string : T extends number ? number : T;

type ValueOf<A> = A extends { readonly schema: infer S extends ValueSchema }
  ? v.InferOutput<S>
  : A extends { readonly initial: infer I }
    ? Widened<I>
    : number;

/** The stored row of a kind. For any kind, as in code that serves them all, it is {@link Row}. */
export type RowOf<K extends KindName> = KindName extends K
  ? Row
  : K extends KindName
    ? { readonly [N in NamesWith<Attributes<K>, StoredRole>]: ValueOf<Attributes<K>[N]> }
    : never;

/** The attributes that a client sets, by the names under which they are stored. */
export type InputOf<K extends KindName> = KindName extends K
  ? Readonly<Record<string, Scalar>>
  : K extends KindName
    ? { readonly [N in NamesWith<Attributes<K>, 'input'>]: ValueOf<Attributes<K>[N]> }
    : never;

/** Reads one row as of some state; `undefined` if there is none. */
export type Lookup = <K extends KindName>(kind: K, id: Scalar) => RowOf<K> | undefined;

/**
 * A lookup over rows whose type the compiler does not know: they were checked before being stored.
 *
 * @param read finds a row of the given kind.
 */
export function lookupIn(read: (kind: KindName, id: Scalar) => Row | undefined): Lookup {
  return <K extends KindName>(kind: K, id: Scalar) => read(kind, id) as RowOf<K> | undefined;
}

export interface RowSource {
  /** The row, or undefined if there is none. */
  get<K extends KindName>(kind: K, id: Scalar): RowOf<K> | undefined;
}

/**
 * A row whose id comes from an index or a reference.
 *
 * @throws Error if there is no such row: the index contradicts its table.
 */
export function existingRow<K extends KindName>(source: RowSource, kind: K, id: number): RowOf<K> {
  const row = source.get(kind, id);
  if (row === undefined) throw new Error(`an index names ${kind} ${id}, which does not exist`);
  return row;
}
