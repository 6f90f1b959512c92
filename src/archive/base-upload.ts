/** Bases of an archive: the whole catalog, written beside the change sets. */
import { CatalogError, messageOf } from '../errors.ts';
import { inTurns } from '../slices.ts';
import type { LogPosition } from '../store/change-log.ts';
import { baseSlices } from '../store/files/base.ts';
import { SCHEMA_VERSION } from '../store/files/schema.ts';
import type { Store } from '../store/store.ts';
import type { ArchiveObjects } from './archive-objects.ts';
import { type ArchivedBase, baseName } from './names.ts';

export class BaseUpload {
  readonly #objects: ArchiveObjects;
  readonly #store: Pick<Store, 'baseSequence' | 'snapshot'>;
  #running: Promise<LogPosition> | null = null;
  /** The newest base in the archive. */
  newest: ArchivedBase | null = null;

  constructor(objects: ArchiveObjects, store: Pick<Store, 'baseSequence' | 'snapshot'>) {
    this.#objects = objects;
    this.#store = store;
  }

  /** Whether the store has had a checkpoint, or a migration, since the newest base. */
  get isMissing(): boolean {
    const { newest } = this;
    if (newest === null || newest.schema !== SCHEMA_VERSION) return true;
    return newest.sequence < this.#store.baseSequence;
  }

  /** Waits until no upload is under way; one that failed has reported it. */
  async settled(): Promise<void> {
    while (this.#running !== null) await this.#running.catch(() => {});
  }

  /**
   * Uploads the current state, after it has waited for an upload that is under way.
   *
   * @returns the position of the base in the history.
   * @throws CatalogError `archive_failed`.
   */
  async upload(): Promise<LogPosition> {
    while (this.#running !== null) await this.settled();
    const running = this.#upload();
    this.#running = running;
    try {
      return await running;
    } finally {
      this.#running = null;
    }
  }

  async #upload(): Promise<LogPosition> {
    const snapshot = this.#store.snapshot();
    const { sequence, digest, time } = snapshot;
    const base = { sequence, schema: SCHEMA_VERSION, time, digest };
    const name = baseName(base);
    try {
      await this.#objects.putBase(name, inTurns(baseSlices(snapshot)));
    } catch (cause) {
      if (cause instanceof CatalogError) throw cause;
      throw new CatalogError('archive_failed', `a base was not archived: ${messageOf(cause)}`, {
        cause,
      });
    }
    this.newest = { ...base, name };
    return { sequence, digest };
  }
}
