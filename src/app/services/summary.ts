/** What a person should see of the catalog at a glance (spec 13.3): counts and warnings. */
import type { Summary, SummaryService, Warning } from '../../http/services.ts';
import { COLLECTIONS } from '../../model/kinds.ts';
import { type RecentChange, recentChanges } from '../../resources/audit/recent.ts';
import type { PageQueue } from '../../pages/refresh/queue.ts';
import type { Store } from '../../store/store.ts';

const RECENT_CHANGES = 20;

/** Milliseconds after which a backup is too old. */
const BACKUP_MS = 7 * 24 * 3_600_000;

/** Free bytes below which any disk counts as nearly full. */
const LEAST_SPACE = 1024 ** 3;

/** The same as a multiple of the store: a checkpoint writes a second copy, and pages take space. */
const SPACE_FACTOR = 2;

/** Milliseconds for which results of the file system are reused. */
const CHECK_MS = 10_000;

export interface SummaryOptions {
  readonly store: Pick<Store, 'count' | 'size' | 'get' | 'lastId' | 'sequence'>;
  readonly pages: Pick<PageQueue, 'waiting'> & { readonly retry: { readonly size: number } };
  /** ISO 4217: that of all prices. */
  readonly currency: string;
  /** Bytes that the disk can still take. */
  readonly freeSpace: () => Promise<number>;
  /** When the last backup was made, in milliseconds since the epoch; null if none was made. */
  readonly lastBackup: () => number | null;
  readonly isMemoryScarce: () => boolean;
  /** Why the server is not ready; null if it is. */
  readonly reason: () => string | null;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Called with the error if disk or backup cannot be checked; the summary only says so. */
  readonly onError: (error: unknown) => void;
}

export class Summaries implements SummaryService {
  readonly #options: SummaryOptions;
  /** The last warnings from the file system, and when they were read, by the clock. */
  #checked: { readonly at: number; readonly warnings: Promise<readonly Warning[]> } | null = null;

  constructor(options: SummaryOptions) {
    this.#options = options;
  }

  async read(): Promise<Summary> {
    const { store, pages, currency } = this.#options;
    const counts = COLLECTIONS.flatMap(({ name, published }) =>
      published ? [[name, store.count(name)] as const] : [],
    );
    return {
      counts: Object.fromEntries(counts),
      pages: { waiting: pages.waiting, failed: pages.retry.size },
      store: { bytes: this.#bytes() },
      currency,
      warnings: [...this.#current(), ...(await this.#fromDisk())],
    };
  }

  changes(): readonly RecentChange[] {
    return recentChanges(this.#options.store, RECENT_CHANGES);
  }

  #bytes(): number {
    const { base, changes } = this.#options.store.size;
    return base + changes;
  }

  /** Warnings from the state in memory. */
  #current(): Warning[] {
    const { pages, isMemoryScarce, reason } = this.#options;
    const scarce = isMemoryScarce();
    const refusal = reason();
    const warnings: Warning[] = [];
    if (scarce) {
      warnings.push(warning('memory_scarce', 'Memory is nearly used up: new data is refused.'));
    }
    if (refusal !== null && !scarce) {
      warnings.push(warning('not_ready', `The server is not ready: ${refusal}.`));
    }
    const failing = pages.retry.size;
    if (failing > 0) {
      const what = failing === 1 ? '1 page of the shop' : `${failing} pages of the shop`;
      warnings.push(warning('pages_failing', `${what} cannot be written; the log says why.`));
    }
    return warnings;
  }

  /** Warnings from the file system, read again after {@link CHECK_MS}. */
  #fromDisk(): Promise<readonly Warning[]> {
    const at = this.#options.now();
    if (this.#checked === null || Math.abs(at - this.#checked.at) >= CHECK_MS) {
      this.#checked = { at, warnings: this.#check(at) };
    }
    return this.#checked.warnings;
  }

  async #check(now: number): Promise<readonly Warning[]> {
    return [...(await this.#space()), ...this.#backup(now)];
  }

  async #space(): Promise<Warning[]> {
    const { freeSpace, onError } = this.#options;
    try {
      const free = await freeSpace();
      if (free >= Math.max(LEAST_SPACE, SPACE_FACTOR * this.#bytes())) return [];
      const rest = `${Math.floor(free / 1024 ** 2)} MiB`;
      return [warning('disk_nearly_full', `The disk is nearly full: ${rest} are left.`)];
    } catch (error) {
      onError(error);
      return [warning('disk_unknown', 'The free disk space cannot be determined.')];
    }
  }

  #backup(now: number): Warning[] {
    const { lastBackup, store, onError } = this.#options;
    try {
      const time = lastBackup();
      if (time === null) {
        // An empty store has nothing to lose.
        if (store.sequence === 0) return [];
        return [warning('no_backup', 'No backup has been made yet.')];
      }
      const days = Math.floor((now - time) / (BACKUP_MS / 7));
      if (now - time <= BACKUP_MS) return [];
      return [warning('no_backup', `The last backup was made ${days} days ago.`)];
    } catch (error) {
      onError(error);
      return [warning('backup_unknown', 'The time of the last backup cannot be read.')];
    }
  }
}

function warning(code: string, message: string): Warning {
  return { code, message };
}
