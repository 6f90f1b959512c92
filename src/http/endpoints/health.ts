/** `/healthz` and `/readyz`: what monitors and load balancers ask. */
import type { HttpResponse } from '../message.ts';
import { type Content, plainJson, type Shape } from '../operations/content.ts';
import { noBody } from '../operations/body.ts';
import { operation, type ResponseDeclaration } from '../operations/operation.ts';
import { definePath, type Path } from '../operations/path.ts';
import { JSON_TYPE } from '../rules/negotiation.ts';
import type { Readiness } from '../services.ts';
import { ERROR } from '../operations/errors.ts';
import { SERVICE_TAG } from './tags.ts';

/** The process answers, and says nothing else. */
export function healthAnswer(): HttpResponse {
  return answer(200, { status: 'ok' });
}

export function readinessAnswer(readiness: Readiness): HttpResponse {
  const reason = readiness();
  if (reason === null) return answer(200, { status: 'ready' });
  return answer(503, { error: `not ready: ${reason}` });
}

function answer(status: number, body: object): HttpResponse {
  return {
    status,
    headers: { 'Content-Type': JSON_TYPE, 'Cache-Control': 'no-store' },
    body: JSON.stringify(body),
  };
}

const STATE: Shape = {
  name: 'State',
  schema: () => ({
    type: 'object',
    description: 'What a monitor asked for.',
    properties: { status: { type: 'string', enum: ['ok', 'ready'] } },
    required: ['status'],
    examples: [{ status: 'ok' }],
  }),
};

const NOT_READY: ResponseDeclaration = {
  name: 'NotReady',
  description: 'It takes no writes.',
  content: plainJson(ERROR, {
    NotReady: () => ({
      summary: 'The disk is full',
      value: { error: 'not ready: the disk refused a write' },
    }),
  }),
};

const stateOf = (name: string, status: string): Content =>
  plainJson(STATE, { [name]: () => ({ summary: name, value: { status } }) });

export const HEALTH_PATHS: readonly Path[] = [
  definePath({
    template: '/healthz',
    tag: SERVICE_TAG,
    name: 'Health',
    about: 'the health of the server',
    unversioned: true,
    resolve: () => undefined,
    operations: {
      GET: operation({
        id: 'readHealth',
        summary: 'Ask whether the server lives',
        description: '200 while the process answers at all.',
        role: null,
        body: noBody,
        responses: {
          200: { name: 'Health', description: 'It does.', content: stateOf('Health', 'ok') },
        },
        run: healthAnswer,
      }),
    },
  }),
  definePath({
    template: '/readyz',
    tag: SERVICE_TAG,
    name: 'Readiness',
    about: 'the readiness of the server',
    unversioned: true,
    resolve: () => undefined,
    operations: {
      GET: operation({
        id: 'readReadiness',
        summary: 'Ask whether the server takes writes',
        description:
          '200 while it takes writes; 503 while it shuts down, while memory or disk is nearly used up, and for half a minute after the disk refused a write and none has succeeded since.',
        role: null,
        body: noBody,
        responses: {
          200: {
            name: 'Readiness',
            description: 'It does.',
            content: stateOf('Readiness', 'ready'),
          },
          503: NOT_READY,
        },
        run: ({ services }) => readinessAnswer(services.readiness),
      }),
    },
  }),
];
