/** The parameters of the description: of paths, of queries, and request headers. */
import type { Kind } from '../../model/kind.ts';
import { DEFAULT_PAGE_SIZE, filterParameters, MAX_PAGE_SIZE } from '../../resources/query.ts';
import { type RangeParameter, rangeParameters } from '../../resources/ranges.ts';
import { MAX_SEARCH_LENGTH } from '../../resources/search-words.ts';
import { scalarAttributes } from '../../resources/representation.ts';
import { componentName, type JsonObject, type Named, REACHABLE, ref } from './names.ts';

const text = { type: 'string' };
const integer = (minimum: number, more: object = {}) => ({ type: 'integer', minimum, ...more });
const size = integer(1, { maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE });

const query = (name: string, description: string, schema: JsonObject) => ({
  name,
  in: 'query',
  description,
  schema,
});

const header = (name: string, description: string, more: JsonObject) => ({
  name,
  in: 'header',
  description,
  ...more,
});

const inPath = (name: string, description: string) => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: integer(1),
  example: 1,
});

const tags = { schema: text, example: '"2836mdn3o4pu4"' };

const COMMON: Named = {
  pk: inPath('pk', 'The id of an item.'),
  child: inPath('child', 'The id of an item of the nested collection.'),
  sku: inPath('id', 'The id of a SKU.'),
  id: inPath('id', 'The id of an SPU or a category.'),
  part: { ...inPath('part', 'Which part of the list.'), schema: integer(2), example: 2 },
  sitemap: {
    name: 'name',
    in: 'path',
    required: true,
    description: 'The kind of the pages, and which thousand of their ids.',
    schema: { ...text, pattern: '^(?:skus|goods|categories)-[1-9][0-9]*$' },
    example: 'skus-1',
  },
  jti: {
    name: 'jti',
    in: 'path',
    required: true,
    description: 'The id of a token: its claim `jti`.',
    schema: { ...text, pattern: '^[A-Za-z0-9_-][A-Za-z0-9_.-]*$', maxLength: 255 },
    example: '3f0a1c52-7d7e-4d0b-9a31-0f6f9c2b8e44',
  },
  file: {
    name: 'file',
    in: 'path',
    required: true,
    description: 'The name of a file of the documentation.',
    schema: { ...text, pattern: '^[^/]+$' },
    example: 'start.js',
  },
  page: query(
    'page',
    'Which page, with `per_page`; not with `limit` or `offset`.',
    integer(1, { default: 1 }),
  ),
  per_page: query('per_page', 'How many objects a page has.', size),
  limit: query('limit', 'How many objects, with `offset`; not with `page` or `per_page`.', size),
  offset: query('offset', 'How many objects to pass over.', integer(0, { default: 0 })),
  order: query('order', 'Equal values keep the ascending id in either direction.', {
    ...text,
    enum: ['asc', 'desc'],
    default: 'asc',
  }),
  keyword: query('keyword', 'Those with exactly this name; empty is the same as absent.', text),
  q: query(
    'q',
    'Those in which every word occurs somewhere in a text, whatever the case, accents or width; at most 10 words. Empty is the same as absent.',
    { ...text, maxLength: MAX_SEARCH_LENGTH },
  ),
  ifMatch: header('If-Match', 'Go on only if the entity tag is one of these.', tags),
  ifNoneMatch: header('If-None-Match', 'Go on only if the entity tag is none of these.', tags),
  ifModifiedSince: header('If-Modified-Since', 'Go on only if the page is newer.', {
    schema: text,
    example: 'Sat, 21 Nov 2026 12:00:00 GMT',
  }),
  idempotencyKey: header(
    'Idempotency-Key',
    'Chosen by the client, at best a UUID. A request that is sent again with the same key within 24 hours is not carried out again, but gets the first answer; another request with the key is 422.',
    {
      schema: { ...text, minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
      example: '7c4a1f3e-2f0b-4d0e-9a38-6a8d3f2b5c11',
    },
  ),
};

/** Every parameter by its name. */
export function parameters(): Named {
  const found: Named = { ...COMMON };
  for (const kind of REACHABLE) {
    found[sortName(kind)] = query('sortby', 'The attribute to sort by.', {
      ...text,
      enum: scalarAttributes(kind),
      default: 'id',
    });
    for (const [name, range] of rangeParameters(kind)) found[name] = rangeParameter(name, range);
    for (const [name, attribute] of filtersOf(kind)) {
      found[name] = query(name, `Those with this \`${name}\`.`, filterSchema(kind, attribute));
    }
  }
  return found;
}

/** What the query of a collection takes. */
export function listParameters(kind: Kind): JsonObject[] {
  const paging = ['page', 'per_page', 'limit', 'offset'];
  const keyword = kind.keyword === undefined ? [] : ['keyword'];
  const filters = filtersOf(kind).map(([name]) => name);
  const ranges = rangeParameters(kind).keys();
  return [...paging, sortName(kind), 'order', 'q', ...keyword, ...filters, ...ranges].map((name) =>
    ref('parameters', name),
  );
}

/** Parameters by their names. */
export function named(...names: readonly string[]): JsonObject[] {
  return names.map((name) => ref('parameters', name));
}

function sortName(kind: Kind): string {
  return `${componentName(kind)}Sortby`;
}

/** The filters but `keyword`; the documents name the request's word alone (spec 1.9). */
function filtersOf(kind: Kind): (readonly [name: string, attribute: string])[] {
  const byAttribute = new Map<string, string>();
  for (const [name, attribute] of filterParameters(kind)) {
    if (name !== 'keyword' && !byAttribute.has(attribute)) byAttribute.set(attribute, name);
  }
  return [...byAttribute].map(([attribute, name]) => [name, attribute]);
}

function rangeParameter(name: string, { attribute, bound }: RangeParameter): JsonObject {
  if (bound === 'both')
    return query(name, `Those with this \`${name}\`.`, {
      ...text,
      enum: ['true', 'false'],
    });
  const what = bound === 'min' ? 'at least' : 'at most';
  return query(name, `Those whose \`${attribute}\` is ${what} this.`, integer(0));
}

function filterSchema(kind: Kind, attribute: string): JsonObject {
  const declared = kind.attributes[attribute];
  if (declared?.role === 'serverSet' && typeof declared.initial === 'string') {
    return { ...text, minLength: 1 };
  }
  const nullable = declared?.role === 'input' && declared.default === null;
  return nullable ? { anyOf: [integer(0), { ...text, const: 'null' }] } : integer(0);
}
