/** How deep and how long JSON may be (RFC 8259, section 9: a parser may set limits). */
import { CatalogError } from '../../errors.ts';

export interface JsonLimits {
  /** Arrays and objects within one another; an object of plain values has depth 1. */
  readonly depth: number;
  /** Elements of one array. */
  readonly elements: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Judges the depth before anything is parsed: a megabyte of brackets takes the parser, and whoever
 * clears its work away, a hundred times as long as the reading of it.
 *
 * @param text JSON, or what is to turn out as none.
 * @throws CatalogError `invalid`; `malformed_body` where what was opened is not closed, and the text
 *   no JSON of any depth.
 */
export function requireShallow({ depth }: JsonLimits, text: string): void {
  if (text.length <= depth) return;
  let reached = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === OPEN_ARRAY || code === OPEN_OBJECT) reached += 1;
    else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) reached -= 1;
    if (reached > deepest) deepest = reached;
  }
  if (deepest <= depth) return;
  if (reached !== 0)
    throw new CatalogError('malformed_body', 'the body is not JSON: it is cut off');
  const message = `the body is nested more than ${depth} levels deep`;
  throw new CatalogError('invalid', message, { fields: {} });
}

/** @returns the position of the quote that ends the string, or the end of the text. */
function endOfString(text: string, begin: number): number {
  for (let end = text.indexOf('"', begin + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}

/**
 * Walks a value that is not too deep.
 *
 * @throws CatalogError `invalid`.
 */
export function requireShort(limits: JsonLimits, value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const { elements } = limits;
  if (Array.isArray(value) && value.length > elements) {
    throw new CatalogError(
      'invalid',
      `an array of the body has ${value.length} elements, more than ${elements}`,
      { fields: {} },
    );
  }
  // An array is not copied only to be walked: it may have a million elements.
  for (const each of Array.isArray(value) ? value : Object.values(value)) {
    if (typeof each === 'object') requireShort(limits, each);
  }
}
