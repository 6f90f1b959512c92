/** The application on `--metrics-port`, for the operator's programs, apart from the catalog. */
import { type HttpResponse, type HttpRequest, whenReady } from '../http/message.ts';
import { healthResponse, readinessResponse } from '../http/endpoints/health.ts';
import { JSON_TYPE } from '../http/rules/negotiation.ts';
import type { Application } from '../http/router.ts';
import type { Readiness, ReadinessDetails } from '../http/services.ts';

export interface Readings {
  readonly readiness: Readiness;
  readonly readinessDetails: () => ReadinessDetails;
  /** The metrics, and their media type. */
  readonly metrics: { readonly type: string; text(): Promise<string> };
}

type Handler = (search: string) => HttpResponse | Promise<HttpResponse>;

/** `/metrics`, `/healthz` and `/readyz`, without a token and without a base path. */
export function operatorApplication({
  readiness,
  readinessDetails,
  metrics,
}: Readings): Application {
  const paths: Readonly<Record<string, Handler>> = {
    '/healthz': healthResponse,
    '/readyz': (search) => readinessResponse(readiness, search, readinessDetails),
    '/metrics': async () => ({
      status: 200,
      headers: { 'Content-Type': metrics.type },
      body: await metrics.text(),
    }),
  };
  return ({ method, path, search }: HttpRequest) => {
    const handle = Object.hasOwn(paths, path) ? paths[path] : undefined;
    if (handle === undefined) return completed(refusal(404, 'there is no such path'));
    if (method !== 'GET' && method !== 'HEAD') {
      const response = refusal(405, `${method} is not allowed here; use GET, HEAD`);
      response.headers['Allow'] = 'GET, HEAD';
      return completed(response);
    }
    return whenReady(handle(search), completed);
  };
}

function refusal(status: number, error: string): HttpResponse {
  return { status, headers: { 'Content-Type': JSON_TYPE }, body: JSON.stringify({ error }) };
}

function completed(response: HttpResponse): HttpResponse {
  response.headers['Cache-Control'] = 'no-store';
  response.headers['X-Content-Type-Options'] = 'nosniff';
  return response;
}
