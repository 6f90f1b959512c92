/** `export` and `import` on the command line. */
import { Argument, type Command, InvalidArgumentError } from 'commander';
import type { Context } from '../../app/context.ts';
import { CatalogError } from '../../errors.ts';
import type { Kind } from '../../model/kind.ts';
import { TRANSFERABLE } from '../../model/kinds.ts';
import { type Format, formatOf, FORMATS } from '../../resources/transfer/formats.ts';
import { CREATABLE, parseCreatable } from '../../resources/transfer/rows/named-rows.ts';
import { type Match, MATCHES, matchesOf } from '../../resources/transfer/rows/matching.ts';
import { type Common, command, dryRunFlag } from '../command.ts';
import { choice, type Flag, flag } from '../flags/flag.ts';
import { maxImportFlag } from '../flags/limits.ts';
import { parseCurrency } from '../flags/pages.ts';
import { parseFileOrStream } from '../flags/values.ts';
import { STANDARD_STREAM } from '../standard-stream.ts';

interface TransferFlags extends Common {
  readonly format?: Format;
  readonly currency?: string;
}

interface ImportFlags extends TransferFlags {
  readonly dryRun?: true;
  readonly match: Match;
  readonly createMissing?: ReadonlySet<string>;
  /** Bytes. */
  readonly maxImport: number;
}

/**
 * Adds both commands. While a server runs, an export reads its files, and an import goes through
 * it.
 */
export function declareTransferCommands(program: Command, context: Context): void {
  declareExport(program, context);
  declareImport(program, context);
}

function declareExport(program: Command, context: Context): void {
  transfer(program, 'export', 'export a collection to a file that import can read')
    .addOption(
      flag('--output <file>', 'file to write (default: standard output)', parseFileOrStream),
    )
    .addOption(formatFlag())
    .addOption(currencyFlag())
    .action(async (name: string, flags: TransferFlags & { output?: string }) => {
      const { output = STANDARD_STREAM } = flags;
      const { exportCollection } = await import('../commands/transfer/export.ts');
      await exportCollection(
        {
          data: flags.data,
          kind: kindOf(name),
          format: flags.format ?? formatOf(output),
          output: output === STANDARD_STREAM ? null : output,
          currency: flags.currency ?? null,
        },
        context,
      );
    });
}

const IMPORT_EXAMPLES = `
Examples:
  See what a price list with the columns "code" and "price USD" would change:
    catalog-server import skus prices.csv --match code --dry-run
  Import products, and the brands and categories that are missing:
    catalog-server import goods goods.csv --match name \\
      --create-missing brands,categories`;

function declareImport(program: Command, context: Context): void {
  transfer(program, 'import', 'create and change rows from a file')
    .addHelpText('after', IMPORT_EXAMPLES)
    .argument('<file>', 'file to read; "-" for standard input', parseFileOrStream)
    .addOption(formatFlag())
    .addOption(dryRunFlag())
    .addOption(
      choice('--match <attribute>', 'attribute that identifies existing rows', MATCHES, 'id'),
    )
    .addOption(
      flag(
        '--create-missing <list>',
        `create missing rows of these kinds: ${CREATABLE.join(',')}`,
        parseMissing,
      ),
    )
    .addOption(currencyFlag())
    .addOption(maxImportFlag())
    .action(async (name: string, file: string, flags: ImportFlags) => {
      const kind = kindOf(name);
      requireMatch(kind, flags.match);
      const { importFile } = await import('../commands/transfer/import.ts');
      await importFile(
        {
          data: flags.data,
          kind,
          file,
          format: flags.format ?? formatOf(file),
          match: flags.match,
          createMissing: flags.createMissing ?? new Set(),
          dryRun: flags.dryRun ?? false,
          maxImport: flags.maxImport,
          currency: flags.currency ?? null,
        },
        context,
      );
    });
}

function transfer(program: Command, name: string, description: string): Command {
  const collection = new Argument('<collection>', 'name of the collection in paths of the API');
  return command(program, name, description).addArgument(
    collection.choices(TRANSFERABLE.map((kind) => kind.name)),
  );
}

function formatFlag(): Flag {
  const description = 'format of the file (default: from the file name, or csv)';
  return choice('--format <format>', description, FORMATS);
}

function currencyFlag(): Flag {
  return flag(
    '--currency <code>',
    'currency of all prices (ISO 4217; default: the one that serve last used)',
    parseCurrency,
  );
}

/** The name is one of the choices. */
function kindOf(name: string): Kind {
  const kind = TRANSFERABLE.find((each) => each.name === name);
  if (kind === undefined) throw new CatalogError('usage', `there is no collection ${name}`);
  return kind;
}

/** @throws CatalogError `usage`. */
function requireMatch(kind: Kind, match: Match): void {
  const possible = matchesOf(kind);
  if (possible.includes(match)) return;
  throw new CatalogError(
    'usage',
    `${kind.plural} have no ${match}; --match must be one of ${possible.join(', ')}`,
  );
}

function parseMissing(text: string): ReadonlySet<string> {
  const names = parseCreatable(text);
  if (names !== null) return names;
  throw new InvalidArgumentError(`Give some of ${CREATABLE.join(',')}, separated by commas.`);
}
