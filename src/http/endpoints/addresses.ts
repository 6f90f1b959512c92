/** What the segments of a path name: collections, and what belongs to a parent. */
import type { Kind, Nesting } from '../../model/kind.ts';
import { ALL_KINDS, COLLECTIONS, KINDS } from '../../model/kinds.ts';
import type { Address } from '../../resources/address.ts';

/** Segments of a route's pattern by name. */
export type Params = Readonly<Record<string, string>>;

/** Stands for every number in the shape of a path. */
export const NUMBER = '0';

/** The kind whose collection stands at `/admin/<segment>/`; null where there is none. */
export function adminKind(segment = ''): Kind | null {
  return COLLECTIONS.get(`/admin/${segment}/`) ?? null;
}

/** Nestings by the parent's path and the segment behind the parent's id. */
const NESTINGS: ReadonlyMap<string, readonly [Kind, Nesting]> = new Map(
  ALL_KINDS.flatMap((kind) =>
    kind.nestings.map(
      (nesting) => [`${KINDS[nesting.parent].path}${nesting.segment}`, [kind, nesting]] as const,
    ),
  ),
);

/** The address of what belongs to a parent, by the parent's id in digits. */
export function nestedAddress({
  kind: of,
  pk,
  nested,
}: Params): ((parent?: string) => Address) | null {
  const [kind, nesting] = NESTINGS.get(`/admin/${of}/${nested}`) ?? [];
  if (kind === undefined || nesting === undefined || pk !== NUMBER) return null;
  return (parent) => ({ kind, parent: { nesting, id: Number(parent) } });
}

/** The numbers of a path in their order, in digits. */
export function numbersIn(path: string): readonly string[] {
  return path.match(/\d+/g) ?? [];
}
