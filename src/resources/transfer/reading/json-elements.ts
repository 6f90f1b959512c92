/**
 * Cuts the texts of the elements of a JSON array (RFC 8259) out of a stream. It recognises only
 * brackets and strings; JSON.parse finds out whether an element is JSON.
 */
import { FileProblem } from './file-problem.ts';
import { MAX_ROW_UNITS } from './file-row.ts';

/** What comes next in the array itself. */
type Expected = 'array' | 'first' | 'element' | 'separator' | 'end';

class ElementCutter {
  #expected: Expected = 'array';
  /** The part of the element that was in earlier pieces. */
  #element = '';
  #depth = 0;
  #inString = false;
  #escaped = false;
  #count = 0;

  /** Call this at the end of the text. @throws FileProblem if the array has not ended. */
  end(): void {
    if (this.#expected === 'end') return;
    if (this.#expected === 'array') throw this.#wrong();
    throw new FileProblem('the file is cut off: it ends before its array of JSON objects does');
  }

  /** @returns the elements that end in a piece. @throws FileProblem. */
  cut(text: string): string[] {
    const found: string[] = [];
    let begin = 0;
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charAt(at);
      if (this.#expected === 'separator') {
        if (this.#isWithin(unit)) continue;
        found.push(this.#take(text.slice(begin, at)));
        this.#element = '';
        this.#count += 1;
        this.#expected = unit === ']' ? 'end' : 'element';
      } else if (this.#expected === 'element' || this.#expected === 'first') {
        if (this.#begin(unit)) begin = at;
      } else this.#outside(unit);
    }
    if (this.#expected === 'separator') this.#element = this.#take(text.slice(begin));
    return found;
  }

  #outside(unit: string): void {
    if (isSpace(unit)) return;
    if (this.#expected === 'end' || unit !== '[') throw this.#wrong();
    this.#expected = 'first';
  }

  /** @returns whether an element begins with the character. */
  #begin(unit: string): boolean {
    if (isSpace(unit)) return false;
    if (unit === ']' && this.#expected === 'first') {
      this.#expected = 'end';
      return false;
    }
    if (unit === ',' || unit === ']') throw this.#wrong();
    this.#expected = 'separator';
    return this.#isWithin(unit);
  }

  /** Whether the character belongs to the element, and does not end it. */
  #isWithin(unit: string): boolean {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (unit === '\\') this.#escaped = true;
      else if (unit === '"') this.#inString = false;
    } else if (unit === '"') this.#inString = true;
    else if (unit === '[' || unit === '{') this.#depth += 1;
    else if (this.#depth === 0) return unit !== ',' && unit !== ']';
    else if (unit === ']' || unit === '}') this.#depth -= 1;
    return true;
  }

  /** @returns the element up to here. @throws FileProblem if it is too long. */
  #take(part: string): string {
    const element = this.#element + part;
    if (element.length <= MAX_ROW_UNITS) return element;
    throw new FileProblem(`an element is longer than ${MAX_ROW_UNITS} characters`, this.#count + 1);
  }

  #wrong(): FileProblem {
    return new FileProblem('the file is not an array of JSON objects', this.#count + 1);
  }
}

/** @returns the elements that end in each piece. @throws FileProblem. */
export async function* jsonElements(
  source: AsyncIterable<string>,
): AsyncGenerator<readonly string[]> {
  const cutter = new ElementCutter();
  for await (const text of source) yield cutter.cut(text);
  cutter.end();
}

function isSpace(unit: string): boolean {
  return unit === ' ' || unit === '\n' || unit === '\r' || unit === '\t';
}
