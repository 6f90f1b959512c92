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
  '/pages/skus/{id}.html': {
    name: 'Page',
    summary: 'Read the detail page of a SKU',
    description:
      'Made anew after every change of what it shows. A SKU that is off sale keeps its page, without price and stock; the page of a deleted SKU is removed.',
    tag: PAGES_TAG,
    parameters: named('sku'),
    headers: [...page, 'Last-Modified'],
    content: html,
    failures: [404],
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
  const { name, summary, description, tag, parameters, failures: failing } = served;
  const common = { description, tags: [tag], security: [] };
  const read = {
    operationId: `read${name}`,
    summary,
    ...common,
    parameters: named('ifMatch', 'ifNoneMatch'),
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
