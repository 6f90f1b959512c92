/** Rows in memory, as what reads them sees a store. */
import type { KindName, Row } from '../../src/model/kind.ts';
import type { View } from '../../src/store/draft.ts';

export type Rows = Readonly<Partial<Record<KindName, readonly Row[]>>>;

export function viewOf(rows: Rows): View {
  return {
    get: (kind, id) => rows[kind]?.find((row) => row.id === id),
    matching: (kind, attribute, value) =>
      (rows[kind] ?? []).filter((row) => row[attribute] === value).map(({ id }) => id),
  };
}
