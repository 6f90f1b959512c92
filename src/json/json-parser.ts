/**
 * JSON.parse in slices: the same values from the same texts, without blocking the event loop. A
 * native parse of 1 MiB with many different member names takes 80 ms of CPU. Only a fraction whose
 * nearest value is an integer differs: it is NaN.
 *
 * The engine keeps every member name, and every string of up to 27 characters that JSON.parse makes,
 * in one hash table. Its hash function has no secret, so a client can send strings that all have
 * the same hash; with 38,000 of them a native parse of 1 MiB takes 15 s. So no string of the text
 * enters that table here, except the names of members that keep them.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { numberOf } from './json-numbers.ts';

/** Tokens and UTF-16 units that are parsed at once: 2 to 4 milliseconds. */
const SLICE = { tokens: 4000, units: 64 * 1024 };

/** Which members of objects keep their names. */
export interface KeptNames {
  readonly known: ReadonlySet<string>;
  /** How many other members of the whole text keep theirs as well: the first ones. */
  readonly others: number;
}

/**
 * The member in which an object has its members without a name of their own: an array of their names
 * and values in turns. So two texts that differ in such a member have different values.
 */
const NAMELESS = '';

const ALL_NAMES: KeptNames = { known: new Set(), others: Number.POSITIVE_INFINITY };

/** What a short string is parsed with, so that it is too long for the table of the engine. */
const PADDING = ' '.repeat(32);

/** A string of at least so many characters in the text has more than 27 even if all are escaped. */
const LONG_STRING = 192;

/** What may come next. */
type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | 'separator' | 'end';

type Container = unknown[] | { [name: string]: unknown };

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

const LITERALS = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * @param kept all members if left out. Those that do not keep their names are in {@link NAMELESS}.
 * @returns the value, as JSON.parse would otherwise; NaN for a fraction that would be rounded to an integer.
 * @throws SyntaxError with the position.
 */
export async function parseInSlices(text: string, kept = ALL_NAMES): Promise<unknown> {
  const parser = new JsonParser(text, kept);
  while (!parser.parseSlice()) await nextTurn();
  return parser.value;
}

function namelessIn(object: Record<string, unknown>): unknown[] {
  const list = object[NAMELESS];
  if (Array.isArray(list)) return list;
  return (object[NAMELESS] = []);
}

class JsonParser {
  /** The value, once it is complete. */
  value: unknown = undefined;
  readonly #text: string;
  readonly #known: ReadonlySet<string>;
  /** The number of members with other names that may still be kept. */
  #others: number;
  /**
   * The open containers, the innermost last, and for each of them the name of its next member; null
   * if it does not keep its name.
   */
  readonly #open: Container[] = [];
  readonly #names: (string | null)[] = [];
  #at = 0;
  #expected: Expected = 'value';

  constructor(text: string, { known, others }: KeptNames) {
    this.#text = text;
    this.#known = known;
    this.#others = others;
  }

  /** @returns whether the text was parsed to its end. @throws SyntaxError. */
  parseSlice(): boolean {
    const end = this.#at + SLICE.units;
    for (let tokens = 0; tokens < SLICE.tokens && this.#at < end; tokens += 1) {
      this.#skipSpace();
      if (this.#at < this.#text.length) this.#parseToken();
      else if (this.#expected === 'end') return true;
      else throw this.#unexpected();
    }
    return false;
  }

  #parseToken(): void {
    const character = this.#text[this.#at];
    switch (this.#expected) {
      case 'end':
        throw this.#unexpected();
      case 'separator':
        this.#parseSeparator(character);
        return;
      case 'name or }':
        if (character === '}') this.#close();
        else this.#parseName();
        return;
      case 'name':
        this.#parseName();
        return;
      case 'value or ]':
        if (character === ']') this.#close();
        else this.#parseValue(character);
        return;
      case 'value':
        this.#parseValue(character);
    }
  }

  #parseValue(character: string | undefined): void {
    if (character === '{') this.#begin({}, 'name or }');
    else if (character === '[') this.#begin([], 'value or ]');
    else if (character === '"') this.#add(this.#parseString());
    else this.#add(this.#parseScalar());
  }

