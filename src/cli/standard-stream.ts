/**
 * The name of a file that stands for standard input or standard output (POSIX.1-2017, Utility
 * Conventions, guideline 13).
 */
export const STANDARD_STREAM = '-';

/** The name of an input for messages. @param file a path, or {@link STANDARD_STREAM}. */
export function inputName(file: string): string {
  return file === STANDARD_STREAM ? 'standard input' : file;
}
