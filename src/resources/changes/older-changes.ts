/**
 * Change sets that this host does not keep, or never had because it began with the base of another
 * host. Hosts that share a log find them there.
 */
import { hasCode } from '../../errors.ts';
import type { ChangeSet } from '../../store/change-set.ts';
import { decodeNextBeside } from '../../store/files/change-set-parts.ts';
import type { ChangeSource } from './change-source.ts';

/**
 * Reads some of the change sets after a sequence, at most so many, in order, as they are stored.
 *
 * @throws CatalogError `history_gone` if they are not kept there either; what the network throws.
 */
export type ReadOlder = (after: number, most: number) => Promise<readonly Uint8Array[]>;

/**
 * The change sets after a sequence, up to and including `last`: from this host if it keeps them,
 * otherwise from `readOlder`.
 *
 * @throws CatalogError `history_gone` if they are not kept anywhere; as {@link ChangeSource.after}.
 */
export async function* changesAfter(
  source: Pick<ChangeSource, 'after'>,
  readOlder: ReadOlder,
  sequence: number,
  last: number,
): AsyncGenerator<ChangeSet, void, void> {
  let at = sequence;
  try {
    for await (const changeSet of source.after(at, last)) {
      at = changeSet.sequence;
      yield changeSet;
    }
    return;
  } catch (error) {
    if (!hasCode(error, 'history_gone')) throw error;
  }
  while (at < last) {
    const read = await readOlder(at, last - at);
    if (read.length === 0) return;
    for (const bytes of read) {
      const path = `change set ${at + 1} of the log`;
      yield await decodeNextBeside(path, Buffer.from(bytes), at + 1, null);
      at += 1;
    }
  }
}
