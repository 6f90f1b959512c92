/**
 * JSON.parse in slices: the same values from the same texts, without blocking the event loop. A
 * native parse of 1 MiB with many different member names takes 80 ms of CPU. Only a fraction whose
 * nearest value is an integer differs: it is NaN.
 */
import { numberOf } from './json-numbers.ts';

/** Tokens and UTF-16 units that are parsed at once: 2 to 4 milliseconds. */
const SLICE = { tokens: 4000, units: 64 * 1024 };

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
 * @returns the value, as JSON.parse would; NaN for a fraction that would be rounded to an integer.
 * @throws SyntaxError with the position.
 */
export async function parseInSlices(text: string): Promise<unknown> {
  const parser = new JsonParser(text);
  while (!parser.parseSlice()) await new Promise((resolve) => setImmediate(resolve));
  return parser.value;
}

class JsonParser {
  /** The value, once it is complete. */
  value: unknown = undefined;
  readonly #text: string;
  /** The open containers, the innermost last, and for each of them the name of its next member. */
  readonly #open: Container[] = [];
  readonly #names: string[] = [];
  #at = 0;
  #expected: Expected = 'value';

  constructor(text: string) {
    this.#text = text;
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
    this.#names[this.#names.length - 1] = this.#parseString();
    this.#skipSpace();
    if (this.#text[this.#at] !== ':') throw this.#unexpected();
    this.#at += 1;
    this.#expected = 'value';
  }

  /** Adds a complete value to its container. */
  #add(value: unknown): void {
    const container = this.#open.at(-1);
    this.#expected = container === undefined ? 'end' : 'separator';
    if (container === undefined) this.value = value;
    else if (Array.isArray(container)) container.push(value);
    else {
      const name = this.#names.at(-1) ?? '';
      if (name !== '__proto__') container[name] = value;
      else Object.defineProperty(container, name, { ...OWN, value });
    }
  }

  /** Parsed natively, because a slice of the text would keep the whole text in memory. */
  #parseString(): string {
    const begin = this.#at;
    const end = this.#endOfString();
    this.#at = end + 1;
    try {
      const parsed: unknown = JSON.parse(this.#text.slice(begin, this.#at));
      if (typeof parsed === 'string') return parsed;
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
