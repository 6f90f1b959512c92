/** Limits the length of descriptions, before they are sent to be rendered. */
import { cutBetweenCharacters } from '../../model/characters.ts';

/**
 * UTF-16 units of a description that pages show; the rest is left out. Every description that the
 * service accepts today is shorter; an older store may contain longer ones.
 */
export const MAX_DESCRIPTION_LENGTH = 2 * 65_536;

/** The first {@link MAX_DESCRIPTION_LENGTH} units of a description. */
export function cutDescription(text: string): string {
  return text.length <= MAX_DESCRIPTION_LENGTH ? text : cut(text, MAX_DESCRIPTION_LENGTH);
}

/** The first `length` UTF-16 units, without half a surrogate pair at the end. */
export function cut(text: string, length: number): string {
  return text.slice(0, cutBetweenCharacters(text, length));
}
