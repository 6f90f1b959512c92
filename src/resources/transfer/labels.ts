/** Names of rows as people read them in a cell: paths and specifications (spec 12.4). */

/** What a backslash stands before, besides a space at either end. */
const SPECIAL = /[\\;=>]/g;

/** A name within a path or a list of specifications. */
function escapeName(name: string): string {
  const escaped = name.replace(SPECIAL, String.raw`\$&`);
  const begun = escaped.startsWith(' ') ? `\\${escaped}` : escaped;
  // A name is not a space alone, so that this is another one.
  return begun.endsWith(' ') ? `${begun.slice(0, -1)}\\ ` : begun;
}

/** `Electronics > Phones`. @param names from the first level. */
export function pathText(names: readonly string[]): string {
  return names.map(escapeName).join(' > ');
}

/** `Colour=Silver; Storage=128 GB`. @param pairs a specification and its option. */
export function pairsText(pairs: readonly (readonly [string, string])[]): string {
  return pairs.map((pair) => pair.map(escapeName).join('=')).join('; ');
}

/** A text that is not a path or a list of specifications. The message ends a sentence. */
export class LabelError extends Error {}

/**
 * The names of a path, from the first level; none of an empty text.
 *
 * @throws LabelError if a name is empty.
 */
export function parsePath(text: string): string[] {
  return text === '' ? [] : split(text, '>').map(nameIn);
}

/**
 * Specifications and their options; none of an empty text.
 *
 * @throws LabelError if a part is not `name=value`.
 */
export function parsePairs(text: string): (readonly [string, string])[] {
  if (text === '') return [];
  return split(text, ';').map((part) => {
    const [name, value, ...more] = split(part, '=');
    if (name === undefined || value === undefined || more.length > 0) {
      throw new LabelError(String.raw`must be like Colour=Silver; Storage=128 GB`);
    }
    return [nameIn(name), nameIn(value)] as const;
  });
}

/** The parts between separators that no backslash stands before; escapes stay in them. */
function split(text: string, separator: string): string[] {
  if (!text.includes('\\')) return text.split(separator);
  const parts: string[] = [];
  let begin = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === separator) {
      parts.push(text.slice(begin, at));
      begin = at + 1;
    }
  }
  parts.push(text.slice(begin));
  return parts;
}

/** The name that a part stands for: without spaces at its ends, and without escapes. */
function nameIn(part: string): string {
  if (!part.includes('\\')) return withoutSpaces(part);
  let name = '';
  /** The length up to the last character that is no unescaped space. */
  let length = 0;
  for (let at = 0; at < part.length; at += 1) {
    const escaped = part[at] === '\\';
    if (escaped) at += 1;
    const unit = part[at];
    if (unit === undefined) throw new LabelError(String.raw`ends with a single \ `.trimEnd());
    if (unit === ' ' && !escaped && name === '') continue;
    name += unit;
    if (unit !== ' ' || escaped) length = name.length;
  }
  if (length === 0) throw new LabelError('has an empty name');
  return name.slice(0, length);
}

/** A name without escapes, without the spaces at its ends. @throws LabelError if it is empty. */
function withoutSpaces(part: string): string {
  let [begin, end] = [0, part.length];
  while (part[begin] === ' ') begin += 1;
  while (end > begin && part[end - 1] === ' ') end -= 1;
  if (begin === end) throw new LabelError('has an empty name');
  return part.slice(begin, end);
}
