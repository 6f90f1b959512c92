/** The commands for a whole store: `migrate`, `check`, `backup`, `restore`, `promote`, `undo`. */
import { type Command, Option } from 'commander';
import type { Context } from '../../app/context.ts';
import { type Common, command, dryRunFlag } from '../command.ts';
import type { ArchiveAddress } from '../../archive/storage/address.ts';
import { checkArchiveCommand, restoreArchive } from '../commands/backup/archive.ts';
import { backup, type BackupOptions } from '../commands/backup/backup.ts';
import { restore, type RestoreOptions } from '../commands/backup/restore.ts';
import { check } from '../commands/check.ts';
import { promote } from '../commands/promote.ts';
import { migrate } from '../commands/migrate.ts';
import { undo } from '../commands/undo.ts';
import { parseSubject } from '../flags/access.ts';
import { keyFlag, parseAddress, parseSequence } from '../flags/archive.ts';
import { flag, toggle } from '../flags/flag.ts';
import { notifyFlag } from '../flags/hosts.ts';
import {
  parseEntryIds,
  parseFile,
  parseFileOrStream,
  parseRecipients,
  parseSince,
  parseUntil,
} from '../flags/values.ts';
import type { EntrySelection } from '../../resources/audit/undo.ts';
import { CatalogError } from '../../errors.ts';

const RESTORE_EXAMPLES = `
Examples:
  Restore a backup with its keys:
    catalog-server restore backup.json --passphrase-file passphrase \\
      --data ./restored
  Restore the catalog from an archive, as it was at eight o'clock (UTC):
    catalog-server restore --from s3://my-bucket/shop \\
      --archive-key archive.key --at 2026-11-21T08:00:00Z --data ./restored`;

const UNDO_EXAMPLES = `
Examples:
  Undo two entries of the audit trail:
    catalog-server undo 17 18
  See what undoing all changes of Ann since eight o'clock (UTC) would do:
    catalog-server undo --subject ann --since 2026-11-21T08:00:00Z --dry-run`;

/** Adds the commands. Each takes the data directory, or the archive that replaces it. */
export function declareStoreCommands(program: Command, context: Context): void {
  command(program, 'migrate', 'create the store, or bring it to the current schema version')
    .addOption(toggle('--demo', 'fill an empty store with the demo catalog'))
    .addOption(dryRunFlag())
    .action((options: Common & { demo?: true; dryRun?: true }) =>
      migrate(
        { data: options.data, demo: options.demo ?? false, dryRun: options.dryRun ?? false },
        context,
      ),
    );

  command(program, 'check', 'verify every file, row and reference of a store or an archive')
    // It has no variable: CATALOG_ARCHIVE is set for servers, whose stores are to be checked too.
    .addOption(
      new Option('--archive <url>', 'check this archive instead of a store')
        .argParser(parseAddress)
        .conflicts('data'),
    )
    .addOption(keyFlag('key file of the archive', 'archive'))
    .action((options: Common & { archive?: ArchiveAddress; archiveKey?: string }) => {
      const { archive, archiveKey: key = null } = options;
      if (archive !== undefined) return checkArchiveCommand({ archive, key }, context);
      return check(options, context);
    });

  declareBackup(program, context);
  declareRestore(program, context);
  command(program, 'promote', 'make a follower the primary')
    .addOption(notifyFlag())
    .action((options: Common & { notify?: readonly string[] }) => promote(options, context));

  declareUndo(program, context);
}

function declareBackup(program: Command, context: Context): void {
  command(program, 'backup', 'write the whole catalog to one file')
    .argument(
      '[file]',
      'file to write; "-" for standard output (default: catalog-<time>.json)',
      parseFileOrStream,
    )
    .addOption(
      flag(
        '--passphrase-file <file>',
        'include the keys, encrypted with the passphrase in this file',
        parseFile,
      ).conflicts('recipient'),
    )
    .addOption(
      flag(
        '--recipient <age1…>',
        'include the keys, encrypted for this age recipient; may be repeated',
        parseRecipients,
      ),
    )
    .action((file: string | undefined, flags: Omit<BackupOptions, 'file'>) =>
      backup({ ...flags, file: file ?? null }, context),
    );
}

