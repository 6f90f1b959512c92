/** The rows of a collection as they were before an import changed them (spec 12.9). */
import type { Kind, Row } from '../../../model/kind.ts';
import { isNested } from '../../../model/relations.ts';
import { lookupIn } from '../../../model/rows.ts';
import type { View } from '../../../store/view.ts';

export class RowsBefore {
  readonly #kind: Kind;
  readonly #rows = new Map<number, Row>();

  /** @param kind of the rows that the import writes. */
  constructor(kind: Kind) {
    this.#kind = kind;
  }

  /** Call this before a row of the kind is changed. @param row as it is until then. */
  add(row: Row): void {
    // Of other kinds no cell shows the name of a row of the same kind.
    if (isNested(this.#kind)) this.#rows.set(row.id, row);
  }

  /** @returns a view as it would be without the changes of the import. */
  in(view: View): View {
    if (this.#rows.size === 0) return view;
    const get = lookupIn((kind, id) => {
      const before = kind === this.#kind.name ? this.#rows.get(Number(id)) : undefined;
      return before ?? view.get(kind, id);
    });
    return { get, matching: (kind, attribute, value) => view.matching(kind, attribute, value) };
  }
}
