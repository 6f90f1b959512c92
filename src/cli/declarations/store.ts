/** The commands for the store as a whole: `migrate`, `check`, `backup`, `restore`. */
import type { Command } from 'commander';
import type { Context } from '../../app/context.ts';
import { type Common, command } from '../command.ts';
import { backup, restore } from '../commands/backup.ts';
import { check } from '../commands/check.ts';
import { migrate } from '../commands/migrate.ts';
import { parseFile } from '../flags/values.ts';

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
}
