/** The layout of the help of the program and its commands. */
import { type Command, Help, type HelpConfiguration, type Option } from 'commander';
import { Flag } from './flags/flag.ts';

/** Columns for the names of flags; the description of a longer name begins on the next line. */
const MAX_TERM_WIDTH = 26;

/** Columns of a description. A narrower one is not wrapped, because it would be a word a line. */
const MIN_DESCRIPTION_WIDTH = 20;

export const HELP: HelpConfiguration = {
  minWidthToWrap: MIN_DESCRIPTION_WIDTH,

  padWidth(this: Help, command: Command, helper: Help): number {
    return Math.min(Help.prototype.padWidth.call(this, command, helper), MAX_TERM_WIDTH);
  },

  formatItem(
    this: Help,
    term: string,
    termWidth: number,
    description: string,
    helper: Help,
  ): string {
    const format = (first: string) =>
      Help.prototype.formatItem.call(this, first, termWidth, description, helper);
    const fits = helper.displayWidth(term) <= termWidth;
    return fits || description === '' ? format(term) : `  ${term}\n${format('')}`;
  },

  optionDescription(option: Option): string {
    const { description, argChoices, defaultValue, defaultValueDescription } = option;
    const facts: string[] = [];
    if (argChoices !== undefined) facts.push(argChoices.join('|'));
    const fallback = defaultValueDescription ?? defaultValue;
    if (fallback !== undefined) facts.push(`default: ${String(fallback)}`);
    if (option instanceof Flag) facts.push(`env: ${option.variable}`);
    return facts.length === 0 ? description : `${description} (${facts.join(', ')})`;
  },
};
