/**
 * Reports of imports that have ended, while the disk refuses them (spec 12.10). They are kept in
 * memory, and every call of {@link UnsavedReports.save} tries to save all of them.
 */
import type { ImportState } from './import-state.ts';

/** A report that does not change any more. */
export type EndedReport = Pick<ImportState, 'text' | 'moment'>;

interface Options {
  /** Saves the JSON text of a report. */
  readonly save: (id: number, text: string) => Promise<void>;
  /** Called once for each attempt to save all of them that fails. */
  readonly onError: (error: unknown) => void;
}

export class UnsavedReports {
  readonly #options: Options;
  readonly #reports = new Map<number, EndedReport>();

  constructor(options: Options) {
    this.#options = options;
  }

  get(id: number): EndedReport | undefined {
    return this.#reports.get(id);
  }

  /** Keeps a report until it is saved. */
  add(id: number, report: EndedReport): void {
    this.#reports.set(id, report);
  }

  /** Call this when an import is not kept any more. */
  forget(id: number): void {
    this.#reports.delete(id);
  }

  /** Saves all of them, if the disk takes them. Never rejects. */
  async save(): Promise<void> {
    const { save, onError } = this.#options;
    let failure: unknown;
    for (const [id, report] of this.#reports) {
      try {
        await save(id, report.text);
        this.#reports.delete(id);
      } catch (error) {
        failure = error;
      }
    }
    if (failure !== undefined) onError(failure);
  }
}
