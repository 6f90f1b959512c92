/**
 * The operator's settings of pages. `serve` stores them in the data directory, so that
 * `rebuild-pages`, which cron starts without flags, makes the same pages.
 */
import { join } from 'node:path';
import * as v from 'valibot';
import { DATA_FILES } from '../../data-files.ts';
import type { Disk } from '../../disk/disk.ts';
import { replaceFile } from '../../disk/durable-file.ts';
import { pause } from '../../delay.ts';
import { readFile } from '../../disk/read-file.ts';
import { CatalogError } from '../../errors.ts';
import { FIRST_FAULT } from '../../json/first-fault.ts';

const settings = v.object({
  /** The public address of the folder of pages, without a slash at its end. */
  publicUrl: v.nullable(v.string()),
  /** ISO 4217. */
  currency: v.string(),
  /** BCP 47. */
  locale: v.string(),
  shopName: v.string(),
  /** Directory of the operator's own templates, absolute. */
  templates: v.nullable(v.string()),
});

export type PageSettings = v.InferOutput<typeof settings>;

export const DEFAULT_SETTINGS: PageSettings = {
  publicUrl: null,
  currency: 'USD',
  locale: 'en',
  shopName: 'Catalog',
  templates: null,
};

/** Milliseconds for which pages wait while writes keep coming, unless set otherwise. */
export const DEFAULT_DELAY_MS = 5000;

/** Milliseconds between attempts to save the settings. */
const RETRY_MS = 5000;

/**
 * Saves the settings of a server for commands that use the same directory. They survive power loss:
 * a command may run before the next server, and must neither fail nor make other pages.
 *
 * @throws what the disk throws; CatalogError `store_unreadable` if something else has the name.
 */
export async function keepSettings(
  disk: Disk,
  directory: string,
  used: PageSettings,
): Promise<void> {
  const path = join(directory, DATA_FILES.pageSettings);
  const bytes = Buffer.from(`${JSON.stringify(used, null, 2)}\n`);
  if (readFile(disk, path)?.equals(bytes) !== true) await replaceFile(disk, path, bytes);
}

/**
 * Saves the settings like `keepSettings`. While the disk refuses them, they are tried again: with
 * older ones `rebuild-pages` would replace the pages of the server by others.
 *
 * @param onError called once, if the first attempt fails.
 * @param intervalMs between two attempts.
 * @returns a function that ends the attempts, and resolves after one that is under way.
 */
export async function keepSavingSettings(
  disk: Disk,
  directory: string,
  used: PageSettings,
  onError: (error: unknown) => void,
  intervalMs = RETRY_MS,
): Promise<() => Promise<void>> {
  const ending = new AbortController();
  const save = async (report: (error: unknown) => void): Promise<boolean> => {
    try {
      await keepSettings(disk, directory, used);
      return true;
    } catch (error) {
      report(error);
      return false;
    }
  };
  const saveLater = async (): Promise<void> => {
    let isSaved = false;
    while (!isSaved) {
      await pause(intervalMs, ending.signal);
      if (ending.signal.aborted) return;
      isSaved = await save(() => {});
    }
  };
  const saving = (await save(onError)) ? Promise.resolve() : saveLater();
  return () => {
    ending.abort();
    return saving;
  };
}

/**
 * The settings of the last server on a directory, or the defaults.
 *
 * @throws CatalogError `page_failed` if the file is not what a server writes, `store_unreadable` if
 *   it cannot be read.
 */
export function keptSettings(disk: Disk, directory: string): PageSettings {
  const path = join(directory, DATA_FILES.pageSettings);
  const bytes = readFile(disk, path);
  if (bytes === null) return DEFAULT_SETTINGS;
  const parsed = v.safeParse(
    v.pipe(v.string(), v.parseJson(), settings, v.check(canBeFormatted)),
    bytes.toString(),
    FIRST_FAULT,
  );
  if (parsed.success) return parsed.output;
  throw new CatalogError(
    'page_failed',
    `${path} does not hold the settings of pages; remove it, and restart the server`,
  );
}

/** Whether prices can be formatted: a file that was edited may hold `euro`. */
function canBeFormatted({ currency, locale }: PageSettings): boolean {
  try {
    return new Intl.NumberFormat(locale, { style: 'currency', currency }).format(0) !== '';
  } catch {
    return false;
  }
}
