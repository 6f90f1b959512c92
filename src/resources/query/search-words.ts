/** The words of a search (spec 4.7). */
import { foldText, wordsOf } from '../../model/text-folding.ts';
import { malformed } from './parameters.ts';

/** Unicode code points of `q` as sent, at most. */
export const MAX_SEARCH_LENGTH = 200;

const MAX_SEARCH_WORDS = 10;

/**
 * @param text of the parameter `q`, decoded; undefined if it was not sent.
 * @returns folded words, each once; empty if there is nothing to search for.
 * @throws CatalogError `malformed_query`.
 */
export function parseSearch(text: string | undefined): readonly string[] {
  if (text === undefined) return [];
  if (Array.from(text).length > MAX_SEARCH_LENGTH) {
    throw malformed('q', `must have at most ${MAX_SEARCH_LENGTH} characters`);
  }
  const words = wordsOf(foldText(text));
  if (words.length > MAX_SEARCH_WORDS) {
    throw malformed('q', `must have at most ${MAX_SEARCH_WORDS} words`);
  }
  return [...new Set(words)];
}
