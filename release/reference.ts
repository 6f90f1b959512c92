/** docs/reference.md: every command, flag and variable, generated from the program. */
import type { Command } from 'commander';
import { type CommandFacts, commandFacts, type FlagFacts } from './program-facts.ts';

const BEFORE = `# Reference

Every command, flag and variable of the program. \`bun bin/reference.ts\` writes this page from the program, and a test compares the two; change the texts in \`src/cli/\`.

There is no configuration file. A flag takes precedence over its variable. An empty variable counts as not set, except \`CATALOG_JWT_SECRET\`.

The exit status is 0 if the command succeeded, 1 if it failed, and 2 if its usage was wrong. An error is one line on standard error; [errors.md](errors.md) lists all of them.

| Variable without a flag | Meaning |
|---|---|
| \`CATALOG_JWT_SECRET\` | the text of the signing secret, at least 32 bytes; it replaces \`keys.json\` of the data directory, and an empty or shorter one is an error; \`serve\` and \`issue-token\` need the same one |
`;

/** @returns the page as Markdown. */
export function referencePage(program: Command): string {
  const commands = commandFacts(program);
  return [
    BEFORE,
    '| Command | Does |',
    '|---|---|',
    ...commands.map(
      ({ name, description }) => `| [\`${name}\`](#${anchorOf(name)}) | ${cell(description)} |`,
    ),
    '',
    ...commands.map(section),
  ].join('\n');
}

function section({ name, usage, description, arguments: args, groups, notes }: CommandFacts) {
  const described = args.filter((each) => each.description !== '');
  return [
    `## ${name}`,
    '',
    `\`${usage}\`: ${cell(description)}.`,
    '',
    ...described.map((each) => `- \`${each.name}\`: ${cell(each.description)}`),
    ...(described.length > 0 ? [''] : []),
    ...groups.flatMap(({ heading, flags }) => [
      ...(groups.length > 1 ? [`### ${name}: ${heading.toLowerCase()}`, ''] : []),
      '| Flag | Variable | Default | Meaning |',
      '|---|---|---|---|',
      ...flags.map(flagRow),
      '',
    ]),
    ...(notes === '' ? [] : ['```', notes, '```', '']),
  ].join('\n');
}

function flagRow({ usage, variable, default: fallback, choices, description }: FlagFacts): string {
  const among = choices.length === 0 ? '' : `: ${choices.map(code).join(', ')}`;
  const cells = [code(usage), variable === null ? '' : code(variable), fallback ?? ''];
  return `| ${cells.map(cell).join(' | ')} | ${cell(`${description}${among}`)} |`;
}

const code = (words: string) => `\`${words}\``;

/** In a table a bar would end the cell. */
const cell = (words: string) => words.replaceAll('|', '\\|');

/** The anchor that renderers of Markdown give a heading. */
const anchorOf = (heading: string) => heading.replaceAll(' ', '-');
