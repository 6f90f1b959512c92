/** `/healthz` and `/readyz`: what monitors and balancers ask. */
import type { Endpoint, Method } from './endpoint.ts';
import type { HttpResponse } from '../message.ts';
import { JSON_TYPE } from '../rules/negotiation.ts';

/** Why writes cannot be taken now, in words for an operator; null where they can. */
export type Readiness = () => string | null;

/** The process answers: that is all that it says. */
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

export class HealthEndpoint implements Endpoint {
  readonly methods: readonly Method[] = ['GET'];
  readonly negotiates = false;
  readonly emptyNotFound = false;
  readonly #answer: () => HttpResponse;

  constructor(state: () => HttpResponse) {
    this.#answer = state;
  }

  access(): null {
    return null;
  }

  describe(): object {
    return { attributes: {} };
  }

  load(): undefined {}

  validators(): null {
    return null;
  }

  handle(): HttpResponse {
    return this.#answer();
  }
}
