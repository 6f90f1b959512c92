/** `completion`: scripts for shells, made from the program's own commands and flags. */
import type { Command } from 'commander';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof SHELLS)[number];

/** Flags of the program itself. */
const TOP_LEVEL = ['--help', '--version'];

interface Words {
  readonly name: string;
  readonly description: string;
  readonly flags: readonly { readonly flag: string; readonly description: string }[];
  /** The commands of a group, such as `users add`. */
  readonly commands: readonly Words[];
}

/** @returns a script to be sourced by the shell. */
export function completionScript(program: Command, shell: Shell): string {
  const commands = program.commands.map(wordsOf);
  return { bash, zsh, fish }[shell](program.name(), commands);
}

function wordsOf(command: Command): Words {
  const flags = command.options.flatMap(({ long, description }) =>
    long === undefined || long === null ? [] : [{ flag: long, description }],
  );
  flags.push({ flag: '--help', description: 'display help for command' });
  return {
    name: command.name(),
    description: command.description(),
    flags,
    commands: command.commands.map(wordsOf),
  };
}

function namesOf(commands: readonly Words[]): string {
  return commands.map(({ name }) => name).join(' ');
}

function flagsOf({ flags }: Words): string {
  return flags.map(({ flag }) => flag).join(' ');
}

function bash(program: string, commands: readonly Words[]): string {
  const fn = `_${program.replaceAll('-', '_')}`;
  const top = `${namesOf(commands)} ${TOP_LEVEL.join(' ')}`;
  const cases = commands.flatMap((command) => [
    // In a group its commands are offered, and after one of them the flags of that command.
    ...command.commands.map(
      (each) => `    "${command.name} ${each.name}") words="${flagsOf(each)}" ;;`,
    ),
    command.commands.length > 0
      ? `    "${command.name} "*) words="${namesOf(command.commands)} ${flagsOf(command)}" ;;`
      : `    "${command.name} "*) words="${flagsOf(command)}" ;;`,
  ]);
  return [
    `${fn}() {`,
    '  local word="${COMP_WORDS[COMP_CWORD]}" second="${COMP_WORDS[2]}" words',
    '  [ "$COMP_CWORD" -le 2 ] && second=""',
    '  case "${COMP_WORDS[1]} $second" in',
    ...cases,
    `    *) words="${top}" ;;`,
    '  esac',
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    words="${top}"`,
    '  fi',
    '  COMPREPLY=($(compgen -W "$words" -- "$word"))',
    '}',
    `complete -o default -F ${fn} ${program}`,
  ].join('\n');
}

function zsh(program: string, commands: readonly Words[]): string {
  return [
    `#compdef ${program}`,
    `_${program.replaceAll('-', '_')}() {`,
    '  local -a commands',
    `  commands=(${zshList(commands)})`,
    '  if (( CURRENT == 2 )); then',
    "    _describe 'command' commands",
    `    compadd -- ${TOP_LEVEL.join(' ')}`,
    '    return',
    '  fi',
    '  case "${words[2]}" in',
    ...commands.flatMap(zshCase),
    '  esac',
    '}',
    `compdef _${program.replaceAll('-', '_')} ${program}`,
  ].join('\n');
}

function zshCase(command: Words): string[] {
  const { name, commands } = command;
  if (commands.length === 0) return [`    ${name}) ${zshArguments(command)} ;;`];
  return [
    `    ${name}) (( CURRENT == 3 )) && compadd -- ${flagsOf(command)}`,
    '      if (( CURRENT == 3 )); then',
    `        commands=(${zshList(commands)})`,
    "        _describe 'command' commands",
    '        return',
    '      fi',
    '      case "${words[3]}" in',
    ...commands.map((each) => `        ${each.name}) ${zshArguments(each)} ;;`),
    '      esac ;;',
  ];
}

function zshArguments({ flags }: Words): string {
  const lines = flags.map(({ flag, description }) => `'${flag}[${zshQuoted(description)}]'`);
  return `_arguments ${lines.join(' ')} '*:file:_files'`;
}

function zshList(commands: readonly Words[]): string {
  return commands.map(({ name, description }) => `'${name}:${zshQuoted(description)}'`).join(' ');
}

function fish(program: string, commands: readonly Words[]): string {
  const top = TOP_LEVEL.map((flag) => `complete -c ${program} -l ${flag.slice(2)}`);
  return [...top, ...fishLines(program, commands, '')].join('\n');
}

/** @param seen the condition under which one of these commands may come, "" at the top. */
function fishLines(program: string, commands: readonly Words[], seen: string): string[] {
  const others = `not __fish_seen_subcommand_from ${namesOf(commands)}`;
  return commands.flatMap((command) => {
    const { name, description, flags } = command;
    const here = `${seen}__fish_seen_subcommand_from ${name}`;
    return [
      `complete -c ${program} -n '${seen}${others}' -f -a ${name} -d '${fishQuoted(description)}'`,
      ...flags.map(
        (each) =>
          `complete -c ${program} -n '${here}' -l ${each.flag.slice(2)} -d '${fishQuoted(each.description)}'`,
      ),
      ...fishLines(program, command.commands, `${here}; and `),
    ];
  });
}

/** For between single quotes, in a list whose separator is the colon. */
function zshQuoted(text: string): string {
  return text.replaceAll("'", "'\\''").replaceAll(':', '\\:');
}

function fishQuoted(text: string): string {
  return text.replaceAll("'", "\\'");
}
