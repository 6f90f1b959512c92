/** The rows that one commit changes, by kind and by id. */
import type { Change } from '../../model/change.ts';
import type { KindName, Row, Scalar } from '../../model/kind.ts';

/** The changes of a commit, and the rows that move with them without a change of their own. */
export class ChangedRows {
  readonly byKind: ReadonlyMap<KindName, readonly Change[]>;
  readonly #byId = new Map<KindName, Map<number, Change | null>>();

  constructor(changes: readonly Change[]) {
    this.byKind = byKind(changes);
  }

  /** @returns undefined if the row does not change. */
  get(kind: KindName, id: Scalar): Change | undefined {
    return (typeof id === 'number' ? this.#of(kind).get(id) : undefined) ?? undefined;
  }

  /** Notes a row that moves without a change. @returns false if it was noted or changes. */
  add(kind: KindName, id: number): boolean {
    const ids = this.#of(kind);
    if (ids.has(id)) return false;
    ids.set(id, null);
    return true;
  }

  #of(kind: KindName): Map<number, Change | null> {
    let ids = this.#byId.get(kind);
    if (ids === undefined) {
      ids = new Map((this.byKind.get(kind) ?? []).map((change) => [change.id, change]));
      this.#byId.set(kind, ids);
    }
    return ids;
  }
}

/** The changes of each kind, in their order. */
export function byKind(changes: readonly Change[]): Map<KindName, Change[]> {
  return Map.groupBy(changes, ({ kind }) => kind);
}

/** Whether a change modifies an attribute of a row that exists before and after it. */
export function differs({ before, after }: Change, attribute: string): boolean {
  const old: Row | null = before;
  const now: Row | null = after;
  return old !== null && now !== null && old[attribute] !== now[attribute];
}
