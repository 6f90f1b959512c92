/**
 * The value schemas (spec 2.2 to 2.4), one for each sort of attribute. Each carries the JSON Schema
 * keywords that valibot's own actions cannot express, for `/openapi.json` and OPTIONS.
 */
import * as v from 'valibot';

/** Longest name, caption, logo and option value in Unicode code points, as JSON Schema counts. */
const MAX_TEXT = 255;

/** Longest description of an SPU in code points. */
const MAX_DESCRIPTION = 65_536;

export type ValueSchema = v.GenericSchema<unknown, string | number | boolean | null>;

/** JSON Schema keywords, which the generator copies from the metadata of a schema. */
const keywords = <T extends string | number>(jsonSchema: Readonly<Record<string, unknown>>) =>
  v.metadata<T, Readonly<Record<string, unknown>>>(jsonSchema);

const wellFormed = v.check<string, string>(
  (text) => text.isWellFormed(),
  'must not contain an unpaired surrogate',
);

const withinCodePoints = (max: number) =>
  v.check<string, string>(
    (text) => isWithin(text, max),
    `must be at most ${max} character${max === 1 ? '' : 's'} long`,
  );

/** Whether a text has at most `max` code points. Each takes one or two code units. */
function isWithin(text: string, max: number): boolean {
  if (text.length <= max) return true;
  if (text.length > 2 * max) return false;
  let rest = max;
  for (const _ of text) {
    if (rest === 0) return false;
    rest -= 1;
  }
  return true;
}

const string = v.string((issue) => `must be a string, not ${describe(issue.input)}`);

/**
 * A character that is not Unicode white space, for the patterns of JSON Schema. `\S` is another
 * set: it has U+0085 and lacks U+FEFF. `\P{White_Space}` needs the flag `u`, which not every
 * validator sets.
 */
const NO_SPACE =
  '[^\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';

/** A required text: 1 to 255 code points, not only white space. */
export const nameText = v.pipe(
  string,
  wellFormed,
  v.check((text) => /\P{White_Space}/u.test(text), 'must not be empty or only white space'),
  withinCodePoints(MAX_TEXT),
  keywords({ minLength: 1, maxLength: MAX_TEXT, pattern: NO_SPACE }),
);

/** A text of 0 to `max` code points. */
export const shortText = (max = MAX_TEXT) =>
  v.pipe(string, wellFormed, withinCodePoints(max), keywords({ maxLength: max }));

/** Longest article number in code points. */
const MAX_CODE = 64;

/** A shop's own article number: 1 to 64 code points without white space at its ends, or null. */
export const optionalCode = v.nullable(
  v.pipe(
    string,
    wellFormed,
    v.check((text) => text !== '', 'must not be empty; send null for none'),
    v.check((text) => !hasSpaceAtEnds(text), 'must not begin or end with white space'),
    withinCodePoints(MAX_CODE),
    keywords({
      minLength: 1,
      maxLength: MAX_CODE,
      pattern: `^${NO_SPACE}(?:[\\s\\S]*${NO_SPACE})?$`,
    }),
  ),
);

const WHITE_SPACE = /^\p{White_Space}$/u;

function hasSpaceAtEnds(text: string): boolean {
  return WHITE_SPACE.test(text.charAt(0)) || WHITE_SPACE.test(text.charAt(text.length - 1));
}

/** A description, in HTML. */
export const descriptionText = shortText(MAX_DESCRIPTION);

/** A text of any length: written by the service itself, or accepted by an older version. */
export const longText = v.pipe(string, wellFormed);

const integer = v.pipe(
  v.number((issue) => `must be an integer, not ${describe(issue.input)}`),
  v.safeInteger((issue) => `must be an integer, not ${describeNumber(issue.input)}`),
);

const notNegative = v.minValue<number, 0, string>(0, 'must be 0 or more');

/** A count: an integer of 0 or more. */
export const amount = v.pipe(integer, notNegative, keywords({ maximum: Number.MAX_SAFE_INTEGER }));

/** An integer of 0 or more, in the smallest unit of the currency. */
export const price = v.pipe(
  v.number((issue) => `must be an integer, not ${describe(issue.input)}`),
  v.safeInteger((issue) => describePrice(issue.input)),
  notNegative,
  keywords({ maximum: Number.MAX_SAFE_INTEGER }),
);

/** The id of another row. The store checks at commit whether the row exists. */
export const identifier = v.pipe(
  integer,
  keywords({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
);

export const optionalIdentifier = v.nullable(identifier);

export const optionalText = v.nullable(longText);

/** What a write does to one row. */
export const action = v.picklist(
  ['create', 'update', 'delete'],
  'must be create, update or delete',
);

/** A moment as the service writes it: ISO 8601, UTC, with milliseconds. */
export const instant = v.pipe(
  string,
  v.check(isInstant, 'must be a moment, written YYYY-MM-DDThh:mm:ss.sssZ'),
  keywords({ format: 'date-time' }),
);

export const optionalInstant = v.nullable(instant);

/** The JSON text of an object, or null. */
export const documentText = v.nullable(
  v.pipe(string, v.check(isObjectText, 'must be the JSON text of an object')),
);

export const flag = v.boolean((issue) => `must be true or false, not ${describe(issue.input)}`);

/** A calendar date, `YYYY-MM-DD`, from 0001-01-01 on. */
export const calendarDate = v.pipe(
  string,
  v.check(isCalendarDate, 'must be a date that exists, written YYYY-MM-DD'),
  keywords({
    format: 'date',
    // RFC 3339 has a year 0. A lookahead would be shorter, but RE2 has none.
    pattern: '^(?:[1-9]\\d{3}|0(?:[1-9]\\d{2}|0(?:[1-9]\\d|0[1-9])))-\\d{2}-\\d{2}$',
  }),
);

/** Whether `text` is a day of the proleptic Gregorian calendar, `YYYY-MM-DD`, year 1 or later. */
function isCalendarDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text.startsWith('0000')) return false;
  const date = new Date(`${text}T00:00:00Z`);
  // Date rolls 30 February over to March, which the conversion back to a text reveals.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

function isInstant(text: string): boolean {
  const date = new Date(text);
  return !Number.isNaN(date.getTime()) && date.toISOString() === text;
}

/** Whether a JSON value is an object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isObjectText(text: string): boolean {
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}

/** Names the type of a wrong value for a message. Never repeats the value itself. */
function describe(input: unknown): string {
  if (input === null) return 'null';
  if (Array.isArray(input)) return 'an array';
  if (typeof input === 'object') return 'an object';
  // What a fraction of JSON is that would be rounded to an integer.
  if (Number.isNaN(input)) return 'a fraction';
  return `a ${typeof input}`;
}

/** The message about a price that is not an integer, with the integer that is probably meant. */
function describePrice(input: number): string {
  const hundredths = Math.round(input * 100);
  const isDecimal = Number.isSafeInteger(hundredths) && hundredths / 100 === input;
  return isDecimal
    ? `must be an integer, not a fraction: prices are integers of the smallest currency unit, such as ${hundredths} cents for ${input}`
    : `must be an integer, not ${describeNumber(input)}`;
}

function describeNumber(input: number): string {
  const beyond = Number.isInteger(input) || !Number.isFinite(input);
  return beyond ? 'one beyond 2^53 - 1' : 'a fraction';
}
