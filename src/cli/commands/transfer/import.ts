/** `import`: a file into a collection, also while a server runs (spec 8.14). */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Context } from '../../../app/context.ts';
import { openImportFiles } from '../../../app/imports/import-files.ts';
import { withSmallHeap } from '../../../app/imports/small-heap.ts';
import { DATA_FILES } from '../../../data-files.ts';
import { holderOf } from '../../../disk/lock.ts';
import { type CatalogError, hasCode, messageOf } from '../../../errors.ts';
import { Money } from '../../../model/money.ts';
import { keptSettings } from '../../../pages/shop/settings.ts';
import { AuditedStore } from '../../../resources/audit/audited-store.ts';
import { Importer } from '../../../resources/transfer/importer.ts';
import { type ImportReport, ImportState } from '../../../resources/transfer/import-state.ts';
import { Imports } from '../../../resources/transfer/imports.ts';
import { readSnapshot } from '../../../store/directory.ts';
import { ProgressBar } from '../../progress-bar.ts';
import { inputName } from '../../standard-stream.ts';
import { openForWrites } from '../open-store.ts';
import { commandSubject } from '../subject.ts';
import { ServerRequest } from './server-request.ts';
import { report } from './report.ts';
import { type ImportSettings, sourceOf, type Source, type Show, onSignal } from './source.ts';

export interface ImportOptions extends ImportSettings {
  readonly dryRun: boolean;
  /** Bytes of a file; a server has a limit of its own as well. */
  readonly maxImport: number;
}

/** Milliseconds between two attempts to get the store from another import. */
const RETRY_MS = 250;

/** Attempts that find another import before the wait is reported, in 5 seconds. */
const SILENT_ATTEMPTS = 20;

/** Attempts in which the holder of the store may be unknown, because it is changing. */
const MAX_UNKNOWN = 20;

/**
 * Prints what was imported, or a line for each error.
 *
 * @throws CatalogError `import_failed`; `busy` if the server does not take the file; the failures
 *   of opening a store.
 */
export async function importFile(options: ImportOptions, context: Context): Promise<void> {
  const bar = context.terminal === null ? null : new ProgressBar(context.terminal, 'KiB');
  const show: Show = ({ done, total }) =>
    bar?.show(Math.ceil(done / 1024), Math.ceil(total / 1024));
  let found: ImportReport;
  try {
    const source = sourceOf(options.file, options.maxImport, context);
    found = options.dryRun
      ? await check(options, source, context, show)
      : await importWhole(options, source, context, show);
  } finally {
    bar?.stop();
  }
  report(inputName(options.file), options.kind, found, context);
}

/** A dry run needs no lock: it checks the file against a snapshot. */
async function check(
  options: ImportOptions,
  source: Source,
  context: Context,
  show: Show,
): Promise<ImportReport> {
  const snapshot = readSnapshot(options.data, context.disk);
  const { kind, match, format } = options;
  const state = new ImportState(0, kind.name, true);
  state.expect(source.size ?? 0);
  const audited = {
    store: snapshot,
    requireRoom() {},
    transact: () => Promise.reject(new Error('a dry run writes nothing')),
  };
  const order = {
    kind,
    match,
    format,
    createMissing: options.createMissing,
    dryRun: true,
    subject: null,
  };
  const file = () => state.reading(source.read());
  const money = moneyOf(options, context);
  const importer = new Importer({ audited, money, isStopping: () => false }, order, file, state);
  await shownWhile(
    importer.run(() => Promise.resolve()),
    () => state.progress,
    show,
  );
  return JSON.parse(state.text) as ImportReport;
}

/** In this process if the store is free; by a server that owns it; or after another import. */
async function importWhole(
  options: ImportOptions,
  source: Source,
  context: Context,
  show: Show,
): Promise<ImportReport> {
  const { data } = options;
  const request = new ServerRequest(options, source, context);
  let unknown = 0;
  let waits = 0;
  try {
    for (;;) {
      const opened = await openForWrites(data, 'import', context).catch(lockedOnly);
      if (opened instanceof AuditedStore) {
        return await importHere(opened, options, request.source, context, show);
      }
      const command = holderOf(join(data, DATA_FILES.lock))?.command;
      if (command === 'serve') {
        const found = await request.run(show);
        if (found !== null) return found;
        continue;
      }
      if (command === 'import') {
        waits += 1;
        if (waits === SILENT_ATTEMPTS) context.warn(`waiting for another import into ${data}`);
      } else if (command === undefined && unknown < MAX_UNKNOWN) unknown += 1;
      else throw opened;
      await wait(RETRY_MS);
    }
  } finally {
    await request.discard();
  }
}

/** @returns the error if another process has the store. */
function lockedOnly(error: unknown): CatalogError {
  if (hasCode(error, 'store_locked')) return error;
  throw error;
}

async function importHere(
  audited: AuditedStore,
  options: ImportOptions,
  source: Source,
  context: Context,
  show: Show,
): Promise<ImportReport> {
  const { kind, match, format, createMissing, data } = options;
  const { disk, warn } = context;
  try {
    const imports = await Imports.open({
      audited,
      money: moneyOf(options, context),
      storage: await openImportFiles(disk, data),
      // No requests wait while a command runs, and it needs few indexes.
      whenIndexed: () => Promise.resolve(),
      inSmallHeap: withSmallHeap,
      onError: (error) =>
        warn(`the files of an import could not be read or saved: ${messageOf(error)}`, error),
    });
    const subject = commandSubject();
    const order = { kind, match, format, createMissing, dryRun: false, subject };
    const { id } = await imports.accept(order, source.read());
    const ignore = onSignal(() => void imports.close());
    try {
      await shownWhile(imports.ended(id), () => imports.progress(id), show);
    } finally {
      ignore();
    }
    return JSON.parse(imports.find(id) ?? '') as ImportReport;
  } finally {
    await audited.store.close();
  }
}

function moneyOf({ currency, data }: ImportOptions, { disk }: Context): Money {
  return new Money(currency ?? keptSettings(disk, data).currency);
}

/** Milliseconds between two updates of the progress bar. */
const SHOW_MS = 100;

async function shownWhile(
  work: Promise<void>,
  progress: () => Parameters<Show>[0] | null,
  show: Show,
): Promise<void> {
  const look = () => {
    const now = progress();
    if (now !== null && now.total > 0) show(now);
  };
  const timer = setInterval(look, SHOW_MS);
  // Shows work that ends before the first interval, too.
  look();
  try {
    await work;
    look();
  } finally {
    clearInterval(timer);
  }
}
