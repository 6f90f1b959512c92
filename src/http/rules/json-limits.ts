/** How deep and how long JSON may be (RFC 8259, section 9: a parser may set limits; spec 3.3). */
import { CatalogError } from '../../errors.ts';

export interface JsonLimits {
  /** Arrays and objects within one another; an object of plain values has depth 1. */
  readonly depth: number;
  /** Elements of one array. */
  readonly elements: number;
}

export const JSON_LIMITS: JsonLimits = { depth: 64, elements: 10_000 };

/** Bytes that are scanned at once: one to two milliseconds. */
const SLICE_BYTES = 256 * 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The commas of an object are counted from here, so that they never reach a limit. */
const OBJECT = -(2 ** 31);

/**
 * Checks the limits before anything is parsed. A megabyte of brackets costs the parser and the
 * garbage collector a hundred times as much as this scan, which reads every byte once.
 *
 * @param bytes text in UTF-8 that should be JSON. What is not JSON may pass.
 * @throws CatalogError `body_too_large`, `invalid`; `malformed_body` if the text is too deep and also
 *   ends early, because it is not JSON of any depth then.
 */
export async function requireWithinLimits(limits: JsonLimits, bytes: Uint8Array): Promise<void> {
  const scanner = new JsonScanner(limits, bytes);
  for (let end = SLICE_BYTES; end < bytes.length; end += SLICE_BYTES) {
    scanner.scanTo(end);
    await new Promise((resolve) => setImmediate(resolve));
  }
  scanner.scanTo(bytes.length);
  scanner.finish();
}

/** Where a scan of JSON is: between the slices others are served. */
class JsonScanner {
  readonly #limits: JsonLimits;
  readonly #bytes: Uint8Array;
  /** Commas so far of each open array; see {@link OBJECT}. */
  readonly #commas: number[] = [0];
  #at = 0;
  #inString = false;
  #depth = 0;
  #deepest = 0;

  constructor(limits: JsonLimits, bytes: Uint8Array) {
    this.#limits = limits;
    this.#bytes = bytes;
  }

  /** @throws CatalogError `body_too_large`. */
  scanTo(end: number): void {
    const bytes = this.#bytes;
    let at = this.#at;
    let inString = this.#inString;
    for (; at < end; at += 1) {
      const byte = bytes[at];
      if (inString) {
        if (byte === BACKSLASH) at += 1;
        else if (byte === QUOTE) inString = false;
      } else if (byte === QUOTE) inString = true;
      else if (byte === COMMA) this.#separate();
      else if (byte === OPEN_ARRAY) this.#open(0);
      else if (byte === OPEN_OBJECT) this.#open(OBJECT);
      else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) this.#depth -= 1;
    }
    // An escape may reach into the next slice.
    this.#at = at;
    this.#inString = inString;
  }

  /** @throws CatalogError `invalid`, `malformed_body`. */
  finish(): void {
    const { depth } = this.#limits;
    if (this.#deepest <= depth) return;
    if (this.#depth !== 0) {
      throw new CatalogError('malformed_body', 'the body is not JSON: it is cut off');
    }
    const message = `the body is nested more than ${depth} levels deep`;
    throw new CatalogError('invalid', message, { fields: {} });
  }

  #open(commas: number): void {
    this.#depth += 1;
    if (this.#depth > this.#deepest) this.#deepest = this.#depth;
    // Levels beyond the limit are only counted.
    if (this.#depth > 0 && this.#depth <= this.#limits.depth) this.#commas[this.#depth] = commas;
  }

  #separate(): void {
    const depth = this.#depth;
    if (depth < 1 || depth > this.#limits.depth) return;
    const commas = (this.#commas[depth] ?? 0) + 1;
    this.#commas[depth] = commas;
    const { elements } = this.#limits;
    if (commas < elements) return;
    const message = `an array of the body has more than ${elements} elements`;
    throw new CatalogError('body_too_large', message);
  }
}
