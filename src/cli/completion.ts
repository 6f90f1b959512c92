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
  return { name: command.name(), description: command.description(), flags };
}

function bash(program: string, commands: readonly Words[]): string {
  const fn = `_${program.replaceAll('-', '_')}`;
  const cases = commands.map(
    ({ name, flags }) => `    ${name}) words="${flags.map(({ flag }) => flag).join(' ')}" ;;`,
  );
  return [
    `${fn}() {`,
    '  local word="${COMP_WORDS[COMP_CWORD]}" words',
    '  case "${COMP_WORDS[1]}" in',
    ...cases,
    `    *) words="${commands.map(({ name }) => name).join(' ')} ${TOP_LEVEL.join(' ')}" ;;`,
    '  esac',
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    words="${commands.map(({ name }) => name).join(' ')} ${TOP_LEVEL.join(' ')}"`,
    '  fi',
    '  COMPREPLY=($(compgen -W "$words" -- "$word"))',
    '}',
    `complete -o default -F ${fn} ${program}`,
  ].join('\n');
}

function zsh(program: string, commands: readonly Words[]): string {
  const cases = commands.map(({ name, flags }) => {
    const lines = flags.map(({ flag, description }) => `'${flag}[${zshQuoted(description)}]'`);
    return `    ${name}) _arguments ${lines.join(' ')} '*:file:_files' ;;`;
  });
  return [
    `#compdef ${program}`,
    `_${program.replaceAll('-', '_')}() {`,
    '  local -a commands',
    `  commands=(${commands.map(({ name, description }) => `'${name}:${zshQuoted(description)}'`).join(' ')})`,
    '  if (( CURRENT == 2 )); then',
    "    _describe 'command' commands",
    `    compadd -- ${TOP_LEVEL.join(' ')}`,
    '    return',
    '  fi',
    '  case "${words[2]}" in',
    ...cases,
    '  esac',
    '}',
    `compdef _${program.replaceAll('-', '_')} ${program}`,
  ].join('\n');
}

function fish(program: string, commands: readonly Words[]): string {
  const names = commands.map(({ name }) => name).join(' ');
  const lines = commands.flatMap(({ name, description, flags }) => [
    `complete -c ${program} -n 'not __fish_seen_subcommand_from ${names}' -f -a ${name} -d '${fishQuoted(description)}'`,
    ...flags.map(
      (each) =>
        `complete -c ${program} -n '__fish_seen_subcommand_from ${name}' -l ${each.flag.slice(2)} -d '${fishQuoted(each.description)}'`,
    ),
  ]);
  const top = TOP_LEVEL.map((flag) => `complete -c ${program} -l ${flag.slice(2)}`);
  return [...top, ...lines].join('\n');
}

/** For between single quotes, in a list whose separator is the colon. */
function zshQuoted(text: string): string {
  return text.replaceAll("'", "'\\''").replaceAll(':', '\\:');
}

function fishQuoted(text: string): string {
  return text.replaceAll("'", "\\'");
}
