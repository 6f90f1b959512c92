/** `completion`: scripts for shells, generated from the program's own commands and flags. */
import type { Command } from 'commander';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof SHELLS)[number];

/** Flags of the program itself. */
const TOP_LEVEL = ['--help', '--version'];

interface FlagWords {
  readonly flag: string;
  readonly description: string;
  /** Whether the next word is its value. */
  readonly takesValue: boolean;
  /** The values that it may have; empty if it may have others. */
  readonly values: readonly string[];
}

interface Words {
  readonly name: string;
  readonly description: string;
  readonly flags: readonly FlagWords[];
  /** The values that its arguments may have, such as the names of collections. */
  readonly choices: readonly string[];
  /** The commands of a group, such as `users add`. */
  readonly commands: readonly Words[];
}

/** @returns a script to be sourced by the shell. */
export function completionScript(program: Command, shell: Shell): string {
  const commands = program.commands.map(wordsOf);
  return { bash, zsh, fish }[shell](program.name(), commands);
}

function wordsOf(command: Command): Words {
  const flags: FlagWords[] = command.options.flatMap(
    ({ long, description, required, argChoices = [] }) =>
      long === undefined
        ? []
        : [{ flag: long, description, takesValue: required, values: argChoices }],
  );
  flags.push({
    flag: '--help',
    description: 'display help for command',
    takesValue: false,
    values: [],
  });
  return {
    name: command.name(),
    description: command.description(),
    flags,
    choices: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    commands: command.commands.map(wordsOf),
  };
}

function namesOf(commands: readonly Words[]): string {
  return commands.map(({ name }) => name).join(' ');
}

/** Everything that may follow a command. */
function followersOf({ flags, choices }: Words): string {
  return [...choices, ...flags.map(({ flag }) => flag)].join(' ');
}

function bash(program: string, commands: readonly Words[]): string {
  const fn = `_${program.replaceAll('-', '_')}`;
  const top = `${namesOf(commands)} ${TOP_LEVEL.join(' ')}`;
  const cases = commands.flatMap((command) => [
    ...afterChoiceInBash(command),
    // After a group its commands are offered, and after a command of the group its flags.
    ...command.commands.map(
      (each) => `    "${command.name} ${each.name}") words="${followersOf(each)}" ;;`,
    ),
    `    "${command.name} "*) words="${namesOf(command.commands)} ${followersOf(command)}" ;;`,
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
    '  case "${COMP_WORDS[COMP_CWORD-1]}" in',
    ...valuesInBash(commands),
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "$word"))',
    '}',
    `complete -o default -F ${fn} ${program}`,
  ].join('\n');
}

/** After `import skus` a file follows, such as skus.csv: bash offers files if no word matches. */
function afterChoiceInBash({ name, choices, flags }: Words): string[] {
  if (choices.length === 0) return [];
  const chosen = choices.map((choice) => `"${name} ${choice}"`).join('|');
  return [`    ${chosen}) words="${flags.map(({ flag }) => flag).join(' ')}" ;;`];
}

/** The values of a flag; without any, bash offers files instead of the flags of the command. */
function valuesInBash(commands: readonly Words[]): string[] {
  const all = [...commands, ...commands.flatMap((command) => command.commands)];
  const values = new Map<string, readonly string[]>();
  for (const each of all.flatMap(({ flags }) => flags)) {
    if (each.takesValue) values.set(each.flag, each.values);
  }
  return [...values].map(([flag, words]) => `    ${flag}) words="${words.join(' ')}" ;;`);
}

function zsh(program: string, commands: readonly Words[]): string {
  // A file of this name in $fpath is the body of this function until its first call.
  const fn = `_${program}`;
  return [
    `#compdef ${program}`,
    `${fn}() {`,
    '  local -a commands',
    `  commands=(${zshList(commands)})`,
    '  if (( CURRENT == 2 )); then',
    "    _describe 'command' commands",
    `    compadd -- ${TOP_LEVEL.join(' ')}`,
    '    return',
    '  fi',
    ...NEXT_IN_ZSH,
    '  case "${words[1]}" in',
    ...commands.flatMap(zshCase),
    '  esac',
    '}',
    `if [ "\${funcstack[1]}" = ${fn} ]; then`,
    `  ${fn} "$@"`,
    'else',
    `  compdef ${fn} ${program}`,
    'fi',
  ].join('\n');
}

/** Removes the first word: _arguments counts arguments after it. */
const NEXT_IN_ZSH = ['  shift words', '  (( CURRENT-- ))'];

function zshCase(command: Words): string[] {
  const { name, commands } = command;
  if (commands.length === 0) return [`    ${name}) ${zshArguments(command)} ;;`];
  return [
    `    ${name}) (( CURRENT == 2 )) && compadd -- ${followersOf(command)}`,
    '      if (( CURRENT == 2 )); then',
    `        commands=(${zshList(commands)})`,
    "        _describe 'command' commands",
    '        return',
    '      fi',
    ...NEXT_IN_ZSH.map((line) => `    ${line}`),
    '      case "${words[1]}" in',
    ...commands.map((each) => `        ${each.name}) ${zshArguments(each)} ;;`),
    '      esac ;;',
  ];
}

function zshArguments({ flags, choices }: Words): string {
  const first = choices.length === 0 ? '' : ` '1:name:(${choices.join(' ')})'`;
  return `_arguments ${flags.map(zshFlag).join(' ')}${first} '*:file:_files'`;
}

function zshFlag({ flag, description, takesValue, values }: FlagWords): string {
  const said = `[${zshQuoted(description)}]`;
  if (!takesValue) return `'${flag}${said}'`;
  return `'${flag}=${said}:value:${values.length === 0 ? '_files' : `(${values.join(' ')})`}'`;
}

function zshList(commands: readonly Words[]): string {
  return commands.map(({ name, description }) => `'${name}:${zshQuoted(description)}'`).join(' ');
}

function fish(program: string, commands: readonly Words[]): string {
  const top = TOP_LEVEL.map((flag) => `complete -c ${program} -l ${flag.slice(2)}`);
  return [...top, ...fishLines(program, commands, '')].join('\n');
}

/** @param seen the condition under which these commands are offered; "" at the top. */
function fishLines(program: string, commands: readonly Words[], seen: string): string[] {
  const others = `not __fish_seen_subcommand_from ${namesOf(commands)}`;
  return commands.flatMap((command) => {
    const { name, description, flags, choices } = command;
    const here = `${seen}__fish_seen_subcommand_from ${name}`;
    return [
      `complete -c ${program} -n '${seen}${others}' -f -a ${name} -d '${fishQuoted(description)}'`,
      ...flags.map(
        (each) =>
          `complete -c ${program} -n '${here}' -l ${each.flag.slice(2)}${fishValue(each)} -d '${fishQuoted(each.description)}'`,
      ),
      ...choices.map((choice) => `complete -c ${program} -n '${here}' -a ${choice}`),
      ...fishLines(program, command.commands, `${here}; and `),
    ];
  });
}

/** Without a list of values fish offers files. */
function fishValue({ takesValue, values }: FlagWords): string {
  if (!takesValue) return '';
  return values.length === 0 ? ' -r' : ` -x -a '${values.join(' ')}'`;
}

/** Escapes a text for single quotes, in a list whose separator is the colon. */
function zshQuoted(text: string): string {
  return text.replaceAll("'", "'\\''").replaceAll(':', '\\:');
}

function fishQuoted(text: string): string {
  return text.replaceAll("'", "\\'");
}
