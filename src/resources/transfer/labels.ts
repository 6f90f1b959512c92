/** Names of rows as people read and write them in a cell: paths and specifications (spec 12.4). */
import { atOnce } from '../../slices.ts';

/** Characters that are escaped with a backslash, besides a space at either end of a name. */
const SPECIAL = /[\\;=>]/g;

/** A name within a path or a list of specifications. */
function escapeName(name: string): string {
  const escaped = name.replace(SPECIAL, String.raw`\$&`);
  const begun = escaped.startsWith(' ') ? `\\${escaped}` : escaped;
  // A name is never a single space, so this is not the space at the beginning.
  return begun.endsWith(' ') ? `${begun.slice(0, -1)}\\ ` : begun;
}

/** `Electronics > Phones`. @param names from the first level. */
export function pathText(names: readonly string[]): string {
  return names.map(escapeName).join(' > ');
}

/** `Colour=Silver`. @param pair a specification and its option. */
export function pairText(pair: readonly [string, string]): string {
  return pair.map(escapeName).join('=');
}

/** `Colour=Silver; Storage=128 GB`. @param texts as of {@link pairText}. */
export function joinPairs(texts: readonly string[]): string {
  return texts.join('; ');
}

/** A text that is not a path or a list of specifications. The message is the end of a sentence. */
export class LabelError extends Error {}

/** Levels of a path. */
const MAX_LEVELS = 3;

/**
 * The names of a path, from the first level; empty for an empty text.
 *
 * @throws LabelError if a name is empty, or there are more levels than categories have.
 */
export function parsePath(text: string): string[] {
  if (text === '') return [];
  const parts = atOnce(split(text, '>', MAX_LEVELS));
  if (parts === null) throw new LabelError('must have at most three levels');
  return parts.map(nameIn);
}

/**
 * Specifications and their options; empty for an empty text. Yields between parts of the work.
 *
 * @param most pairs, at most.
 * @throws LabelError if a part is not `name=value`, or there are more.
 */
export function* parsePairs(
  text: string,
  most: number,
): Generator<undefined, (readonly [string, string])[]> {
  if (text === '') return [];
  const parts = yield* split(text, ';', most);
  if (parts === null) throw new LabelError(`has more than ${most} specifications`);
  const pairs: (readonly [string, string])[] = [];
  for (const part of parts) {
    const [name, value] = (yield* split(part, '=', 2)) ?? [];
    if (name === undefined || value === undefined) {
      throw new LabelError(String.raw`must be like Colour=Silver; Storage=128 GB`);
    }
    pairs.push([nameIn(name), nameIn(value)]);
    yield;
  }
  return pairs;
}

const BACKSLASH = 0x5c;
const SPACE = 0x20;

/** Characters between two yields, which take a tenth of a millisecond. */
const SLICE_UNITS = 32 * 1024;

/**
 * The parts between separators that are not escaped; the parts keep their escapes.
 *
 * @returns null if there are more than `most`.
 */
function* split(
  text: string,
  separator: string,
  most: number,
): Generator<undefined, string[] | null> {
  const wanted = separator.charCodeAt(0);
  const parts: string[] = [];
  let begin = 0;
  let pause = SLICE_UNITS;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (code === wanted) {
      if (parts.length + 1 >= most) return null;
      parts.push(text.slice(begin, at));
      begin = at + 1;
    }
    if (at < pause) continue;
    pause = at + SLICE_UNITS;
    yield;
  }
  parts.push(text.slice(begin));
  return parts;
}

/** UTF-16 units of a name, at most: 255 characters of two units, a backslash before each of them. */
const MAX_NAME_UNITS = 4 * 255;

/** The name that a part stands for: without spaces at its ends, and without escapes. */
function nameIn(part: string): string {
  let [begin, end] = [0, part.length];
  while (part.charCodeAt(begin) === SPACE) begin += 1;
  while (end > begin && part.charCodeAt(end - 1) === SPACE) end -= 1;
  if (isEscaped(part, end)) {
    if (end === part.length) throw new LabelError(String.raw`ends with a single \ `.trimEnd());
    end += 1;
  }
  if (begin === end) throw new LabelError('has an empty name');
  if (end - begin > MAX_NAME_UNITS) throw new LabelError('has a name that is too long');
  return part.slice(begin, end).replaceAll(/\\([^])/g, '$1');
}

/** Whether the character at an offset is escaped: an odd number of backslashes is before it. */
function isEscaped(text: string, at: number): boolean {
  let before = at;
  while (before > 0 && text.charCodeAt(before - 1) === BACKSLASH) before -= 1;
  return (at - before) % 2 === 1;
}
