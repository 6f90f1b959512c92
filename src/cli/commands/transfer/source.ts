/** The file that `import` reads, and its other settings. */
import type { Context } from '../../../app/context.ts';
import { limitedFile, readInTurns } from '../../../app/imports/import-files.ts';
import { REPEATED_SIGNAL_MS } from '../../../app/signals.ts';
import { type Delay, delayed } from '../../../delay.ts';
import { CatalogError } from '../../../errors.ts';
import type { Format } from '../../../resources/transfer/formats.ts';
import type { ImportProgress } from '../../../resources/transfer/import-state.ts';
import type { ImportTask } from '../../../resources/transfer/rows/matching.ts';
import { NAME_ONE, readInput, STANDARD_STREAM } from '../../standard-stream.ts';

export interface ImportSettings extends ImportTask {
  readonly data: string;
  /** A path, or {@link STANDARD_STREAM}. */
  readonly file: string;
  readonly format: Format;
  /** ISO 4217; null for that of the last server. */
  readonly currency: string | null;
}

/** Shows the progress of an import. */
export type Show = (progress: ImportProgress) => void;

/** The bytes of a file. Those of standard input can be read once. */
export interface Source {
  /** In bytes; null if it is not known. */
  readonly size: number | null;
  /** @throws CatalogError `import_failed`, `body_too_large`, while it is read. */
  read(): AsyncIterable<Uint8Array>;
}

/** @param maxImport bytes. @throws CatalogError `import_failed` if there is no such file. */
export function sourceOf(file: string, maxImport: number, context: Context): Source {
  const limited = (bytes: AsyncIterable<Uint8Array>) =>
    limitedFile(readInput(file, bytes, 'import_failed'), maxImport, '--max-import');
  if (file === STANDARD_STREAM) return { size: null, read: () => limited(context.input()) };
  const size = context.disk.size(file);
  if (size === null) throw new CatalogError('import_failed', `there is no file ${file}${NAME_ONE}`);
  return { size, read: () => limited(readInTurns(context.disk, file)) };
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Calls `stop` at the first signal; a second one, of any kind, ends the process. A SIGINT or SIGHUP
 * soon after the first signal is a copy: most shells pass on the SIGHUP of a terminal that is closed.
 *
 * @returns what undoes this.
 */
export function onSignal(stop: () => void, after: Delay = delayed): () => void {
  let cancel: (() => void) | null = null;
  const undo = () => {
    cancel?.();
    for (const signal of SIGNALS) process.off(signal, listener);
  };
  const listener = () => {
    if (cancel !== null) return;
    cancel = after(undo, REPEATED_SIGNAL_MS);
    process.off('SIGTERM', listener);
    stop();
  };
  for (const signal of SIGNALS) process.on(signal, listener);
  return undo;
}
