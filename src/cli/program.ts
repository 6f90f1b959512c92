/** The command line (spec 8.2): commands, flags, environment variables, exit statuses. */
import { Argument, Command, CommanderError, Option } from 'commander';
import { ROLES, type Role } from '../auth/roles.ts';
import { type Disk, machineDisk } from '../disk/disk.ts';
import { CatalogError, messageOf } from '../errors.ts';
import { DEFAULT_SETTINGS } from '../pages/shop/settings.ts';
import { backup, restore } from './commands/backup.ts';
import { addAccessCommands } from './commands/access.ts';
import { check } from './commands/check.ts';
import { type Common, command, everyCommand, subcommand } from './command.ts';
import { completionScript, SHELLS, type Shell } from './completion.ts';
import type { Context } from '../app/context.ts';
import { issueTokenCommand } from './commands/issue-token.ts';
import { migrate } from './commands/migrate.ts';
import { addOperationFlags } from './flags/operation.ts';
import { addPageFlags, type PageFlags, pageFlagsOf } from './flags/pages.ts';
import type { ServeOptions } from '../app/server-options.ts';
import { DEFAULT_AUDIT_BYTES } from '../resources/audit.ts';
import {
  parseAuditSize,
  parseBasePath,
  parseFile,
  parseHost,
  parseIds,
  parseLifetime,
  parseOrigins,
  parsePort,
  parseSize,
  parseSubject,
} from './flags/values.ts';

/** What a command has for its exit status, 0 to 255. */
export type ExitStatus = number;

/** `--cors-origin` may be repeated; commander keeps what it collects under the flag's name. */
type ServeFlags = Omit<ServeOptions, 'data' | 'corsOrigins' | 'pages'> & {
  readonly corsOrigin?: string[];
};

/**
 * Runs the program.
 *
 * @param argv the arguments alone, without the executable.
 */
export async function run(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  version: string,
  disk: Disk = machineDisk,
): Promise<ExitStatus> {
  const verbose = argv.includes('--verbose');
  const context: Context = {
    env: environment,
    version,
    disk,
    input: () => process.stdin,
    print: (line) => process.stdout.write(`${line}\n`),
    write: toStandardOutput,
    warn(line, error) {
      process.stderr.write(`catalog-server: ${line}\n`);
      if (verbose && error instanceof Error) process.stderr.write(`${error.stack}\n`);
    },
  };
  let status: ExitStatus = 0;
  try {
    await createProgram(context).parseAsync([...argv], { from: 'user' });
  } catch (error) {
    status = conclude(error, context);
  }
  await printed();
  return status;
}

/** A pipe takes what is printed bit by bit, and an exit would cut it off. */
function printed(): Promise<void> {
  return new Promise((resolve) => {
    // Nobody is left to tell of a reader that has gone.
    process.stdout.once('error', () => resolve());
    process.stdout.end(() => resolve());
  });
}

function toStandardOutput(bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    // A reader that has gone is an error event; the callback alone would leave it unhandled.
    process.stdout.once('error', reject);
    process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

function conclude(error: unknown, context: Context): ExitStatus {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    const said = error.message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ');
    const help = error.code === 'commander.help' ? 'name a command' : said;
    context.warn(`${help.replace(/\.$/, '')}; see catalog-server --help`);
    return 2;
  }
  context.warn(messageOf(error).replace(/\s*\n\s*/g, ' '), error);
  return error instanceof CatalogError ? error.exit : 1;
}

