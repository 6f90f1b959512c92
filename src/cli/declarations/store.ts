/** The commands for the store as a whole: `migrate`, `check`, `backup`, `restore`, `undo`. */
import type { Command } from 'commander';
import type { Context } from '../../app/context.ts';
import { type Common, command } from '../command.ts';
import { backup, restore } from '../commands/backup.ts';
import { check } from '../commands/check.ts';
import { promote } from '../commands/promote.ts';
import { migrate } from '../commands/migrate.ts';
import { undo } from '../commands/undo.ts';
import { parseSubject } from '../flags/access.ts';
import { parseEntryIds, parseFile, parseSince, parseUntil } from '../flags/values.ts';
import type { EntrySelection } from '../../resources/audit/undo.ts';
import { CatalogError } from '../../errors.ts';

export function declareStoreCommands(program: Command, context: Context): void {
  command(program, 'migrate', 'create the store, or bring it to the current version')
    .option('--demo', 'fill an empty store with the demo catalog')
    .option('--dry-run', 'report what would be done, and change nothing')
    .action((options: Common & { demo?: true; dryRun?: true }) =>
      migrate(
        { data: options.data, demo: options.demo ?? false, dryRun: options.dryRun ?? false },
        context,
      ),
    );

  command(program, 'check', 'verify every file, row and reference of the store').action(
    (options: Common) => check(options, context),
  );

  command(program, 'backup', 'write the whole catalog to one file')
    .argument('[file]', '"-" for standard output (default: catalog-<time>.json)', parseFile)
    .action((file: string | undefined, options: Common) =>
      backup({ data: options.data, file: file ?? null }, context),
    );

  command(program, 'restore', 'make a store from a backup, in an empty directory')
    .argument('<file>', '"-" for standard input', parseFile)
    .action((file: string, options: Common) => restore({ data: options.data, file }, context));

  command(program, 'promote', 'make a host that follows another one the primary').action(
    (options: Common) => promote(options, context),
  );

  declareUndo(program, context);
}

interface UndoFlags extends Common {
  readonly subject?: string;
  readonly since?: string;
  readonly until?: string;
  readonly dryRun?: true;
  readonly force?: true;
}

function declareUndo(program: Command, context: Context): void {
  command(program, 'undo', 'put rows back to what they were before entries of the audit trail')
    .argument('[entries...]', 'ids of audit entries', parseEntryIds)
    .option('--subject <name>', 'every entry of this subject', parseSubject)
    .option('--since <time>', 'from this date or instant on, with --subject', parseSince)
    .option('--until <time>', 'up to this date or instant, with --subject', parseUntil)
    .option('--dry-run', 'report what would be done, and change nothing')
    .option('--force', 'overwrite rows that have changed since')
    .action((ids: number[], flags: UndoFlags) =>
      undo(
        {
          data: flags.data,
          selection: selectionOf(ids, flags),
          dryRun: flags.dryRun ?? false,
          force: flags.force ?? false,
        },
        context,
      ),
    );
}

/** @throws CatalogError `usage` unless entries are named by their ids or by who left them when. */
function selectionOf(ids: readonly number[], { subject, since, until }: UndoFlags): EntrySelection {
  if (ids.length > 0 && [subject, since, until].every((flag) => flag === undefined)) return ids;
  if (ids.length === 0 && subject !== undefined && since !== undefined) {
    return { subject, since, until: until ?? null };
  }
  throw new CatalogError('usage', 'name ids of audit entries, or --subject and --since');
}
