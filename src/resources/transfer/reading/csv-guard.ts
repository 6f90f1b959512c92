/**
 * Finds text for which the CSV parser would take long, before the parser reads it: an error message
 * copies the whole cell, and a row is an array of all its cells.
 */
import { MAX_TEXT_UNITS } from './file-row.ts';

/** Cells of one row, at most. */
const MAX_CELLS = 10_000;

const QUOTE = 0x22;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Where the parser has to stop, and why. */
interface Stop {
  readonly at: number;
  readonly message: string;
}

export class CsvGuard {
  readonly #delimiter: number;
  #cells = 0;
  /** Characters of the cell so far, outside quotes. */
  #units = 0;
  #inQuotes = false;

  constructor(delimiter: string) {
    this.#delimiter = delimiter.charCodeAt(0);
  }

  /** @param text the next piece. @returns null if it may be read. */
  find(text: string): Stop | null {
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (this.#inQuotes) {
        if (code === QUOTE) this.#inQuotes = false;
      } else if (code === QUOTE) {
        if (this.#units > MAX_TEXT_UNITS) {
          return {
            at,
            message: 'the file is not CSV: a cell without quotes around it contains a quote',
          };
        }
        // A cell begins with a quote, or its quotes go on after a doubled one.
        this.#inQuotes = this.#units === 0;
      } else {
        this.#pass(code);
        if (this.#cells >= MAX_CELLS) return { at, message: `has more than ${MAX_CELLS} cells` };
      }
    }
    return null;
  }

  /** Passes a character outside quotes. */
  #pass(code: number): void {
    if (code === this.#delimiter) this.#cells += 1;
    else if (code === LINE_FEED || code === CARRIAGE_RETURN) this.#cells = 0;
    else {
      this.#units += 1;
      return;
    }
    this.#units = 0;
  }
}
