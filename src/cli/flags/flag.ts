/** Flags and their environment variables (spec 8.2). */
import { type Command, InvalidArgumentError, Option } from 'commander';

/** A flag with a variable. commander would read it from the process; here the caller gives it. */
export class Flag extends Option {
  /** Names of the flags that it cannot be given with, as commander has them. */
  readonly excluded: string[] = [];
  isNeeded = false;
  standsForArguments = false;
  isAlternative = false;
  /** Name of the flag without which it has no effect, as commander has it; null if there is none. */
  companion: string | null = null;

  /** `CATALOG_MAX_BODY` for `--max-body`. */
  get variable(): string {
    return `CATALOG_${this.name().replaceAll('-', '_').toUpperCase()}`;
  }

  /**
   * Makes the flag mandatory, and says so in the help. commander's own check comes before variables
   * are read.
   */
  needed(): this {
    this.isNeeded = true;
    this.description += ' (required)';
    return this;
  }

  /** The flag is an alternative to arguments: if there are some, its variable is ignored. */
  insteadOfArguments(): this {
    this.standsForArguments = true;
    return this;
  }

  /**
   * The flag is an alternative to the named ones, which are declared after it: together they are
   * refused, but its variable is preferred to theirs.
   */
  insteadOf(names: string[]): this {
    this.isAlternative = true;
    return this.conflicts(names);
  }

  /** The flag has no effect without the named one. */
  onlyWith(name: string): this {
    this.companion = name;
    return this;
  }

  override conflicts(names: string | string[]): this {
    this.excluded.push(...[names].flat());
    return super.conflicts(names);
  }
}

interface Fallback<T> {
  readonly value: T;
  /** How the help shows the value, if differently; needed if the value is not known yet. */
  readonly shown?: string;
}

/**
 * @param flags as commander reads them, such as `--max-body <size>`.
 * @param parse turns the text into a value, or throws commander's `InvalidArgumentError`;
 *   `previous` is the value so far of a flag that is repeated.
 */
export function flag<T>(
  flags: string,
  description: string,
  parse: (text: string, previous: T) => T,
  fallback?: Fallback<T>,
): Flag {
  const option = new Flag(flags, description).argParser<T>(parse);
  return fallback === undefined ? option : option.default(fallback.value, fallback.shown);
}

/** A flag whose value is one of a list. */
export function choice<T extends string>(
  flags: string,
  description: string,
  choices: readonly T[],
  fallback?: T,
): Flag {
  const option = new Flag(flags, description).choices(choices);
  return fallback === undefined ? option : option.default(fallback);
}

/** A flag without a value; its variable is `yes` or `no`. */
export function toggle(flags: string, description: string): Flag {
  return new Flag(flags, description);
}

/**
 * @param text as a user or a variable gives it: yes or no, true or false, 1 or 0.
 * @throws InvalidArgumentError.
 */
export function parseSwitch(text: string): boolean {
  if (/^(?:yes|true|1)$/.test(text)) return true;
  if (/^(?:no|false|0)$/.test(text)) return false;
  throw new InvalidArgumentError('Give yes or no.');
}

/**
 * Sets the flags that are missing in a command's arguments from their variables. An empty variable
 * counts as not set, and so does one whose flag conflicts with a given flag.
 *
 * @throws CommanderError if a value is not valid, or a flag is missing that the command needs.
 */
export function applyVariables(
  command: Command,
  env: Readonly<Record<string, string | undefined>>,
): void {
  const flags = command.options.filter((option) => option instanceof Flag);
  const given = flags.filter(
    (option) => command.getOptionValueSource(option.attributeName()) === 'cli',
  );
  const applied: Flag[] = [];
  for (const option of flags) {
    const value = mayApply(option, given, command) ? valueIn(env, option, command) : undefined;
    if (value !== undefined) {
      const other = applied.find((each) => excludes(each, option));
      if (other?.isAlternative) continue;
      if (other !== undefined) {
        command.error(`${other.variable} and ${option.variable} cannot be set together`);
      }
      command.setOptionValueWithSource(option.attributeName(), value, 'env');
      applied.push(option);
    }
    if (option.isNeeded && command.getOptionValue(option.attributeName()) === undefined) {
      command.error(`required option '${option.flags}' not specified`);
    }
  }
}

/**
 * Refuses flags that have no effect in the command's arguments. Variables may be set for several
 * commands, so those are ignored.
 *
 * @throws CommanderError if the flag is missing without which a given one has no effect.
 */
export function requireCompanions(command: Command): void {
  for (const option of command.options) {
    if (!(option instanceof Flag) || option.companion === null) continue;
    if (command.getOptionValueSource(option.attributeName()) !== 'cli') continue;
    if (command.getOptionValue(option.companion) !== undefined) continue;
    const other = command.options.find((each) => each.attributeName() === option.companion);
    command.error(`${option.long} has no effect without ${other?.long}`);
  }
}

function mayApply(option: Flag, given: readonly Flag[], { args }: Command): boolean {
  if (option.standsForArguments && args.length > 0) return false;
  return !given.some((other) => other === option || excludes(other, option));
}

function excludes(one: Flag, other: Flag): boolean {
  return (
    one.excluded.includes(other.attributeName()) || other.excluded.includes(one.attributeName())
  );
}

/** @returns undefined if the variable counts as not set, or is the `no` of a flag without a value. */
function valueIn(
  env: Readonly<Record<string, string | undefined>>,
  option: Flag,
  command: Command,
): unknown {
  const text = env[option.variable] ?? '';
  if (text === '') return undefined;
  try {
    return option.isBoolean() ? parseSwitch(text) || undefined : option.parseArg?.(text, undefined);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    const where = `option '${option.flags}' value '${text}' from env '${option.variable}'`;
    return command.error(`${where} is invalid. ${error.message}`);
  }
}
