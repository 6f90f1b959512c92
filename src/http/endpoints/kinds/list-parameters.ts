/** The query parameters of collections in the description. */
import type { Kind } from '../../../model/kind.ts';
import { filterParameters, filterValues } from '../../../resources/query.ts';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../../resources/query/paging.ts';
import { type RangeParameter, rangeParameters } from '../../../resources/query/ranges.ts';
import { scalarAttributes } from '../../../resources/visible-attributes.ts';
import { MAX_SEARCH_LENGTH } from '../../../resources/query/search-words.ts';
import { text } from '../../operations/common-schemas.ts';
import type { JsonSchema } from '../../operations/content.ts';
import { inQuery, type Parameter } from '../../operations/parameters.ts';
import { componentName } from './names.ts';

const integer = (minimum: number, more: object = {}) => ({ type: 'integer', minimum, ...more });

const size = integer(1, { maximum: MAX_PAGE_SIZE });

/**
 * Their defaults are named only in the text: a client that sends all declared defaults, as the
 * viewer does, would page in both forms at once.
 */
export const PAGING: readonly Parameter[] = [
  inQuery(
    'page',
    'The page to return, with `per_page`; the default is 1. Not allowed with `limit` or `offset`.',
    integer(1),
  ),
  inQuery(
    'per_page',
    `The number of objects on a page; the default is ${DEFAULT_PAGE_SIZE}.`,
    size,
  ),
  inQuery(
    'limit',
    `The number of objects to return, with \`offset\`; the default is ${DEFAULT_PAGE_SIZE}. Not allowed with \`page\` or \`per_page\`.`,
    size,
  ),
  inQuery('offset', 'The number of objects to skip; the default is 0.', integer(0)),
];

export const ORDER = inQuery(
  'order',
  'The direction. Objects with equal values are sorted by ascending id in either direction.',
  {
    ...text,
    enum: ['asc', 'desc'],
    default: 'asc',
  },
);

const SEARCH = inQuery(
  'q',
  'Only objects in which every word occurs somewhere in a text, ignoring case, accents and width; at most 10 words. An empty value is ignored.',
  { ...text, maxLength: MAX_SEARCH_LENGTH },
);

const KEYWORD = inQuery(
  'keyword',
  'Only objects with exactly this name. An empty value is ignored.',
  text,
);

/** The query parameters of a collection. */
export function listParameters(kind: Kind): Parameter[] {
  return [...PAGING, ...selectionParameters(kind)];
}

/** The parameters that select rows and their order. */
export function selectionParameters(kind: Kind): Parameter[] {
  const sortby = inQuery(
    'sortby',
    'The attribute to sort by.',
    { ...text, enum: scalarAttributes(kind), default: 'id' },
    `${componentName(kind)}Sortby`,
  );
  const keyword = kind.keyword === undefined ? [] : [KEYWORD];
  const ranges = [...rangeParameters(kind)].map(([name, range]) => rangeParameter(name, range));
  return [sortby, ORDER, SEARCH, ...keyword, ...filtersOf(kind), ...ranges];
}

/** The filters except `keyword`, each under its name in requests only (spec 1.9). */
function filtersOf(kind: Kind): Parameter[] {
  const byAttribute = new Map<string, string>();
  for (const [name, attribute] of filterParameters(kind)) {
    if (name !== 'keyword' && !byAttribute.has(attribute)) byAttribute.set(attribute, name);
  }
  return [...byAttribute].map(([attribute, name]) =>
    inQuery(name, `Only objects with this \`${name}\`.`, filterSchema(kind, attribute)),
  );
}

function filterSchema(kind: Kind, attribute: string): JsonSchema {
  switch (filterValues(kind, attribute)) {
    case 'text':
      return { ...text, minLength: 1 };
    case 'id or null':
      return { anyOf: [integer(0), { ...text, const: 'null' }] };
    case 'id':
      return integer(0);
  }
}

function rangeParameter(name: string, range: RangeParameter): Parameter {
  const { attribute, bound, values } = range;
  if (values === 'period') {
    const [when, edge] = bound === 'min' ? ['at or after', 'beginning'] : ['at or before', 'end'];
    return inQuery(
      name,
      `Only objects whose \`${attribute}\` is ${when} this: an instant with its offset from UTC, or a date, which stands for the ${edge} of its day in UTC.`,
      {
        ...text,
        anyOf: [{ format: 'date-time' }, { format: 'date' }],
        // The formats also allow small letters and leap seconds, which the server refuses.
        pattern: String.raw`^.{10}(T.{6}[0-5]\d(\.\d{1,9})?(Z|[+-].{5}))?$`,
        examples: ['2026-11-21', '2026-11-21T08:00:00Z'],
      },
    );
  }
  if (values === 'flag') {
    return inQuery(name, `Only objects with this \`${name}\`.`, {
      ...text,
      enum: ['true', 'false'],
    });
  }
  const what = bound === 'min' ? 'at least' : 'at most';
  return inQuery(name, `Only objects whose \`${attribute}\` is ${what} this.`, integer(0));
}
