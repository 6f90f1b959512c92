/** The paths of the description that monitors ask. */
import { JSON_TYPE } from '../rules/negotiation.ts';
import { SERVICE_TAG } from './documents.ts';
import { failures } from './failures.ts';
import { type JsonObject, type Named, ref } from './names.ts';
import { headOf } from './operations.ts';
import { jsonBody, response } from './responses.ts';

interface Probe {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly status: string;
  readonly fails: boolean;
}

const PROBES: Readonly<Record<string, Probe>> = {
  '/healthz': {
    name: 'Health',
    summary: 'Ask whether the server lives',
    description: '200 while the process answers at all.',
    status: 'ok',
    fails: false,
  },
  '/readyz': {
    name: 'Readiness',
    summary: 'Ask whether the server takes writes',
    description:
      '200 while it takes writes; 503 while it shuts down, and for half a minute after the disk refused a write and none has succeeded since.',
    status: 'ready',
    fails: true,
  },
};

export function healthPaths(): Named {
  return Object.fromEntries(
    Object.entries(PROBES).map(([path, probe]) => [path, probePath(probe)]),
  );
}

export function healthResponses(): Named {
  const found: Record<string, JsonObject> = {
    NotReady: response('It takes no writes.', [], {
      [JSON_TYPE]: {
        schema: ref('schemas', 'Error'),
        examples: { disk: { value: { error: 'not ready: the disk refused a write' } } },
      },
    }),
  };
  for (const { name } of Object.values(PROBES)) {
    found[name] = response('It does.', [], jsonBody(ref('schemas', 'State'), [name], [JSON_TYPE]));
  }
  return found;
}

export function healthSchemas(): Named {
  return {
    State: {
      type: 'object',
      description: 'What a monitor asked for.',
      properties: { status: { type: 'string', enum: ['ok', 'ready'] } },
      required: ['status'],
      examples: [{ status: 'ok' }],
    },
  };
}

export function healthExamples(): Named {
  return Object.fromEntries(
    Object.values(PROBES).map(({ name, status }) => [name, { summary: name, value: { status } }]),
  );
}

function probePath({ name, summary, description, fails }: Probe): JsonObject {
  const common = { description, tags: [SERVICE_TAG], security: [] };
  const read = {
    operationId: `read${name}`,
    summary,
    ...common,
    responses: {
      200: ref('responses', name),
      ...failures([412, 500]),
      ...(fails && { 503: ref('responses', 'NotReady') }),
    },
  };
  const options = {
    operationId: `describe${name}`,
    summary: `${summary}: the methods alone`,
    ...common,
    responses: { 200: ref('responses', 'Options'), ...failures([500]) },
  };
  return { get: read, head: headOf(read, `${name}Head`), options };
}
