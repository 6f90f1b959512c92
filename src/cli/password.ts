/** A password: typed twice on a terminal, without being shown, or one line of standard input. */
import { buffer } from 'node:stream/consumers';
import { read } from 'read';
import { CatalogError } from '../errors.ts';
import type { Context } from './context.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * @param name whose password it is.
 * @throws CatalogError `account` where none is given, or the two differ.
 */
export async function askPassword(name: string, { input }: Context): Promise<string> {
  const stream: NodeJS.ReadableStream & { isTTY?: boolean } = input();
  const terminal = stream.isTTY === true && process.stderr.isTTY;
  if (!terminal) return oneLine(await buffer(stream));
  const ask = async (prompt: string) => {
    const typed = await read({ prompt, silent: true, input: stream, output: process.stderr });
    // The line end was typed, and not shown either.
    process.stderr.write('\n');
    return typed;
  };
  try {
    const first = await ask(`Password of ${name}:`);
    const again = await ask('Once more:');
    if (first === again) return first;
  } catch (cause) {
    throw new CatalogError('account', 'no password was given; nothing was changed', { cause });
  }
  throw new CatalogError('account', 'the two passwords differ; nothing was changed');
}

function oneLine(given: Uint8Array): string {
  let line: string;
  try {
    line = utf8.decode(given).replace(/\r?\n$/, '');
  } catch (cause) {
    throw new CatalogError('account', 'the password on standard input is not UTF-8', { cause });
  }
  if (line === '') {
    throw new CatalogError(
      'account',
      'no password was given; type it on a terminal, or pass one line on standard input',
    );
  }
  if (/[\r\n]/.test(line)) {
    throw new CatalogError('account', 'standard input has to be one line, the password');
  }
  return line;
}