interface RestoreFlags extends Omit<RestoreOptions, 'file'> {
  readonly from?: ArchiveAddress;
  readonly archiveKey?: string;
  readonly at?: string;
  readonly sequence?: number;
}

function declareRestore(program: Command, context: Context): void {
  const restoring = command(
    program,
    'restore',
    'restore a store from a backup or an archive into an empty directory',
  )
    .addHelpText('after', RESTORE_EXAMPLES)
    .argument('[file]', 'backup to restore; "-" for standard input', parseFileOrStream);
  addArchiveSource(restoring);
  restoring
    .addOption(
      flag(
        '--passphrase-file <file>',
        'file with the passphrase of the encrypted keys',
        parseFile,
      ).conflicts(['identityFile', 'withoutKeys', 'from']),
    )
    .addOption(
      flag(
        '--identity-file <file>',
        'file with an age identity that decrypts the keys',
        parseFile,
      ).conflicts(['withoutKeys', 'from']),
    )
    .addOption(
      toggle(
        '--without-keys',
        'leave out the encrypted keys; earlier tokens become invalid',
      ).conflicts('from'),
    )
    .action((file: string | undefined, flags: RestoreFlags) => {
      const { data, from, archiveKey: key = null, at, sequence } = flags;
      if (from !== undefined && file === undefined) {
        return restoreArchive({ archive: from, key, data, target: { at, sequence } }, context);
      }
      if (file === undefined || from !== undefined || at !== undefined || sequence !== undefined) {
        throw new CatalogError(
          'usage',
          'give a backup, or --from with at most one of --at and --sequence',
        );
      }
      return restore({ ...flags, file }, context);
    });
}

function addArchiveSource(restoring: Command): void {
  restoring
    .addOption(flag('--from <url>', 'restore from this archive', parseAddress).insteadOfArguments())
    .addOption(
      flag(
        '--at <time>',
        'restore the state at this date or time',
        parseUntil,
      ).insteadOfArguments(),
    )
    .addOption(
      flag('--sequence <number>', 'restore the state as of this change set', parseSequence)
        .conflicts('at')
        .insteadOfArguments(),
    )
    .addOption(keyFlag('key file of the archive', 'from'));
}

interface UndoFlags extends Common {
  readonly subject?: string;
  readonly since?: string;
  readonly until?: string;
  readonly dryRun?: true;
  readonly force?: true;
}

function declareUndo(program: Command, context: Context): void {
  command(program, 'undo', 'undo the changes recorded in entries of the audit trail')
    .addHelpText('after', UNDO_EXAMPLES)
    .argument('[entries...]', 'ids of audit entries', parseEntryIds)
    .addOption(
      flag(
        '--subject <name>',
        'undo the changes of this subject',
        parseSubject,
      ).insteadOfArguments(),
    )
    .addOption(
      flag(
        '--since <time>',
        'undo changes from this date or time on, with --subject',
        parseSince,
      ).insteadOfArguments(),
    )
    .addOption(
      flag(
        '--until <time>',
        'undo changes up to this date or time, with --subject',
        parseUntil,
      ).insteadOfArguments(),
    )
    .addOption(dryRunFlag())
    .addOption(toggle('--force', 'overwrite rows that have changed since'))
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

/** @throws CatalogError `usage` unless entries are named by ids, or by subject and period. */
function selectionOf(ids: readonly number[], { subject, since, until }: UndoFlags): EntrySelection {
  if (ids.length > 0 && [subject, since, until].every((each) => each === undefined)) return ids;
  if (ids.length === 0 && subject !== undefined && since !== undefined) {
    if (until === undefined || until >= since) return { subject, since, until: until ?? null };
    throw new CatalogError('usage', `--until (${until}) is before --since (${since})`);
  }
  throw new CatalogError('usage', 'give ids of audit entries, or --subject and --since');
}