  #begin(container: Container, expected: Expected): void {
    this.#at += 1;
    this.#open.push(container);
    this.#names.push('');
    this.#expected = expected;
  }

  #parseSeparator(character: string | undefined): void {
    const list = Array.isArray(this.#open.at(-1));
    if (character === ',') {
      this.#at += 1;
      this.#expected = list ? 'value' : 'name';
    } else if (character === (list ? ']' : '}')) this.#close();
    else throw this.#unexpected();
  }

  #close(): void {
    this.#at += 1;
    this.#names.pop();
    this.#add(this.#open.pop());
  }

  #parseName(): void {
    if (this.#text.charCodeAt(this.#at) !== QUOTE) throw this.#unexpected();
    const name = this.#parseString();
    const keeps = this.#keeps(name);
    this.#names[this.#names.length - 1] = keeps ? name : null;
    const object = this.#open.at(-1);
    if (!keeps && object !== undefined && !Array.isArray(object)) namelessIn(object).push(name);
    this.#skipSpace();
    if (this.#text[this.#at] !== ':') throw this.#unexpected();
    this.#at += 1;
    this.#expected = 'value';
  }

  #keeps(name: string): boolean {
    if (this.#known.has(name)) return true;
    if (name === NAMELESS && Number.isFinite(this.#others)) return false;
    this.#others -= 1;
    return this.#others >= 0;
  }

  /** Adds a complete value to its container. */
  #add(value: unknown): void {
    const container = this.#open.at(-1);
    this.#expected = container === undefined ? 'end' : 'separator';
    if (container === undefined) this.value = value;
    else if (Array.isArray(container)) container.push(value);
    else {
      const name = this.#names.at(-1) ?? null;
      if (name === null) namelessIn(container).push(value);
      else if (name !== '__proto__') container[name] = value;
      else Object.defineProperty(container, name, { ...OWN, value });
    }
  }

  /** Parsed natively, because a slice of the text would keep the whole text in memory. */
  #parseString(): string {
    const begin = this.#at;
    const end = this.#endOfString();
    this.#at = end + 1;
    try {
      if (end - begin > LONG_STRING) {
        const parsed: unknown = JSON.parse(this.#text.slice(begin, this.#at));
        if (typeof parsed === 'string') return parsed;
      } else {
        const padded: unknown = JSON.parse(`"${PADDING}${this.#text.slice(begin + 1, this.#at)}`);
        if (typeof padded === 'string') return padded.slice(PADDING.length);
      }
    } catch {
      // The position says more than the native message.
    }
    this.#at = begin;
    throw this.#unexpected();
  }

  /** @returns the position of the closing quote; the end of the text if there is none. */
  #endOfString(): number {
    const text = this.#text;
    for (let end = text.indexOf('"', this.#at + 1); end >= 0; end = text.indexOf('"', end + 1)) {
      let escapes = 0;
      while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes += 1;
      if (escapes % 2 === 0) return end;
    }
    return text.length;
  }

  #parseScalar(): unknown {
    for (const [word, value] of LITERALS) {
      if (!this.#text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return value;
    }
    NUMBER.lastIndex = this.#at;
    const digits = NUMBER.exec(this.#text)?.[0];
    if (digits === undefined) throw this.#unexpected();
    this.#at += digits.length;
    return numberOf(digits);
  }

  #skipSpace(): void {
    const text = this.#text;
    let at = this.#at;
    for (let code = text.charCodeAt(at); isSpace(code); code = text.charCodeAt(at)) at += 1;
    this.#at = at;
  }

  #unexpected(): SyntaxError {
    const isEnd = this.#at >= this.#text.length;
    return new SyntaxError(
      isEnd ? 'unexpected end of the text' : `unexpected character at position ${this.#at + 1}`,
    );
  }
}

/** The name `__proto__` is a member like any other. */
const OWN = { writable: true, enumerable: true, configurable: true };

/** RFC 8259, section 2. */
function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
