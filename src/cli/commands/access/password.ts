/** A password: typed twice on a terminal, without being shown, or one line of standard input. */
import { type Readable, Writable } from 'node:stream';
import { CatalogError } from '../../../errors.ts';
import type { Context } from '../../../app/context.ts';
import { bounded, wholeOf } from '../../../streams.ts';
import { readInput, STANDARD_STREAM } from '../../standard-stream.ts';

/** More than a password has, which is judged later; it bounds what is read. */
const MAX_BYTES = 4096;

/** What readline reads in place of bytes that are not UTF-8. */
const UNDECODED = '\ufffd';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * @param name of the account.
 * @throws CatalogError `account` if no password is given, or the two differ.
 */
export async function askPassword(name: string, context: Context): Promise<string> {
  const stream: Readable & { isTTY?: boolean } = context.input();
  if (stream.isTTY !== true) return oneLine(await allOf(stream));
  const [first, again] = await typeLines(stream, context, [
    `Password of ${name}:`,
    'Repeat the password:',
  ]);
  if (first === undefined || again === undefined) {
    throw new CatalogError('account', 'no password was given; nothing was changed');
  }
  if (first.includes(UNDECODED)) throw notUtf8('typed');
  if (first === again) return first;
  throw new CatalogError('account', 'the two passwords differ; nothing was changed');
}

function allOf(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const message = `standard input has more than ${MAX_BYTES} bytes; it must be one line with the password`;
  const bytes = readInput(STANDARD_STREAM, stream, 'account');
  return wholeOf(bounded(bytes, MAX_BYTES, () => new CatalogError('account', message)));
}

/** @returns the line typed at each prompt, without echo; fewer if Ctrl-C or Ctrl-D ended it. */
async function typeLines(
  input: NodeJS.ReadableStream,
  { terminal, warn }: Context,
  prompts: readonly string[],
): Promise<string[]> {
  // Loaded only here, because it would delay the start of a server, which does not use it.
  const { createInterface } = await import('node:readline');
  // With `terminal`, readline turns the echo off, writes only to its output, and closes on Ctrl-C
  // and Ctrl-D.
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: unseen, terminal: true, historySize: 0 });
  // Otherwise readline turns the echo on before it stops the process, which does not stop if no shell
  // controls its job, and reads nothing more after it has.
  lines.on('SIGTSTP', () => {});
  // The runtime restores the echo before SIGTERM and SIGINT end the process, and not before this one.
  const onHangup = () => {
    lines.close();
    process.kill(process.pid, 'SIGHUP');
  };
  process.once('SIGHUP', onHangup);
  const typed: string[] = [];
  const each = lines[Symbol.asyncIterator]();
  try {
    for (const prompt of prompts) {
      // Standard error may be a pipe to a terminal, as to tee(1).
      if (terminal === null) warn(prompt);
      else terminal.write(`${prompt} `);
      const line = await each.next();
      // The end of the line was not echoed either.
      terminal?.write('\n');
      if (line.done === true) break;
      typed.push(line.value);
    }
  } finally {
    process.off('SIGHUP', onHangup);
    lines.close();
  }
  return typed;
}

function notUtf8(where: string, cause?: unknown): CatalogError {
  return new CatalogError('account', `the password ${where} is not UTF-8`, { cause });
}

function oneLine(given: Uint8Array): string {
  let line: string;
  try {
    line = utf8.decode(given).replace(/\r?\n$/, '');
  } catch (cause) {
    throw notUtf8('on standard input', cause);
  }
  if (line === '') {
    throw new CatalogError(
      'account',
      'no password was given; type it on a terminal, or pass one line on standard input',
    );
  }
  if (/[\r\n]/.test(line)) {
    throw new CatalogError('account', 'standard input must be one line with the password');
  }
  return line;
}
