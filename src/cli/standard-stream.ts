/** Standard input and standard output as the files of commands. */
import { CatalogError, type Code, messageOf, systemErrorCode } from '../errors.ts';

/**
 * The name of a file that stands for standard input or standard output (POSIX.1-2017, Utility
 * Conventions, guideline 13).
 */
export const STANDARD_STREAM = '-';

/** What to do if a file cannot be an input. */
export const NAME_ONE = '; name a file, or "-" for standard input';

/** The name of an input for messages. @param file a path, or {@link STANDARD_STREAM}. */
export function inputName(file: string): string {
  return file === STANDARD_STREAM ? 'standard input' : file;
}

/**
 * The bytes of an input; an error of the system does not name it.
 *
 * @param file a path, or {@link STANDARD_STREAM}.
 * @throws CatalogError `code`, while it is read.
 */
export async function* readInput(
  file: string,
  bytes: AsyncIterable<Uint8Array>,
  code: Code,
): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch (cause) {
    // A file is read twice, which a pipe does not allow.
    const advice = systemErrorCode(cause) === 'EFTYPE' ? NAME_ONE : '';
    const message = `${inputName(file)} cannot be read: ${messageOf(cause)}${advice}`;
    throw new CatalogError(code, message, { cause });
  }
}
