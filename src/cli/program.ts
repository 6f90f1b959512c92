/** The program and all its commands (spec 8.2). */
import { Argument, Command } from 'commander';
import { requireNoArchive } from '../app/archive/open.ts';
import type { Context } from '../app/context.ts';
import { endStart } from '../app/engine/start-policy.ts';
import { keepOwnerOf } from '../disk/system/owner.ts';
import { subcommand } from './command.ts';
import { completionScript, SHELLS, type Shell } from './completion.ts';
import { declareAccessCommands } from './declarations/access.ts';
import { declareHealth } from './declarations/health.ts';
import { declareRebuildPages } from './declarations/pages.ts';
import { declareServe } from './declarations/serve.ts';
import { declareStoreCommands } from './declarations/store.ts';
import { declareTransferCommands } from './declarations/transfer.ts';
import { applyVariables, requireCompanions } from './flags/flag.ts';
import { HELP } from './help.ts';

/** Where help and version are printed. */
export interface HelpOutput {
  readonly write: (text: string) => void;
  /** Columns of the terminal. */
  readonly width: number;
}

/** These say themselves what to do about the archive that is in place of a store. */
const READING_ARCHIVES: ReadonlySet<string> = new Set(['serve', 'check', 'restore']);

/**
 * Creates the program. Parsing its arguments runs the command that they name.
 *
 * @param named the first argument; all commands are declared if it is left out.
 */
export function createProgram(context: Context, output: HelpOutput, named?: string): Command {
  const program = new Command('catalog-server')
    .description("A shop's catalog as one executable: a JSON REST service that stores plain files.")
    .version(context.version)
    .addHelpText('after', '\nTo see the flags of a command: catalog-server help <command>')
    .exitOverride()
    .configureOutput({
      writeOut: output.write,
      getOutHelpWidth: () => output.width,
      // `run` reports errors itself, each in one line.
      outputError: () => {},
      writeErr: () => {},
    })
    .configureHelp(HELP)
    .hook('preAction', (_program, command) => {
      applyVariables(command, context.env);
      requireCompanions(command);
      const { data } = command.opts<{ readonly data?: string }>();
      // A server that root runs reads and writes everything itself.
      if (command.name() !== 'serve' && data !== undefined) keepOwnerOf(data);
      if (data !== undefined && !READING_ARCHIVES.has(command.name())) {
        requireNoArchive(data, context.disk);
      }
      // A server is still starting; every other command begins its work now.
      if (command.name() !== 'serve') endStart();
    });
  program.commandsGroup('Server:');
  declareServe(program, context);
  // Declaring the others would make the start of a server slower.
  if (named === 'serve') return program;
  declareHealth(program, context);
  declareRebuildPages(program, context);
  program.commandsGroup('Store:');
  declareStoreCommands(program, context);
  declareTransferCommands(program, context);
  program.commandsGroup('Access:');
  declareAccessCommands(program, context);
  program.commandsGroup('Shell:').helpCommand('help [command]', 'display help for a command');
  subcommand(program, 'completion', 'print a completion script for a shell')
    .addArgument(new Argument('<shell>', 'shell that the script is for').choices(SHELLS))
    .action((shell: Shell) => {
      for (const line of completionScript(program, shell).split('\n')) context.print(line);
    });
  return program;
}
