/** The rows of NDJSON and JSON (spec 12.8): each is checked before it is parsed, as a body is. */
import { type Excess, findExcess, findExcessInSlices } from '../../../json/json-limits.ts';
import { hasFraction } from '../../../json/json-numbers.ts';
import { parseInSlices } from '../../../json/json-parser.ts';
import type { Format } from '../formats.ts';
import { FileProblem } from './file-problem.ts';
import { type FileRow, MAX_ROW_UNITS, type rowLimits } from './file-row.ts';
import { jsonElements } from './json-elements.ts';

type RowLimits = ReturnType<typeof rowLimits>;

/**
 * Longer rows are scanned and parsed in slices, as are those with fractions. So many characters at
 * once take at most 5 ms.
 */
const LARGE_UNITS = 64 * 1024;

/**
 * @returns the rows that end in each piece.
 * @throws FileProblem, after the rows before the problem.
 */
export async function* jsonRows(
  format: Exclude<Format, 'csv'>,
  source: AsyncIterable<string>,
  limits: RowLimits,
): AsyncGenerator<readonly FileRow[]> {
  const pieces = format === 'json' ? jsonElements(source) : lines(source);
  let row = 0;
  for await (const texts of pieces) {
    const rows: FileRow[] = [];
    for (const text of texts) {
      row += 1;
      if (format === 'ndjson' && text.trim() === '') continue;
      const content =
        text.length > LARGE_UNITS || hasFraction(text)
          ? await readLarge(text, limits)
          : read(text, limits);
      if (content === null) {
        yield rows;
        throw new FileProblem(`the file is not ${NAMES[format]}`, row);
      }
      rows.push({ row, units: text.length, content });
    }
    yield rows;
  }
}

const NAMES = {
  json: 'an array of JSON objects',
  ndjson: 'JSON, an object on each line',
} as const;

/** @returns null if the text is not JSON. */
async function readLarge(text: string, limits: RowLimits): Promise<FileRow['content'] | null> {
  const excess = await findExcessInSlices(limits, text);
  if (excess !== null) return refused(excess, limits);
  try {
    return { value: await parseInSlices(text) };
  } catch {
    return null;
  }
}

/** @returns null if the text is not JSON. */
function read(text: string, limits: RowLimits): FileRow['content'] | null {
  const excess = findExcess(limits, text);
  if (excess !== null) return refused(excess, limits);
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return null;
  }
}

function refused(excess: Excess, limits: RowLimits): FileRow['content'] | null {
  if (excess === 'cut off') return null;
  return { problem: MESSAGES[excess](limits[excess]) };
}

const MESSAGES: Readonly<Record<keyof RowLimits, (most: number) => string>> = {
  depth: (most) => `is nested more than ${most} levels deep`,
  elements: (most) => `has an array of more than ${most} elements`,
  members: (most) => `has an object of more than ${most} members`,
  characters: (most) => `has a text that is written with more than ${most} characters`,
};

/** The lines that end in each piece. */
async function* lines(source: AsyncIterable<string>): AsyncGenerator<readonly string[]> {
  let rest = '';
  let row = 1;
  for await (const text of source) {
    const parts = text.split('\n');
    parts[0] = rest + (parts[0] ?? '');
    for (const [index, part] of parts.entries()) {
      if (part.length > MAX_ROW_UNITS) {
        throw new FileProblem(`a line is longer than ${MAX_ROW_UNITS} characters`, row + index);
      }
    }
    rest = parts.pop() ?? '';
    row += parts.length;
    yield parts;
  }
  if (rest !== '') yield [rest];
}
