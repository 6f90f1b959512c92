/** `/healthz` and `/readyz`: what monitors and balancers ask. */
import type { Endpoint, Method } from './endpoint.ts';
import type { Answer } from './exchange.ts';
import { JSON_TYPE } from './negotiate.ts';

/** Why writes cannot be taken now, in words for an operator; null where they can. */
export type Readiness = () => string | null;

/** The process answers: that is all that it says. */
export function healthAnswer(): Answer {
  return answer(200, { status: 'ok' });
}

export function readinessAnswer(readiness: Readiness): Answer {
  const reason = readiness();
  if (reason === null) return answer(200, { status: 'ready' });
  return answer(503, { error: `not ready: ${reason}` });
}

function answer(status: number, body: object): Answer {
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
  readonly #answer: () => Answer;

  constructor(state: () => Answer) {
    this.#answer = state;
  }

  access(): null {
    return null;
  }

  describe(): object {
    return { attributes: {} };
  }

  locate(): undefined {}

  current(): null {
    return null;
  }

  perform(): Answer {
    return this.#answer();
  }
}
