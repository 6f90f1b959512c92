/** What a commit does to one row. */
import type { KindName } from './kind.ts';
import type { RowOf } from './rows.ts';

interface ChangeOf<K extends KindName> {
  readonly kind: K;
  readonly id: number;
  readonly before: RowOf<K> | null;
  readonly after: RowOf<K> | null;
}

/** One row before and after a commit; null if there is no row. */
export type Change = { readonly [K in KindName]: ChangeOf<K> }[KindName];

/** A change of a row of any kind. */
export function changeOf<K extends KindName>(
  kind: K,
  id: number,
  before: RowOf<K> | null,
  after: RowOf<K> | null,
): Change {
  return { kind, id, before, after } as Change;
}
