/** The application on `--metrics-port`, for the operator's programs, apart from the catalog. */
import { type HttpResponse, type HttpRequest, whenReady } from '../http/message.ts';
import { healthAnswer, readinessAnswer } from '../http/endpoints/health.ts';
import { JSON_TYPE } from '../http/rules/negotiation.ts';
import type { Application } from '../http/router.ts';
import type { Readiness, ReadinessDetails } from '../http/services.ts';

export interface Readings {
  readonly readiness: Readiness;
  readonly readinessDetails: () => ReadinessDetails;
  /** The metrics, and their media type. */
  readonly metrics: { readonly type: string; text(): Promise<string> };
}

type Answer = (search: string) => HttpResponse | Promise<HttpResponse>;

/** `/metrics`, `/healthz` and `/readyz`, without a token and without a base path. */
export function operatorApplication({
  readiness,
  readinessDetails,
  metrics,
}: Readings): Application {
  const paths: Readonly<Record<string, Answer>> = {
    '/healthz': healthAnswer,
    '/readyz': (search) => readinessAnswer(readiness, search, readinessDetails),
    '/metrics': async () => ({
      status: 200,
      headers: { 'Content-Type': metrics.type },
      body: await metrics.text(),
    }),
  };
  return ({ method, path, search }: HttpRequest) => {
    const read = Object.hasOwn(paths, path) ? paths[path] : undefined;
    if (read === undefined) return completed(refusal(404, 'there is no such path'));
    if (method !== 'GET' && method !== 'HEAD') {
      const answer = refusal(405, `${method} is not allowed here; use GET, HEAD`);
      answer.headers['Allow'] = 'GET, HEAD';
      return completed(answer);
    }
    return whenReady(read(search), completed);
  };
}

function refusal(status: number, error: string): HttpResponse {
  return { status, headers: { 'Content-Type': JSON_TYPE }, body: JSON.stringify({ error }) };
}

function completed(answer: HttpResponse): HttpResponse {
  answer.headers['Cache-Control'] = 'no-store';
  answer.headers['X-Content-Type-Options'] = 'nosniff';
  return answer;
}
