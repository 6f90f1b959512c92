/** The commands and flags of the program, as data for the manual and the reference. */
import type { Command, Option } from 'commander';
import { version } from '../package.json' with { type: 'json' };
import { createProgram } from '../src/cli/program.ts';
import { Flag } from '../src/cli/flags/flag.ts';
import { machineDisk } from '../src/disk/disk.ts';

export interface FlagFacts {
  /** As the help writes it: `--port <number>`. */
  readonly usage: string;
  readonly description: string;
  /** The values that it takes, if they are listed. */
  readonly choices: readonly string[];
  /** As the help writes it; null if the flag has none. */
  readonly default: string | null;
  /** The environment variable; null if the flag has none. */
  readonly variable: string | null;
}

interface FlagGroup {
  /** Such as `Limits`. */
  readonly heading: string;
  readonly flags: readonly FlagFacts[];
}

export interface CommandFacts {
  /** With the name of its group: `users add`. */
  readonly name: string;
  /** With the name of the program and all arguments. */
  readonly usage: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly description: string }[];
  readonly groups: readonly FlagGroup[];
  /** What the help prints after the flags, such as examples; "" if nothing. */
  readonly notes: string;
}

function nothing(): void {}

/** The program without a real context: it can print its help, but is not to run commands. */
export function inertProgram(): Command {
  return createProgram(
    {
      env: {},
      version,
      disk: machineDisk,
      input: () => process.stdin,
      terminal: null,
      print: nothing,
      write: () => Promise.resolve(),
      warn: nothing,
    },
    { write: nothing, width: 80 },
  );
}

/** @returns every command that is not a group, in the order of the help. */
export function commandFacts(program: Command): CommandFacts[] {
  return program.commands.flatMap((command) => factsOf(command, ''));
}

function factsOf(command: Command, group: string): CommandFacts[] {
  const name = `${group}${command.name()}`;
  if (command.commands.length > 0) {
    return command.commands.flatMap((each) => factsOf(each, `${name} `));
  }
  return [
    {
      name,
      usage: command.createHelp().commandUsage(command),
      description: command.description(),
      arguments: command.registeredArguments.map((argument) => ({
        name: argument.name(),
        description: withChoices(argument.description, argument.argChoices),
      })),
      groups: groupsOf(command),
      notes: notesOf(command),
    },
  ];
}

function groupsOf(command: Command): FlagGroup[] {
  const groups = new Map<string, FlagFacts[]>();
  for (const option of command.options) {
    const heading = (option.helpGroupHeading ?? 'Options:').replace(/:$/, '');
    groups.set(heading, [...(groups.get(heading) ?? []), flagFacts(option)]);
  }
  return [...groups].map(([heading, flags]) => ({ heading, flags }));
}

function flagFacts(option: Option): FlagFacts {
  const fallback = option.defaultValueDescription ?? option.defaultValue;
  return {
    usage: option.flags,
    description: option.description,
    choices: option.argChoices ?? [],
    default: fallback === undefined ? null : String(fallback),
    variable: option instanceof Flag ? option.variable : null,
  };
}

function withChoices(text: string, choices: readonly string[] | undefined): string {
  return choices === undefined ? text : `${text}: ${choices.join(', ')}`;
}

/** commander prints the text of `addHelpText('after', …)`, but has no accessor for it. */
function notesOf(command: Command): string {
  let printed = '';
  command.configureOutput({
    writeOut: (text) => {
      printed += text;
    },
  });
  command.outputHelp();
  return printed.slice(command.helpInformation().length).trim();
}
