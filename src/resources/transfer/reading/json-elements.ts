/**
 * The texts of the elements of a JSON array (RFC 8259), cut out of a stream: only brackets and
 * strings are told apart; whether an element is JSON, JSON.parse says.
 */
import { FileProblem } from './file-problem.ts';

/** What comes next in the array itself. */
type Expected = 'array' | 'first' | 'element' | 'separator' | 'end';

class ElementCutter {
  readonly #maxLength: number;
  #expected: Expected = 'array';
  #element = '';
  #depth = 0;
  #inString = false;
  #escaped = false;
  #count = 0;

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  get ended(): boolean {
    return this.#expected === 'end';
  }

  /** @returns the elements that end in a piece. @throws FileProblem. */
  cut(text: string): string[] {
    const found: string[] = [];
    for (const unit of text) {
      if (this.#expected === 'element' || this.#expected === 'first') this.#begin(unit);
      else if (this.#expected === 'separator') this.#within(unit, found);
      else this.#outside(unit);
    }
    return found;
  }

  #outside(unit: string): void {
    if (isSpace(unit)) return;
    if (this.#expected === 'end' || unit !== '[') throw this.#wrong();
    this.#expected = 'first';
  }

  #begin(unit: string): void {
    if (isSpace(unit)) return;
    if (unit === ']' && this.#expected === 'first') {
      this.#expected = 'end';
      return;
    }
    if (unit === ',' || unit === ']') throw this.#wrong();
    this.#expected = 'separator';
    this.#add(unit);
  }

  #within(unit: string, found: string[]): void {
    const closes = this.#depth === 0 && !this.#inString && (unit === ',' || unit === ']');
    if (!closes) {
      this.#add(unit);
      return;
    }
    found.push(this.#element);
    this.#count += 1;
    this.#element = '';
    this.#expected = unit === ']' ? 'end' : 'element';
  }

  #add(unit: string): void {
    this.#element += unit;
    if (this.#element.length > this.#maxLength) {
      throw new FileProblem(`an element is longer than ${this.#maxLength}`, this.#count + 1);
    }
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (unit === '\\') this.#escaped = true;
      else if (unit === '"') this.#inString = false;
    } else if (unit === '"') this.#inString = true;
    else if (unit === '[' || unit === '{') this.#depth += 1;
    else if (unit === ']' || unit === '}') this.#depth -= 1;
  }

  #wrong(): FileProblem {
    return new FileProblem('the file is not an array of JSON objects', this.#count + 1);
  }
}

/**
 * @param maxLength UTF-16 units of one element.
 * @returns the elements that end in each piece.
 * @throws FileProblem.
 */
export async function* jsonElements(
  source: AsyncIterable<string>,
  maxLength: number,
): AsyncGenerator<readonly string[]> {
  const cutter = new ElementCutter(maxLength);
  for await (const text of source) yield cutter.cut(text);
  if (!cutter.ended) throw new FileProblem('the file is not an array of JSON objects');
}

function isSpace(unit: string): boolean {
  return unit === ' ' || unit === '\n' || unit === '\r' || unit === '\t';
}
