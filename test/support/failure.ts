/** Failures that a test expects. A call that succeeds, or throws another error, fails the test. */
import * as assert from 'uvu/assert';
import { CatalogError, type Code } from '../../src/errors.ts';

/** A promise, or a function that may throw at once or return a promise that is rejected. */
type Work = Promise<unknown> | (() => unknown);

/** The error of a promise or call. @throws if there is none, and what is not a CatalogError. */
export async function failureOf(work: Work): Promise<CatalogError> {
  try {
    await (typeof work === 'function' ? work() : work);
  } catch (error) {
    if (error instanceof CatalogError) return error;
    throw error;
  }
  throw new Error('nothing failed');
}

/** The code of the error of a promise or call. @throws as {@link failureOf}. */
export async function codeOf(work: Work): Promise<Code> {
  return (await failureOf(work)).code;
}

/**
 * The message of the error of a promise or call, which has to be one line.
 *
 * @param code that the error has to have. @throws as {@link failureOf}.
 */
export async function failureMessage(work: Work, code: Code): Promise<string> {
  const error = await failureOf(work);
  assert.is(error.code, code, error.message);
  assert.not.match(error.message, /\n/);
  return error.message;
}

/** The code of the error of a promise or call, or `done`. @throws what is not a CatalogError. */
export async function outcomeOf(work: Work): Promise<Code | 'done'> {
  try {
    await (typeof work === 'function' ? work() : work);
    return 'done';
  } catch (error) {
    if (error instanceof CatalogError) return error.code;
    throw error;
  }
}
