/**
 * Limits on the depth and length of JSON from clients (RFC 8259, section 9: a parser may set
 * limits), checked before the text is parsed. A megabyte of brackets costs the parser and the
 * garbage collector a hundred times as much as this scan, which reads every character once.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

export interface JsonLimits {
  /** Arrays and objects within one another; an object of plain values has depth 1. */
  readonly depth: number;
  /** Elements of one array. */
  readonly elements: number;
  /** Members of one object; unlimited by default. */
  readonly members?: number;
  /** Characters of one string as written in the text, with its escapes; unlimited by default. */
  readonly characters?: number;
}

/** The limits of a request body, unless set otherwise. */
export const JSON_LIMITS: JsonLimits = { depth: 64, elements: 10_000 };

/**
 * What a text has too much of. `cut off`: it is too deep and also ends early, so it is not JSON at
 * any depth.
 */
export type Excess = keyof JsonLimits | 'cut off';

/** Characters that are scanned at once, which takes one to two milliseconds. */
const SLICE_UNITS = 256 * 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The commas of an object are counted from here, so that they never reach the limit of an array. */
const OBJECT = -(2 ** 31);

/**
 * Scans a text in slices.
 *
 * @param text is expected to be JSON. Text that is not JSON may pass.
 * @returns null if it is within the limits.
 */
export async function findExcessInSlices(limits: JsonLimits, text: string): Promise<Excess | null> {
  const scanner = new JsonScanner(limits, text);
  for (let end = SLICE_UNITS; end < text.length; end += SLICE_UNITS) {
    const found = scanner.scanTo(end);
    if (found !== null) return found;
    await nextTurn();
  }
  return scanner.scanTo(text.length) ?? scanner.finish();
}

/** The same at once, for a short text. */
export function findExcess(limits: JsonLimits, text: string): Excess | null {
  const scanner = new JsonScanner(limits, text);
  return scanner.scanTo(text.length) ?? scanner.finish();
}

/** The state of a scan, which can pause between slices. */
class JsonScanner {
  readonly #limits: JsonLimits;
  readonly #text: string;
  /** The count of commas at which an object has too many members. */
  readonly #lastComma: number;
  readonly #characters: number;
  /** Commas so far of each open container; see {@link OBJECT}. */
  readonly #commas: number[] = [0];
  #at = 0;
  /** The start of the string that the scan is in; -1 outside of strings. */
  #string = -1;
  #depth = 0;
  #deepest = 0;

  constructor(limits: JsonLimits, text: string) {
    this.#limits = limits;
    this.#text = text;
    this.#lastComma = limits.members === undefined ? 0 : OBJECT + limits.members;
    this.#characters = limits.characters ?? text.length;
  }

  scanTo(end: number): Excess | null {
    const text = this.#text;
    let at = this.#at;
    let string = this.#string;
    for (; at < end; at += 1) {
      const code = text.charCodeAt(at);
      if (string >= 0) {
        if (code === BACKSLASH) at += 1;
        else if (code === QUOTE) {
          if (at - string - 1 > this.#characters) return 'characters';
          string = -1;
        }
      } else if (code === QUOTE) string = at;
      else if (code === COMMA) {
        const found = this.#separate();
        if (found !== null) return found;
      } else if (code === OPEN_ARRAY) this.#open(0);
      else if (code === OPEN_OBJECT) this.#open(OBJECT);
      else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) this.#depth -= 1;
    }
    // An escape may reach into the next slice.
    this.#at = at;
    this.#string = string;
    return string >= 0 && at - string - 1 > this.#characters ? 'characters' : null;
  }

  finish(): Excess | null {
    if (this.#deepest <= this.#limits.depth) return null;
    return this.#depth === 0 ? 'depth' : 'cut off';
  }

  #open(commas: number): void {
    this.#depth += 1;
    if (this.#depth > this.#deepest) this.#deepest = this.#depth;
    // Levels beyond the limit are only counted.
    if (this.#depth > 0 && this.#depth <= this.#limits.depth) this.#commas[this.#depth] = commas;
  }

  #separate(): Excess | null {
    const depth = this.#depth;
    if (depth < 1 || depth > this.#limits.depth) return null;
    const commas = (this.#commas[depth] ?? 0) + 1;
    this.#commas[depth] = commas;
    if (commas >= this.#limits.elements) return 'elements';
    return commas < 0 && commas >= this.#lastComma ? 'members' : null;
  }
}