/** The program; parsing it runs the command that it names. */
function createProgram(context: Context): Command {
  const program = new Command('catalog-server')
    .description("A shop's catalog behind one executable: a JSON REST service over plain files.")
    .version(context.version)
    .exitOverride()
    // What goes wrong is said once, in one line, by `conclude`.
    .configureOutput({ outputError: () => {}, writeErr: () => {} });

  const serving = addPageFlags(command(program, 'serve', 'run the server'), 'otherwise')
    .addOption(
      new Option('--host <host>', 'address to listen on')
        .env('CATALOG_HOST')
        .default('127.0.0.1')
        .argParser(parseHost),
    )
    .addOption(
      new Option('--port <number>', 'port to listen on; 0 takes a free one')
        .env('CATALOG_PORT')
        .default(8000)
        .argParser(parsePort),
    )
    .addOption(
      new Option('--base-path <path>', 'path of a main domain under which the service stands')
        .env('CATALOG_BASE_PATH')
        .default('')
        .argParser(parseBasePath),
    )
    .addOption(
      new Option('--max-body <size>', 'largest body of a request in bytes, KiB or MiB')
        .env('CATALOG_MAX_BODY')
        .default(2 ** 20, '1MiB')
        .argParser(parseSize),
    )
    .addOption(
      new Option('--cors-origin <origin>', 'origin whose pages may use the API; may be repeated')
        .env('CATALOG_CORS_ORIGIN')
        .argParser(parseOrigins),
    )
    .addOption(
      new Option('--audit-size <MiB>', 'how much of the audit trail is kept; 0 keeps none')
        .env('CATALOG_AUDIT_SIZE')
        .default(DEFAULT_AUDIT_BYTES, '16')
        .argParser(parseAuditSize),
    )
    .action(async (options: Common & ServeFlags & PageFlags) => {
      // The other commands do without the server, whose libraries take long to load.
      const { serve } = await import('../app/serve.ts');
      await serve(
        {
          ...options,
          corsOrigins: options.corsOrigin ?? [],
          pages: { ...DEFAULT_SETTINGS, ...pageFlagsOf(options) },
        },
        context,
      );
    });
  addOperationFlags(serving);

  command(program, 'migrate', 'create the store, or bring it to the current schema version')
    .option('--demo', 'fill an empty store with the demo catalog')
    .option('--dry-run', 'say what would be done, and do nothing')
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
    .argument(
      '[file]',
      '"-" for standard output; catalog-<time>.json where none is named',
      parseFile,
    )
    .action((file: string | undefined, options: Common) =>
      backup({ data: options.data, file: file ?? null }, context),
    );

  command(program, 'restore', 'make a store of a backup, in an empty directory')
    .argument('<file>', '"-" for standard input', parseFile)
    .action((file: string, options: Common) => restore({ data: options.data, file }, context));

  command(program, 'issue-token', 'print a token for the admin paths')
    .requiredOption('--subject <name>', 'whom the token is for', parseSubject)
    .addOption(
      new Option('--role <role>', 'what it allows').choices(ROLES).default('admin' satisfies Role),
    )
    .option(
      '--expires <duration>',
      'how long it lives, such as 30m, 8h or 7d',
      parseLifetime,
      28_800,
    )
    .action((options: Common & { subject: string; role: Role; expires: number }) =>
      issueTokenCommand(options, context),
    );

  addPageFlags(
    command(program, 'rebuild-pages', 'render pages'),
    'as the last server had it, otherwise',
  )
    .option('--stale', 'only those that are out of date')
    .argument('[ids...]', 'SKU ids; all where none is named', parseIds)
    .action(async (ids: number[], options: Common & PageFlags & { stale?: true }) => {
      const { rebuildPagesCommand } = await import('./commands/rebuild-pages.ts');
      await rebuildPagesCommand(
        {
          data: options.data,
          stale: options.stale ?? false,
          ids: ids.length === 0 ? null : ids,
          pages: pageFlagsOf(options),
        },
        context,
      );
    });

  addAccessCommands(program, context);

  subcommand(program, 'completion', 'print a completion script for a shell')
    .addArgument(new Argument('<shell>', 'whose script').choices(SHELLS))
    .action((shell: Shell) => context.print(completionScript(program, shell)));

  for (const option of everyCommand(program).flatMap(({ options }) => options)) {
    ignoreEmpty(option, context);
  }
  return program;
}

/** commander takes an empty variable for a value; here it is one that is not set. */
function ignoreEmpty(option: Option, { env }: Context): void {
  if (option.envVar !== undefined && env[option.envVar] === '') option.env('');
}
