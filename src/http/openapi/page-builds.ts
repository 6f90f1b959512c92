/** The paths of page builds in the description. */
import { JSON_TYPE } from '../rules/negotiation.ts';
import { PAGE_BUILD_ATTRIBUTES, PAGE_BUILDS_PATH } from '../endpoints/page-builds.ts';
import { PAGES_TAG } from './documents.ts';
import { failures } from './failures.ts';
import { type JsonObject, type Named, ref, without } from './names.ts';
import { headOf, optionsOf } from './operations.ts';
import { named } from './parameters.ts';
import { jsonBody, response } from './responses.ts';

const BUILD = {
  id: 1795262400000,
  state: 'running',
  stale: true,
  skus: null,
  total: 5120,
  written: 12,
  unchanged: 2300,
  removed: 0,
  failed: 0,
  failures: [],
  created_at: '2026-11-21T12:00:00.000Z',
  finished_at: null,
};

const SCOPE = { stale: true };

const count = { type: 'integer', minimum: 0 };
const time = { type: 'string', format: 'date-time' };

const PROPERTIES = {
  id: { type: 'integer', minimum: 1 },
  state: { type: 'string', enum: ['queued', 'running', 'finished'] },
  stale: { type: 'boolean', description: 'Whether only pages that differ are written.' },
  skus: {
    type: ['array', 'null'],
    items: { type: 'integer', minimum: 1 },
    description: 'The SKUs whose pages are made; null for all pages.',
  },
  total: { ...count, description: 'Pages to be made.' },
  written: count,
  unchanged: count,
  removed: count,
  failed: count,
  failures: {
    type: 'array',
    description: 'The first hundred.',
    items: {
      type: 'object',
      properties: { page: { type: 'string' }, error: { type: 'string' } },
      required: ['page', 'error'],
    },
  },
  created_at: time,
  finished_at: { type: ['string', 'null'], format: 'date-time' },
};

export function pageBuildPaths(): Named {
  const list = operation('listPageBuilds', 'List the page builds', {
    description: 'The latest hundred since the start of the server, the latest first.',
    responses: { 200: ref('responses', 'PageBuildList'), ...failures([401, 406, 412, 500]) },
  });
  const read = operation('readPageBuild', 'Read a page build', {
    description: 'How far it is.',
    responses: { 200: ref('responses', 'PageBuild'), ...failures([401, 404, 406, 412, 500]) },
  });
  return {
    [PAGE_BUILDS_PATH]: {
      get: list,
      head: headOf(list, 'PageBuildListHead'),
      options: optionsOf('PageBuildList', 'Describe page builds', PAGES_TAG),
      post: operation('createPageBuild', 'Have pages made', {
        description:
          'All of them, only those that differ (`stale`), or those of the SKUs named. Takes the role `admin`.',
        requestBody: {
          required: true,
          content: jsonBody(ref('schemas', 'PageBuildInput'), ['PageBuildInput'], [JSON_TYPE]),
        },
        responses: {
          202: ref('responses', 'PageBuildAccepted'),
          ...failures([400, 401, 403, 412, 413, 415, 422, 429, 500]),
        },
      }),
    },
    [`${PAGE_BUILDS_PATH}{pk}/`]: {
      parameters: named('pk'),
      get: read,
      head: headOf(read, 'PageBuildHead'),
      options: optionsOf('PageBuild', 'Describe a page build', PAGES_TAG),
    },
  };
}

export function pageBuildSchemas(): Named {
  const attributes = Object.entries<JsonObject>(PAGE_BUILD_ATTRIBUTES);
  return {
    PageBuild: {
      type: 'object',
      description: 'How far a page build is.',
      properties: PROPERTIES,
      required: Object.keys(PROPERTIES),
      examples: [BUILD],
    },
    PageBuildInput: {
      type: 'object',
      description: 'Which pages to make; an empty object for all.',
      properties: Object.fromEntries(
        attributes.map(([name, attribute]) => [name, without(attribute, 'required')]),
      ),
      examples: [SCOPE],
    },
  };
}

export function pageBuildExamples(): Named {
  return {
    PageBuild: { summary: 'A page build', value: BUILD },
    PageBuildList: { summary: 'Page builds', value: [BUILD] },
    PageBuildInput: { summary: 'Those that differ', value: SCOPE },
  };
}

export function pageBuildResponses(): Named {
  const one = jsonBody(ref('schemas', 'PageBuild'), ['PageBuild']);
  const many = { type: 'array', items: ref('schemas', 'PageBuild') };
  return {
    PageBuild: response('The page build.', [], one),
    PageBuildList: response('The page builds.', [], jsonBody(many, ['PageBuildList'])),
    PageBuildHead: response('There is something to read.', []),
    PageBuildAccepted: response(
      'The pages are made in the background. `Location` tells how far it is.',
      ['Location'],
      one,
    ),
  };
}

function operation(operationId: string, summary: string, more: JsonObject): JsonObject {
  const common = { operationId, summary, tags: [PAGES_TAG], security: [{ token: [] }] };
  return { ...common, parameters: named('ifMatch'), ...more };
}
