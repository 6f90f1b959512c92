/** What all commands have in common. */
import { type Command, Option } from 'commander';
import { parseDirectory } from './flags/values.ts';

/** The flags of every command that works with a data directory. */
export interface Common {
  readonly data: string;
  readonly verbose?: true;
}

export function subcommand(parent: Command, name: string, description: string): Command {
  return parent.command(name).description(description).copyInheritedSettings(parent);
}

/** A command that works with a data directory. */
export function command(parent: Command, name: string, description: string): Command {
  return subcommand(parent, name, description)
    .addOption(
      new Option('--data <directory>', 'data directory')
        .env('CATALOG_DATA')
        .default('./data')
        .argParser(parseDirectory),
    )
    .addOption(new Option('--verbose', 'print the stack of an error as well'));
}

/** Every command below one, at any depth. */
export function everyCommand(parent: Command): Command[] {
  return parent.commands.flatMap((each) => [each, ...everyCommand(each)]);
}
