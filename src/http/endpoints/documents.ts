/** `/` and `/openapi.json`: the index and the description of the service. */
import welcome from '../../../templates/viewer/welcome.njk' with { type: 'text' };
import { COLLECTIONS } from '../../model/kinds.ts';
import { noBody } from '../operations/body.ts';
import { text } from '../operations/common-schemas.ts';
import { defineShape, type JsonSchema, negotiatedJson, type Shape } from '../operations/content.ts';
import {
  documentResponse,
  HTML_CONTENT,
  HTML_TYPE,
  type ServedDocument,
  validatorsOf,
} from '../operations/document.ts';
import { operation, type RequestContext } from '../operations/operation.ts';
import { definePath, type Path } from '../operations/path.ts';
import type { Settings } from '../operations/settings.ts';
import { OPENAPI } from '../openapi/version.ts';
import { JSON_OFFERS, JSON_TYPE } from '../rules/negotiation.ts';
import { SERVICE_TAG } from './tags.ts';

/** @returns the paths of the index and the description. The index is made once, here. */
export function documentPaths(settings: Settings): readonly Path[] {
  return [indexPath(settings), descriptionPath(settings)];
}

function indexPath({ basePath, version }: Settings): Path {
  const object = indexObject(basePath, version);
  const index: ServedDocument = {
    body: Buffer.from(JSON.stringify(object)),
    type: JSON_TYPE,
    links: indexLinks(basePath),
  };
  return definePath({
    template: '/',
    catalogFree: true,
    tag: SERVICE_TAG,
    name: 'Index',
    about: 'the index',
    offers: [...JSON_OFFERS, { contentType: WELCOME.type, type: 'text/html' }],
    resolve: () => index,
    validators: (_, __, mediaType) => validatorsOf(indexAs(mediaType, index)),
    operations: {
      GET: operation({
        id: 'readIndex',
        summary: 'Read the index',
        description:
          'The collections and the documentation: the starting point of a client. A browser, which requests `text/html`, gets a page.',
        role: null,
        body: noBody,
        responses: {
          200: {
            name: 'Index',
            description: 'The document.',
            headers: ['ETag', 'Content-Security-Policy?'],
            content: negotiatedJson(indexShape(object), {
              Index: () => ({ summary: 'The index', value: object }),
            }),
            alternative: HTML_CONTENT,
          },
        },
        run: ({ found, mediaType }: RequestContext<ServedDocument>) =>
          documentResponse(indexAs(mediaType, found), mediaType),
      }),
    },
  });
}

/** The page that browsers get instead of the index; its links are relative. */
const WELCOME: ServedDocument = {
  body: Buffer.from(welcome),
  type: HTML_TYPE,
  policy:
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; img-src data:; style-src 'self'",
};

/** The index in the media type that was chosen. */
function indexAs(mediaType: string, index: ServedDocument): ServedDocument {
  return mediaType === WELCOME.type ? WELCOME : index;
}

function descriptionPath({ version }: Settings): Path {
  // Shortened: with all of itself as an example the description would never end.
  const beginning = { openapi: OPENAPI, info: { title: 'Catalog server', version }, paths: {} };
  const shape: Shape = {
    name: 'Description',
    schema: () => ({
      type: 'object',
      description: 'This document: OpenAPI 3.1.',
      properties: { openapi: text, info: { type: 'object' }, paths: { type: 'object' } },
      required: ['openapi', 'info', 'paths'],
      additionalProperties: true,
      examples: [beginning],
    }),
  };
  return definePath({
    template: '/openapi.json',
    catalogFree: true,
    tag: SERVICE_TAG,
    name: 'Description',
    about: 'this description',
    offers: JSON_OFFERS,
    resolve: (_, { description }) => description(),
    validators: validatorsOf,
    operations: {
      GET: operation({
        id: 'readDescription',
        summary: 'Read this description',
        description: 'Generated from the declarations with which the server validates requests.',
        role: null,
        body: noBody,
        responses: {
          200: {
            name: 'Description',
            description: 'The document.',
            headers: ['ETag'],
            content: negotiatedJson(shape, {
              Description: () => ({ summary: 'The beginning of the document', value: beginning }),
            }),
          },
        },
        run: readDocument,
      }),
    },
  });
}

function readDocument({ found, mediaType }: RequestContext<ServedDocument>) {
  return documentResponse(found, mediaType);
}

/** The collections that the index lists. */
const LISTED = COLLECTIONS.filter(({ listed }) => listed);

function indexObject(basePath: string, version: string) {
  const collections = Object.fromEntries(
    LISTED.map(({ name, path }) => [name, `${basePath}${path}`]),
  );
  return {
    name: 'catalog-server',
    version,
    collections,
    documentation: { openapi: `${basePath}/openapi.json`, page: `${basePath}/docs/` },
  };
}

/** RFC 6573: the collections are the items of the index. */
function indexLinks(basePath: string): string {
  return LISTED.map(({ path }) => `<${basePath}${path}>; rel="item"`).join(', ');
}

function indexShape(object: ReturnType<typeof indexObject>): Shape {
  return defineShape({
    name: 'Index',
    description: 'The paths of the collections and of the documentation.',
    properties: {
      name: text,
      version: text,
      collections: pathsBy(Object.keys(object.collections)),
      documentation: pathsBy(Object.keys(object.documentation)),
    },
    example: object,
  });
}

function pathsBy(names: readonly string[]): JsonSchema {
  const path = { ...text, description: 'A path on this server.' };
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, path])),
    required: names,
  };
}
