/** A catalog as it would be after a few changes that are not committed. */
import type { Change } from '../../model/change.ts';
import type { KindName, Row, Scalar } from '../../model/kind.ts';
import type { RowOf } from '../../model/rows.ts';
import type { Page, Selection } from '../../store/memory/selection.ts';
import type { ShownRows } from './catalog.ts';

/**
 * Applies changes to the results of `get`, and of `select` by ascending or descending id, which
 * is how pages read lists. The extra cost of a selection is linear in the number of changes.
 */
export class OverlaidCatalog implements ShownRows {
  readonly #catalog: ShownRows;
  readonly #changed = new Map<KindName, Map<number, Row | null>>();

  constructor(catalog: ShownRows, changes: readonly Change[]) {
    this.#catalog = catalog;
    for (const { kind, id, after } of changes) {
      const rows = this.#changed.get(kind) ?? new Map<number, Row | null>();
      this.#changed.set(kind, rows.set(id, after));
    }
  }

  get<K extends KindName>(kind: K, id: Scalar): RowOf<K> | undefined {
    const changed = typeof id === 'number' ? this.#changed.get(kind)?.get(id) : undefined;
    if (changed === undefined) return this.#catalog.get(kind, id);
    // The changed rows of a kind are of that kind.
    return (changed ?? undefined) as RowOf<K> | undefined;
  }

  peek<K extends KindName>(kind: K, id: Scalar): RowOf<K> | undefined {
    return this.get(kind, id);
  }

  /** @throws Error if the selection is not sorted by id. */
  select(kind: KindName, selection: Selection): Pick<Page, 'ids'> {
    const changed = this.#changed.get(kind);
    if (changed === undefined) return this.#catalog.select(kind, selection);
    const { filters, sortby, order, offset, limit } = selection;
    if (sortby !== 'id') throw new Error('changes are laid over lists by id alone');
    const reach = { ...selection, offset: 0, limit: offset + limit + changed.size };
    const stayed = this.#catalog.select(kind, reach).ids.filter((id) => !changed.has(id));
    const isSelected = (row: Row) => filters.every(([name, value]) => row[name] === value);
    const added = [...changed].flatMap(([id, row]) =>
      row !== null && isSelected(row) ? [id] : [],
    );
    const sign = order === 'asc' ? 1 : -1;
    const ids = [...stayed, ...added].sort((a, b) => sign * (a - b));
    return { ids: ids.slice(offset, offset + limit) };
  }
}
