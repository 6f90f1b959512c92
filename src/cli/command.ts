/** What the declarations of commands have in common. */
import type { Command } from 'commander';
import { type Flag, flag, toggle } from './flags/flag.ts';
import { parseDirectory } from './flags/values.ts';

/** The flags of every command that works on a data directory. */
export interface Common {
  readonly data: string;
}

/**
 * A command without flags; its output and its exit are those of its parent.
 *
 * @param parent the program, or the command whose name comes first.
 */
export function subcommand(parent: Command, name: string, description: string): Command {
  return parent.command(name).description(description).copyInheritedSettings(parent);
}

/** A command that works on a data directory. */
export function command(parent: Command, name: string, description: string): Command {
  return subcommand(parent, name, description)
    .addOption(
      flag('--data <directory>', 'directory of the store', parseDirectory, { value: './data' }),
    )
    .addOption(verboseFlag());
}

/** The program itself reads it, when it prints an error; every command has to accept it. */
export function verboseFlag(): Flag {
  return toggle('--verbose', 'also print the stack trace of an error');
}

/** For the commands that can report what they would do. */
export function dryRunFlag(): Flag {
  return toggle('--dry-run', 'report what would be done, and change nothing');
}
