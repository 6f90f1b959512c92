/** `/healthz` and `/readyz`, for monitors and load balancers. */
import type { HttpResponse } from '../message.ts';
import { count, text } from '../operations/common-schemas.ts';
import {
  type Content,
  defineShape,
  type JsonObject,
  plainJson,
  type Shape,
} from '../operations/content.ts';
import { noBody } from '../operations/body.ts';
import { operation, type ResponseDeclaration } from '../operations/operation.ts';
import { definePath, type Path } from '../operations/path.ts';
import type { Parameter } from '../operations/parameters.ts';
import { uncachedJson } from '../rules/uncached-json.ts';
import type { ReadinessDetails, Services } from '../services.ts';
import { SERVICE_TAG } from './tags.ts';

const VERBOSE: Parameter = {
  component: 'verbose',
  name: 'verbose',
  in: 'query',
  description: 'Adds details to the response. It needs no value.',
  schema: text,
  example: '',
};

/** Reports only that the process responds. */
export function healthResponse(): HttpResponse {
  return uncachedJson(200, { status: 'ok' });
}

/**
 * @param search the query; `verbose` in it adds the details.
 * @param details that do not affect whether the server is ready.
 */
export function readinessResponse(
  readiness: Services['readiness'],
  search: string,
  details: () => ReadinessDetails,
): HttpResponse {
  const reason = readiness();
  const more = new URLSearchParams(search).has(VERBOSE.name) ? details() : {};
  if (reason === null) return uncachedJson(200, { status: 'ready', ...more });
  return uncachedJson(503, { error: `not ready: ${reason}`, ...more });
}

const STATE = defineShape({
  name: 'State',
  description: 'The state of the process.',
  properties: { status: { ...text, enum: ['ok'] } },
  example: { status: 'ok' },
});

const DETAILS: JsonObject = {
  archive: {
    type: 'object',
    description:
      'How far the archive is behind the store. Only with `verbose`, and if there is an archive.',
    properties: {
      behind_change_sets: count,
      behind_seconds: { type: 'number', minimum: 0 },
      failing: { type: 'boolean', description: 'Whether the last attempt failed.' },
    },
    required: ['behind_change_sets', 'behind_seconds', 'failing'],
  },
  following: {
    type: 'object',
    description:
      'How far the host is behind the host that it follows. Only with `verbose`, and if it follows one.',
    properties: {
      behind_change_sets: count,
      behind_seconds: { type: 'number', minimum: 0 },
      connected: { type: 'boolean', description: 'Whether change sets arrive.' },
    },
    required: ['behind_change_sets', 'behind_seconds', 'connected'],
  },
};

const READY = defineShape({
  name: 'Ready',
  description: 'The server accepts writes.',
  properties: { status: { ...text, enum: ['ready'] }, ...DETAILS },
  required: ['status'],
  example: { status: 'ready' },
});

const UNREADY = defineShape({
  name: 'Unready',
  description: 'Why the server does not accept writes.',
  properties: { error: text, ...DETAILS },
  required: ['error'],
  example: { error: 'not ready: the disk refused a write' },
});

const NOT_READY: ResponseDeclaration = {
  name: 'NotReady',
  description: 'The server does not accept writes.',
  content: plainJson(UNREADY, {
    NotReady: () => ({
      summary: 'The disk is full',
      value: { error: 'not ready: the disk refused a write' },
    }),
  }),
};

const stateOf = (shape: Shape, name: string, status: string): Content =>
  plainJson(shape, { [name]: () => ({ summary: name, value: { status } }) });

export const HEALTH_PATHS: readonly Path[] = [
  definePath({
    template: '/healthz',
    catalogFree: true,
    tag: SERVICE_TAG,
    name: 'Health',
    about: 'the health of the server',
    unversioned: true,
    resolve: () => undefined,
    operations: {
      GET: operation({
        id: 'readHealth',
        summary: 'Check whether the server is alive',
        description: '200 while the process responds.',
        role: null,
        body: noBody,
        responses: {
          200: {
            name: 'Health',
            description: 'The process responds.',
            content: stateOf(STATE, 'Health', 'ok'),
          },
        },
        run: healthResponse,
      }),
    },
  }),
  definePath({
    template: '/readyz',
    catalogFree: true,
    executor: 'owner',
    tag: SERVICE_TAG,
    name: 'Readiness',
    about: 'the readiness of the server',
    unversioned: true,
    resolve: () => undefined,
    operations: {
      GET: operation({
        id: 'readReadiness',
        summary: 'Check whether the server accepts writes',
        description:
          '200 while it accepts writes; otherwise 503 with the reason: it shuts down, it has just started and builds its indexes, memory or disk space is nearly used up, the disk refused a write in the last half minute and none has succeeded since, or has not ended one for 10 seconds, or other hosts that it needs do not answer.',
        role: null,
        parameters: [VERBOSE],
        body: noBody,
        responses: {
          200: {
            name: 'Readiness',
            description: 'The server accepts writes.',
            content: stateOf(READY, 'Readiness', 'ready'),
          },
          503: NOT_READY,
        },
        run: ({ services, request }) =>
          readinessResponse(services.readiness, request.search, services.readinessDetails),
      }),
    },
  }),
];
