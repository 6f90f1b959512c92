/** Runs the command line: streams, messages, exit statuses (spec 8.8). */
import type { Readable, Writable } from 'node:stream';
import { type Command, CommanderError } from 'commander';
import type { Context } from '../app/context.ts';
import { blockingDisk, type Disk, machineDisk } from '../disk/disk.ts';
import { closedOutput, isOutputClosed } from '../disk/system/closed-output.ts';
import { CatalogError, messageOf } from '../errors.ts';
import { escaped } from '../telemetry/text.ts';
import { parseSwitch } from './flags/flag.ts';
import { createProgram } from './program.ts';
import { systemMessage } from './system-errors.ts';

/** 0 to 255. */
export type ExitStatus = number;

/** An output stream. If it is a terminal, it has the properties of one. */
type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** The environment of the program. Whatever is left out is taken from the process. */
export interface Surroundings {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Called only by a command that reads standard input, since that keeps the process alive. */
  readonly stdin?: () => Readable;
  readonly stdout?: Output;
  readonly stderr?: Output;
  readonly disk?: Disk;
  readonly platform?: NodeJS.Platform;
}

/** Columns, if standard output is not a terminal. */
const DEFAULT_WIDTH = 80;

const NO_WINDOWS =
  'Windows is not supported, because the store needs flock(2) and synced directories; run the Linux executable in WSL 2 or in a container';

/**
 * Runs the program, and ends standard output.
 *
 * @param argv the arguments without the executable.
 * @param version of the program.
 */
export async function run(
  argv: readonly string[],
  version: string,
  {
    env = process.env,
    stdin = () => process.stdin,
    stdout = isOutputClosed() ? closedOutput() : process.stdout,
    stderr = process.stderr,
    disk,
    platform = process.platform,
  }: Surroundings = {},
): Promise<ExitStatus> {
  const isServer = argv[0] === 'serve';
  const verbose = argv.includes('--verbose') || isYes(env['CATALOG_VERBOSE']);
  let hasFailed = false;
  let refusal: Error | null = null;
  stdout.on('error', (error) => {
    hasFailed = true;
    refusal ??= lossOf(error);
  });
  // There is nowhere to report it.
  stderr.on('error', () => {});
  const context: Context = {
    env,
    version,
    disk: disk ?? (isServer ? machineDisk : blockingDisk),
    input: stdin,
    terminal: stderr.isTTY === true ? stderr : null,
    // It may quote a cell, a row, or the name of an archived object, as that of `warn`.
    print: (line) => void stdout.write(`${escaped(line)}\n`),
    write: (bytes) =>
      new Promise((resolve, reject) => {
        stdout.write(bytes, (error) => (error ? reject(error) : resolve()));
      }),
    warn(line, error) {
      stderr.write(`catalog-server: ${escaped(line)}\n`);
      if (!verbose) return;
      for (const cause of causesOf(error)) {
        if (cause instanceof Error) stderr.write(`${cause.stack}\n`);
      }
    },
  };
  if (platform === 'win32') {
    context.warn(NO_WINDOWS);
    return 1;
  }
  const width = stdout.columns ?? DEFAULT_WIDTH;
  const help = { write: (text: string) => void stdout.write(text), width };
  const words = helpAsFlag(argv);
  const program = createProgram(context, help, words[0]);
  let status: ExitStatus = 0;
  try {
    if (argv[0] === 'help') refuseUnknown(argv.slice(1), program);
    await program.parseAsync([...words], { from: 'user' });
  } catch (error) {
    status = report(error, context, words, program);
  }
  // A stream of Bun that has failed never calls back, and the process would end with 0.
  if (!hasFailed) await ended(stdout);
  // A server does not fail because of what it could not print.
  if (status !== 0 || refusal === null || isServer) return status;
  return report(refusal, context, argv, program);
}

/** `users add --help` for `help users add`, of which commander would show the help of `users`. */
function helpAsFlag(argv: readonly string[]): readonly string[] {
  const [first, ...words] = argv;
  return first === 'help' && words.length > 1 ? [...words, '--help'] : argv;
}

/**
 * Of words that name no command, commander would show the help of the command before them.
 *
 * @throws CommanderError unless the words, up to the first flag, name a command.
 */
function refuseUnknown(words: readonly string[], program: Command): void {
  let command = program;
  for (const word of words) {
    if (word.startsWith('-')) return;
    const named = command.commands.find((each) => each.name() === word);
    if (named === undefined) return command.error(`unknown command '${word}'`);
    command = named;
  }
}

/**
 * @returns the error to report if standard output fails, for example because its disk is full; null
 *   if the reader has closed it.
 */
function lossOf(error: NodeJS.ErrnoException): Error | null {
  if (error.code === 'EPIPE') return null;
  return new Error(
    `cannot write to standard output (${messageOf(error)}); the command itself has completed`,
    { cause: error },
  );
}

/** Waits until everything printed has been taken: an exit would cut off what a pipe still holds. */
function ended(stdout: Output): Promise<void> {
  return new Promise((resolve) => {
    stdout.once('error', () => resolve());
    stdout.end(() => resolve());
  });
}

/** Prints an error in one line. @returns the exit status for it. */
function report(
  error: unknown,
  context: Context,
  argv: readonly string[],
  program: Command,
): ExitStatus {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    const message = withoutCredentials(inOneLine(error.message.replace(/^error: /, '')));
    const said = error.code === 'commander.help' ? withoutCommand(argv) : message;
    context.warn(`${said.replace(/\.$/, '')}; see ${namedIn(argv, program)} --help`);
    return 2;
  }
  const causes = causesOf(error);
  const messages = causes.map((cause) => systemMessage(cause) ?? messageOf(cause));
  context.warn(messages.join('; '), error);
  return causes[0] instanceof CatalogError ? causes[0].exit : 1;
}

/** What an error consists of, the first failure first: more may fail while a server is closed. */
function causesOf(error: unknown): unknown[] {
  if (!(error instanceof SuppressedError)) return [error];
  return [...causesOf(error.suppressed), ...causesOf(error.error)];
}

/** @returns the program and the command that the arguments name, such as `catalog-server users add`. */
function namedIn(argv: readonly string[], program: Command): string {
  const names = [program.name()];
  let command: Command | undefined = program;
  for (const word of argv) {
    command = command.commands.find((each) => each.name() === word);
    if (command === undefined) break;
    names.push(word);
  }
  return names.join(' ');
}

/** @returns what to say if commander, without an error of its own, shows help because of arguments. */
function withoutCommand(argv: readonly string[]): string {
  const [, named] = argv.slice(argv.indexOf('help'));
  return argv.includes('help') && named !== undefined
    ? `unknown command '${named}'`
    : 'name a command';
}

/** An invalid value is reported later, with the other variables. */
function isYes(text = ''): boolean {
  try {
    return parseSwitch(text);
  } catch {
    return false;
  }
}

/**
 * Hides what an address has before its host, and an age identity in the place of a recipient: logs
 * are kept.
 */
function withoutCredentials(line: string): string {
  return line
    .replace(/AGE-SECRET-KEY-[\w-]*/gi, 'AGE-SECRET-KEY-***')
    .split(' ')
    .map((word) => {
      const [begin, end] = [word.indexOf('://'), word.lastIndexOf('@')];
      return begin < 0 || end < begin ? word : `${word.slice(0, begin)}://***${word.slice(end)}`;
    })
    .join(' ');
}

/** commander puts a suggestion on a line of its own. Another line end belongs to a value. */
function inOneLine(text: string): string {
  return text.replace(/\n(?=\(Did you mean )/, ' ');
}
