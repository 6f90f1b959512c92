/** The paths of the description that are no collections: index, description, viewer, pages. */
import { type FailureStatus, failures } from './failures.ts';
import { type JsonObject, type Named, ref } from './names.ts';
import { headOf } from './operations.ts';
import { named } from './parameters.ts';
import { jsonBody, response } from './responses.ts';

export const SERVICE_TAG = 'service';
export const PAGES_TAG = 'pages';

/** What a path serves. */
interface Served {
  /** As operations are called after it. */
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly tag: string;
  /** The path's own parameters. */
  readonly parameters?: readonly JsonObject[];
  /** Headers beyond those of every answer. */
  readonly headers: readonly string[];
  readonly content: JsonObject;
  readonly failures: readonly FailureStatus[];
}

const html = {
  'text/html': {
    schema: { type: 'string' },
    examples: { Page: ref('examples', 'Page') },
  },
};

const page = ['ETag', 'Content-Security-Policy'];

const file = ['ETag', 'Last-Modified'];

const xml = {
  'application/xml': {
    schema: { type: 'string' },
    example: '<?xml version="1.0" encoding="UTF-8"?>',
  },
};

/** What the pages of the shop have in common. */
const shopPage = {
  tag: PAGES_TAG,
  headers: [...page, 'Last-Modified'],
  content: html,
  failures: [404],
} as const;

const DOCUMENTS: Readonly<Record<string, Served>> = {
  '/': {
    name: 'Index',
    summary: 'Read the index',
    description: 'The collections and the documentation: where a client begins.',
    tag: SERVICE_TAG,
    headers: ['ETag'],
    content: jsonBody(ref('schemas', 'Index'), ['Index']),
    failures: [406],
  },
  '/openapi.json': {
    name: 'Description',
    summary: 'Read this description',
    description: 'Made from the declarations by which the server checks what it is sent.',
    tag: SERVICE_TAG,
    headers: ['ETag'],
    content: jsonBody(ref('schemas', 'Description'), ['Description']),
    failures: [406],
  },
  '/docs/': {
    name: 'Documentation',
    summary: 'Read the documentation',
    description: 'This description for people, to be tried out.',
    tag: SERVICE_TAG,
    headers: page,
    content: html,
    failures: [],
  },
  '/docs/{file}': {
    name: 'DocumentationFile',
    summary: 'Read a file of the documentation',
    description: 'What the page of the documentation loads.',
    tag: SERVICE_TAG,
    parameters: named('file'),
    headers: ['ETag'],
    content: { '*/*': { schema: { type: 'string' }, example: '…' } },
    failures: [404],
  },
  '/pages/': {
    ...shopPage,
    name: 'FrontPage',
    summary: 'Read the front page',
    description: 'The categories of the first level. `/pages/index.html` is the same.',
  },
  '/pages/index.html': {
    ...shopPage,
    name: 'FrontPageFile',
    summary: 'Read the front page by its file',
    description: 'The categories of the first level.',
  },
  '/pages/index/{part}.html': {
    ...shopPage,
    name: 'FrontPagePart',
    summary: 'Read more of the front page',
    description: 'A list of more than 48 entries goes on here.',
    parameters: named('part'),
  },
  '/pages/categories/{id}.html': {
    ...shopPage,
    name: 'CategoryPage',
    summary: 'Read the page of a category',
    description: 'The categories below it, or its SKUs.',
    parameters: named('id'),
  },
  '/pages/categories/{id}/{part}.html': {
    ...shopPage,
    name: 'CategoryPagePart',
    summary: 'Read more of the page of a category',
    description: 'A list of more than 48 entries goes on here.',
    parameters: named('id', 'part'),
  },
  '/pages/goods/{id}.html': {
    ...shopPage,
    name: 'SpuPage',
    summary: 'Read the page of an SPU',
    description: 'Its descriptions, and its SKUs with their options.',
    parameters: named('id'),
  },
  '/pages/goods/{id}/{part}.html': {
    ...shopPage,
    name: 'SpuPagePart',
    summary: 'Read more of the page of an SPU',
    description: 'A list of more than 48 entries goes on here.',
    parameters: named('id', 'part'),
  },
  '/pages/skus/{id}.html': {
    ...shopPage,
    name: 'Page',
    summary: 'Read the detail page of a SKU',
    description:
      'Made anew after every change of what it shows. A SKU that is off sale keeps its page, without price and stock; the page of a deleted SKU is removed.',
    parameters: named('sku'),
  },
  '/pages/sitemap.xml': {
    ...shopPage,
    name: 'Sitemap',
    summary: 'Read the index of the sitemap',
    description: 'Only where the server knows its public address (`--public-url`).',
    headers: file,
    content: xml,
  },
  '/pages/sitemaps/{name}.xml': {
    ...shopPage,
    name: 'SitemapPart',
    summary: 'Read a file of the sitemap',
    description:
      'Addresses of the pages of a range of ids, such as `skus-1`: those from 1 to 1000.',
    parameters: named('sitemap'),
    headers: file,
    content: xml,
  },
  '/pages/style.css': {
    ...shopPage,
    name: 'Style',
    summary: 'Read the style sheet of the pages',
    description: 'That of all pages.',
    headers: file,
    content: { 'text/css': { schema: { type: 'string' }, example: ':root { }' } },
  },
};

/** Every such path. */
export function documentPaths(): Named {
  const paths = Object.entries(DOCUMENTS).map(([path, served]) => [path, documentPath(served)]);
  return Object.fromEntries(paths) as Named;
}

/** The responses of these paths, by name. */
export function documentResponses(): Named {
  const responses = Object.values(DOCUMENTS).map(({ name, headers, content }) => [
    name,
    response('The document.', headers, content),
  ]);
  return Object.fromEntries(responses) as Named;
}

function documentPath(served: Served): JsonObject {
  const { name, summary, description, tag, parameters, headers, failures: failing } = served;
  const common = { description, tags: [tag], security: [] };
  const read = {
    operationId: `read${name}`,
    summary,
    ...common,
    parameters: named(
      'ifMatch',
      'ifNoneMatch',
      ...(headers.includes('Last-Modified') ? ['ifModifiedSince'] : []),
    ),
    responses: {
      200: ref('responses', name),
      304: ref('responses', 'Unchanged'),
      ...failures([...failing, 412, 500]),
    },
  };
  const options = {
    operationId: `describe${name}`,
    summary: `${summary}: the methods alone`,
    ...common,
    responses: {
      200: ref('responses', 'Options'),
      // A page is looked for only where it is to be read; a file belongs to its path.
      ...failures(name === 'DocumentationFile' ? [404, 500] : [500]),
    },
  };
  return {
    ...(parameters && { parameters }),
    get: read,
    head: headOf(read, `${name}Head`),
    options,
  };
}
