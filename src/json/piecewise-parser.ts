/**
 * Parses a document with long lists of rows as its bytes arrive. The result is that of `JSON.parse`,
 * but the length of a string is limited, and that of a base is not; and one call of `JSON.parse`
 * blocks the event loop, whatever the length. So the lists are parsed some rows at a time, and the
 * rest, which is short, at the end.
 *
 * The lists are the arrays of the third level, as in `{"tables":{"skus":[…]}}`. The layout does not
 * matter: a person may have formatted the document, or another program may have written it.
 */

/** About how many bytes of an array are parsed together. */
const PARSED_BYTES = 256 * 1024;

/** The most bytes of the document without its rows, and of one row. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024;

/** How deep the arrays lie: within a member of a member of the document. */
const LIST_DEPTH = 3;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BRACKET_OPEN = 0x5b;
const BACKSLASH = 0x5c;
const BRACKET_CLOSE = 0x5d;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;

/**
 * @param pieces of the document, in UTF-8. They are taken out of the array one by one, so that
 *   parsed pieces do not occupy memory.
 * @param parsedBytes about how many bytes of an array are parsed together.
 * @returns its value.
 * @throws SyntaxError if it is not JSON, or a part of it is too long.
 */
export function parseInPieces(pieces: Buffer[], parsedBytes = PARSED_BYTES): unknown {
  const document = new PiecewiseParser(parsedBytes);
  pieces.reverse();
  for (let piece = pieces.pop(); piece !== undefined; piece = pieces.pop()) document.take(piece);
  return document.end();
}

export class PiecewiseParser {
  /** The document, with the number of its list in place of the content of each array. */
  readonly #frame = new Text();
  /** The part of the current array that was not parsed yet. */
  readonly #rest = new Text();
  readonly #lists: unknown[][] = [];
  /** The elements of the current array so far; null outside of arrays. */
  #list: unknown[] | null = null;
  #depth = 0;
  #isInString = false;
  /** Whether the next byte of a string belongs to the backslash before it. */
  #isEscaped = false;
  readonly #parsedBytes: number;

  /** @param parsedBytes about how many bytes of an array are parsed together. */
  constructor(parsedBytes: number) {
    this.#parsedBytes = parsedBytes;
  }

  /**
   * Takes the next piece.
   *
   * @throws SyntaxError if a part of the document is not JSON, or too long.
   */
  take(bytes: Buffer): void {
    let start = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) this.#isInString = false;
      } else if (byte === QUOTE) {
        this.#isInString = true;
      } else if (byte === BRACKET_OPEN || byte === BRACE_OPEN) {
        this.#depth += 1;
        if (byte === BRACKET_OPEN && this.#depth === LIST_DEPTH) {
          this.#frame.add(bytes.subarray(start, at + 1));
          start = at + 1;
          this.#beginList();
        }
      } else if (byte === BRACKET_CLOSE || byte === BRACE_CLOSE) {
        if (this.#list !== null && this.#depth === LIST_DEPTH) {
          this.#rest.add(bytes.subarray(start, at));
          start = at;
          this.#endList(this.#list);
        }
        this.#depth -= 1;
      } else if (byte === COMMA && this.#list !== null && this.#depth === LIST_DEPTH) {
        if (this.#rest.size + at - start < this.#parsedBytes) continue;
        this.#rest.add(bytes.subarray(start, at));
        start = at + 1;
        this.#parseRest(this.#list, false);
      }
    }
    const text = this.#list === null ? this.#frame : this.#rest;
    text.add(bytes.subarray(start));
  }

  /** @returns the value, after all pieces were taken. @throws SyntaxError if it is not JSON. */
  end(): unknown {
    const value: unknown = JSON.parse(this.#frame.take());
    for (const member of membersOf(value)) {
      for (const [name, found] of Object.entries(member)) {
        if (Array.isArray(found)) replace(member, name, this.#lists[Number(found[0])]);
      }
    }
    return value;
  }

  #beginList(): void {
    this.#frame.add(Buffer.from(String(this.#lists.length)));
    this.#list = [];
    this.#lists.push(this.#list);
  }

  #endList(list: unknown[]): void {
    this.#parseRest(list, list.length === 0);
    this.#list = null;
  }

  /** @param isWhole whether it is the whole content of the array: then it may be empty. */
  #parseRest(list: unknown[], isWhole: boolean): void {
    const values = JSON.parse(`[${this.#rest.take()}]`) as unknown[];
    if (values.length === 0 && !isWhole) throw new SyntaxError('a comma has no value beside it');
    for (const value of values) list.push(value);
  }
}

/** A part of the document whose bytes come in pieces. */
class Text {
  #pieces: Buffer[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** @throws SyntaxError if it gets too long. */
  add(bytes: Buffer): void {
    this.#size += bytes.length;
    if (this.#size > MAX_TEXT_BYTES) {
      throw new SyntaxError(`a part of it has more than ${MAX_TEXT_BYTES} bytes`);
    }
    if (bytes.length > 0) this.#pieces.push(bytes);
  }

  /** Removes the text so far. @returns it. */
  take(): string {
    const text = Buffer.concat(this.#pieces).toString('utf8');
    this.#pieces = [];
    this.#size = 0;
    return text;
  }
}

/** The members of a value that are objects or arrays. */
function membersOf(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).filter((each) => typeof each === 'object' && each !== null);
}

/** Also if the name is `__proto__`: an assignment would set the prototype instead. */
function replace(member: object, name: string, value: unknown): void {
  Object.defineProperty(member, name, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}
