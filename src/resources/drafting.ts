/** What a write would do, with every check of a write, without doing it. */
import type { Change } from '../model/change.ts';
import type { Kind } from '../model/kind.ts';
import { soughtByWrite } from '../model/relations.ts';
import { inSlices } from '../slices.ts';
import { Draft } from '../store/writer/draft.ts';
import type { Store } from '../store/store.ts';
import { requireTargets } from './bulk.ts';
import { parseInput, parseOneUpdate, type PatchMode } from './input.ts';
import { change, insert } from './rows.ts';

/** A row that would be written, and all changes of the write. */
export interface DraftedWrite {
  readonly id: number;
  readonly changes: readonly Change[];
}

/**
 * Parses a creation, or a change if the object has an `id`.
 *
 * @param mode of a change.
 * @throws CatalogError `invalid`.
 */
export async function parseDraft(kind: Kind, body: unknown, mode: PatchMode) {
  const update = await inSlices(parseOneUpdate(kind, body, mode));
  const input = update?.input ?? (await inSlices(parseInput(kind, body, 'whole')));
  return { update, input };
}

/**
 * Checks an object as a creation does, or as a change of a row does if it has an `id`.
 *
 * @param body parsed JSON.
 * @param mode of a change.
 * @throws CatalogError `invalid`, `integrity`.
 */
export async function draftWrite(
  store: Pick<Store, 'freeze' | 'prepareIndexes'>,
  kind: Kind,
  body: unknown,
  mode: PatchMode,
): Promise<DraftedWrite> {
  const { update, input } = await parseDraft(kind, body, mode);
  await store.prepareIndexes(soughtByWrite(kind.name));
  const view = store.freeze();
  try {
    return await inSlices(
      new Draft(view).runInParts(function* (transaction) {
        let id: number;
        if (update === null) {
          ({ id } = yield* insert(transaction, { kind, parent: null }, input));
        } else {
          id = update.id;
          const [target] = requireTargets(kind, [update], transaction, () => '');
          if (target !== undefined) yield* change(transaction, kind, target.row, input);
        }
        return { id, changes: [...transaction.written()] };
      }),
    );
  } finally {
    view.close();
  }
}
