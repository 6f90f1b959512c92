/** Flags and their environment variables. */
import { type Command, InvalidArgumentError, Option } from 'commander';

/** commander would read variables from the process; here the caller of the program gives them. */
export class Flag extends Option {
  /** `CATALOG_MAX_BODY` for `--max-body`. */
  get variable(): string {
    return `CATALOG_${this.name().replaceAll('-', '_').toUpperCase()}`;
  }
}

interface Fallback<T> {
  readonly value: T;
  /** How the help shows the value, if not as it is; needed for one that is not known here. */
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
  fallback: T,
): Flag {
  return new Flag(flags, description).choices(choices).default(fallback);
}

/**
 * Gives the flags of a command that its arguments left out the values of their variables. An empty
 * variable counts as not set.
 *
 * @throws CommanderError if a value is not valid.
 */
export function applyVariables(
  command: Command,
  env: Readonly<Record<string, string | undefined>>,
): void {
  for (const option of command.options) {
    if (!(option instanceof Flag)) continue;
    const text = env[option.variable];
    const key = option.attributeName();
    if (text === undefined || text === '' || command.getOptionValueSource(key) === 'cli') continue;
    try {
      command.setOptionValueWithSource(key, option.parseArg?.(text, undefined), 'env');
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      const where = `option '${option.flags}' value '${text}' from env '${option.variable}'`;
      command.error(`${where} is invalid. ${error.message}`);
    }
  }
}
