/** When the manifest is written: not too often, and only if the state or the files are others. */
import type { LogPosition } from '../../store/change-log.ts';
import type { PageMaker, PageResult } from '../writer/page-writer.ts';

/** Minimum milliseconds between two writes while the server runs. */
const INTERVAL_MS = 60_000;

export class ManifestSaves {
  readonly #maker: Pick<PageMaker, 'save'>;
  readonly #onError: (error: unknown) => void;
  #savedAt = Number.NEGATIVE_INFINITY;
  /** The sequence of the state that the manifest names; null if it names none or is out of date. */
  #sequence: number | null = null;

  /** @param onError called if the manifest cannot be written; the next start takes longer. */
  constructor(maker: Pick<PageMaker, 'save'>, onError: (error: unknown) => void) {
    this.#maker = maker;
    this.#onError = onError;
  }

  /** Whether the last write was long enough ago. */
  get isDue(): boolean {
    return performance.now() - this.#savedAt > INTERVAL_MS;
  }

  /** Call it for all pages that were made: written files have other stats than the manifest. */
  note(results: readonly PageResult[]): void {
    if (results.some((result) => result !== 'unchanged')) this.#sequence = null;
  }

  /** Never rejects. @param state of which every page is made; null if some still wait. */
  async save(state: LogPosition | null): Promise<void> {
    if (state !== null && state.sequence === this.#sequence) return;
    this.#savedAt = performance.now();
    const keep = () => (this.#sequence = state?.sequence ?? null);
    await this.#maker.save(state).then(keep, this.#onError);
  }
}
