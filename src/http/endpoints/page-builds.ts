/** `/admin/page-builds/`: rebuilds pages on demand (spec 7.6) and shows the progress. */
import * as v from 'valibot';
import { missingItem } from '../../errors.ts';
import { flag, identifier } from '../../model/schemas.ts';
import { entityTag } from '../../resources/entity-tag.ts';
import type { HttpResponse } from '../message.ts';
import { json, noBody } from '../operations/body.ts';
import { count, instant, positive, text } from '../operations/common-schemas.ts';
import { arrayOf, defineShape, negotiatedJson } from '../operations/content.ts';
import { operation, type RequestContext } from '../operations/operation.ts';
import { PK } from '../operations/parameters.ts';
import { definePath, type Path } from '../operations/path.ts';
import { JSON_OFFERS } from '../rules/negotiation.ts';
import type { PageBuildObject } from '../services.ts';
import { PAGING } from './kinds/list-parameters.ts';
import { shortListOf } from './lists.ts';
import { PAGES_TAG } from './tags.ts';

/** SKUs that one build may name. */
const MAX_SKUS = 10_000;

const RANGE = `must be an array of 1 to ${MAX_SKUS} ids`;

const pageBuildRequest = v.pipe(
  v.object({
    stale: v.optional(flag, false),
    skus: v.optional(
      v.nullable(
        v.pipe(
          v.array(v.pipe(identifier, v.minValue(1, 'must be 1 or more')), RANGE),
          v.minLength(1, RANGE),
          v.maxLength(MAX_SKUS, RANGE),
          v.transform((ids) => [...new Set(ids)]),
        ),
      ),
      null,
    ),
  }),
  v.description('The pages to rebuild; an empty object rebuilds all of them.'),
);

const EXAMPLE = {
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

const PROPERTIES = {
  id: positive,
  state: { ...text, enum: ['queued', 'running', 'finished'] },
  stale: { type: 'boolean', description: 'Whether only pages that differ are written.' },
  skus: {
    type: ['array', 'null'],
    items: positive,
    description: 'The SKUs whose pages are rebuilt; null for all pages.',
  },
  total: { ...count, description: 'Pages to rebuild.' },
  written: count,
  unchanged: count,
  removed: count,
  failed: count,
  failures: {
    type: 'array',
    description: 'The first 100 failures.',
    items: {
      type: 'object',
      properties: { page: text, error: text },
      required: ['page', 'error'],
    },
  },
  created_at: instant,
  finished_at: { ...instant, type: ['string', 'null'] },
};

const PAGE_BUILD = defineShape({
  name: 'PageBuild',
  description: 'The progress of a page build.',
  properties: PROPERTIES,
  example: EXAMPLE,
});

const ONE = negotiatedJson(PAGE_BUILD, {
  PageBuild: () => ({ summary: 'A page build', value: EXAMPLE }),
});

const MANY = arrayOf(ONE, {
  PageBuildList: () => ({ summary: 'Page builds', value: [EXAMPLE] }),
});

const HEAD = { name: 'PageBuildHead', description: 'The page build exists.' };

export const PAGE_BUILD_PATHS: readonly Path[] = [
  definePath({
    template: '/admin/page-builds/',
    executor: 'owner',
    tag: PAGES_TAG,
    name: 'PageBuildList',
    about: 'page builds',
    label: 'page build',
    offers: JSON_OFFERS,
    resolve: () => undefined,
    operations: {
      GET: operation({
        id: 'listPageBuilds',
        summary: 'List the page builds',
        description:
          'The last 100 page builds since the start of the server, the latest first. All of them are returned unless the query requests a page.',
        role: 'viewer',
        parameters: PAGING,
        body: noBody,
        responses: {
          200: {
            name: 'PageBuildList',
            description: 'The page builds.',
            headers: ['X-Total-Count'],
            content: MANY,
            head: { name: 'PageBuildListHead', description: 'The number of page builds.' },
          },
        },
        run: listPageBuilds,
      }),
      POST: operation({
        id: 'createPageBuild',
        summary: 'Rebuild pages',
        description:
          'Rebuilds all pages, only those that differ (`stale`), or those of the SKUs in `skus`. Needs the role `admin`.',
        role: 'admin',
        body: json('PageBuildInput', pageBuildRequest, {
          summary: 'Only pages that differ',
          value: { stale: true },
        }),
        responses: {
          202: {
            name: 'PageBuildAccepted',
            description:
              'The pages are rebuilt in the background. `Location` is the path of the page build, which shows its progress.',
            headers: ['Location', 'Preference-Applied?'],
            content: ONE,
          },
        },
        failures: [429],
        run: createPageBuild,
      }),
    },
  }),
  definePath({
    template: '/admin/page-builds/{pk}/',
    executor: 'owner',
    parameters: [PK],
    tag: PAGES_TAG,
    name: 'PageBuild',
    about: 'a page build',
    label: 'page build',
    offers: JSON_OFFERS,
    resolve(params, { pageBuilds }): PageBuildObject {
      const id = params.id('pk');
      const build = pageBuilds.find(id);
      if (build !== null) return build;
      throw missingItem('page build', id);
    },
    validators: (build) => ({ etag: etagOf(build) }),
    operations: {
      GET: operation({
        id: 'readPageBuild',
        summary: 'Read a page build',
        description: 'The progress of the page build.',
        role: 'viewer',
        body: noBody,
        responses: {
          200: {
            name: 'PageBuild',
            description: 'The page build.',
            headers: ['ETag'],
            content: ONE,
            head: HEAD,
          },
        },
        run: readPageBuild,
      }),
    },
  }),
];

function listPageBuilds(context: RequestContext<undefined>): HttpResponse {
  const all = context.services.pageBuilds.all();
  return shortListOf(context, { owner: 'page builds', all, segments: 'admin/page-builds/' });
}

function etagOf(build: PageBuildObject): string {
  return entityTag(JSON.stringify(build));
}

async function createPageBuild(
  { services, request, mediaType }: RequestContext<undefined>,
  scope: v.InferOutput<typeof pageBuildRequest>,
): Promise<HttpResponse> {
  const build = await services.pageBuilds.start(scope);
  const headers = { 'Content-Type': mediaType, Location: `${request.path}${build.id}/` };
  return { status: 202, headers, body: JSON.stringify(build) };
}

function readPageBuild({ found, mediaType }: RequestContext<PageBuildObject>): HttpResponse {
  return {
    status: 200,
    headers: { 'Content-Type': mediaType, ETag: etagOf(found) },
    body: JSON.stringify(found),
  };
}
