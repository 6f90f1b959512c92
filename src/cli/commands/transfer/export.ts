/** `export`: a collection as a file, also while a server runs (spec 8.13). */
import { dirname } from 'node:path';
import type { Context } from '../../../app/context.ts';
import { DurableFile, withOpen } from '../../../disk/durable-file.ts';
import type { Kind } from '../../../model/kind.ts';
import { Money } from '../../../model/money.ts';
import { keptSettings } from '../../../pages/shop/settings.ts';
import { Exports } from '../../../resources/transfer/exports.ts';
import type { Format } from '../../../resources/transfer/formats.ts';
import { readSnapshot } from '../../../store/directory.ts';
import { outputPath, writeOutput } from '../output.ts';

export interface ExportOptions {
  readonly data: string;
  readonly kind: Kind;
  readonly format: Format;
  /** A path; null for standard output. */
  readonly output: string | null;
  /** ISO 4217; null for that of the last server. */
  readonly currency: string | null;
}

/** All rows, by ascending id. */
const EVERYTHING = { filters: [], sortby: 'id', order: 'asc' } as const;

/** @throws CatalogError `store_missing`, `store_damaged`, `export_failed`. */
export async function exportCollection(options: ExportOptions, context: Context): Promise<void> {
  const { data, kind, format, output } = options;
  const { disk } = context;
  const state = readSnapshot(data, disk);
  const money = new Money(options.currency ?? keptSettings(disk, data).currency);
  const { text } = await new Exports(state, money).open(kind, format, EVERYTHING);
  if (output === null) {
    await writeExportTo('standard output', async () => {
      for await (const piece of text) await context.write(Buffer.from(piece));
    });
    return;
  }
  const path = outputPath(output, data, 'export_failed');
  await writeExportTo(output, () =>
    withOpen(disk, dirname(path), (directory) => write(context, text, path, directory)),
  );
  context.print(`exported ${state.count(kind.name)} ${kind.plural} to ${output}`);
}

/** The file appears complete or not at all. */
async function write(
  { disk }: Context,
  text: AsyncIterable<string>,
  path: string,
  directory: number,
): Promise<void> {
  const file = await DurableFile.create(disk, dirname(path));
  try {
    for await (const piece of text) file.write(Buffer.from(piece));
    await file.finish();
    await file.publish(path, directory);
  } catch (error) {
    await file.abandon();
    throw error;
  }
}

function writeExportTo(target: string, run: () => Promise<void>): Promise<void> {
  return writeOutput('the export', target, 'export_failed', run);
}
