/**
 * The name of a file that stands for standard input or standard output (POSIX.1-2017, Utility
 * Conventions, guideline 13).
 */
export const STANDARD_STREAM = '-';
