/** The manual page catalog-server(1), generated from the commands and flags of the program. */
import type { Command } from 'commander';
import { type CommandFacts, commandFacts, type FlagFacts } from './program-facts.ts';

const FILES: readonly (readonly [path: string, text: string])[] = [
  ['/etc/default/catalog-server', 'Variables of the service of the Debian package.'],
  ['/var/lib/catalog-server', 'The data directory of that service.'],
  [
    '/usr/share/doc/catalog-server/docs',
    'The documents of that package: operations.md, backup.md, troubleshooting.md and others.',
  ],
];

const EXIT_STATUSES: readonly (readonly [status: string, text: string])[] = [
  ['0', 'The command succeeded.'],
  ['1', 'The command failed. Standard error has one line that says why.'],
  ['2', 'The command was used wrongly.'],
];

/**
 * @param program whose commands are described.
 * @param date of the release, YYYY-MM-DD.
 * @returns the page in the macros of man(7).
 */
export function manualPage(program: Command, version: string, date: string): string {
  const name = program.name();
  const commands = commandFacts(program);
  return [
    `.TH ${name.toUpperCase()} 1 "${date}" "${name} ${version}" "User Commands"`,
    '.SH NAME',
    `${name} \\- ${text(lowerFirst(program.description().replace(/[.:].*$/, '')))}`,
    '.SH SYNOPSIS',
    `.B ${name}`,
    '.I command',
    '.RI [ option \\&...]',
    '.SH DESCRIPTION',
    text(program.description()),
    '.PP',
    'There is no configuration file. A flag takes precedence over its environment variable.',
    '.SH COMMANDS',
    ...commands.flatMap(commandLines),
    '.SH ENVIRONMENT',
    'The variable of a flag is named with it above. An empty variable counts as not set.',
    ...item(
      'CATALOG_JWT_SECRET',
      'The signing secret, at least 32 bytes. It replaces keys.json of the data directory. An empty value is an error.',
    ),
    '.SH FILES',
    ...FILES.flatMap(([path, what]) => item(path, what)),
    '.SH EXIT STATUS',
    ...EXIT_STATUSES.flatMap(([status, what]) => item(status, what)),
    '',
  ].join('\n');
}

function commandLines({ name, usage, description, arguments: args, groups, notes }: CommandFacts) {
  return [
    `.SS ${text(name)}`,
    '.B',
    text(usage),
    '.PP',
    text(sentence(description)),
    ...args.flatMap((each) => (each.description === '' ? [] : item(each.name, each.description))),
    ...groups.flatMap(({ heading, flags }) => [
      '.PP',
      `.I ${text(`${heading}:`)}`,
      ...flags.flatMap(flagLines),
    ]),
    ...(notes === '' ? [] : ['.PP', '.nf', ...notes.split('\n').map(text), '.fi']),
  ];
}

function flagLines({ usage, description, choices, default: fallback, variable }: FlagFacts) {
  const facts = [
    choices.length === 0 ? '' : `One of ${choices.join(', ')}.`,
    fallback === null ? '' : `Default: ${fallback}.`,
    variable === null ? '' : `Variable: ${variable}.`,
  ];
  return item(usage, [sentence(description), ...facts].filter((each) => each !== '').join(' '));
}

function item(term: string, what: string): string[] {
  return ['.TP', `.B ${text(term)}`, text(what)];
}

function sentence(words: string): string {
  const end = words.endsWith('.') ? '' : '.';
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${end}`;
}

function lowerFirst(words: string): string {
  return `${words.charAt(0).toLowerCase()}${words.slice(1)}`;
}

/** Escapes a line of text, so that roff finds no request and no escape in it (groff(7)). */
function text(line: string): string {
  const escaped = line.replaceAll('\\', '\\e').replaceAll('-', '\\-');
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped;
}
