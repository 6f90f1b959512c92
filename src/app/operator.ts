/** The application on `--metrics-port`, for the operator's programs, apart from the catalog. */
import { type HttpRequest, type HttpResponse, isRead } from '../http/message.ts';
import { healthResponse, readinessResponse } from '../http/endpoints/health.ts';
import { UNCACHED, uncachedJson } from '../http/rules/uncached-json.ts';
import type { Application } from '../http/application.ts';
import type { Services } from '../http/services.ts';

export interface Readings extends Pick<Services, 'readiness' | 'readinessDetails'> {
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
      headers: { 'Content-Type': metrics.type, ...UNCACHED },
      body: await metrics.text(),
    }),
  };
  return ({ method, path, search }: HttpRequest) => {
    const handle = Object.hasOwn(paths, path) ? paths[path] : undefined;
    if (handle === undefined) return uncachedJson(404, { error: 'there is no such path' });
    if (!isRead(method)) {
      const error = `${method} is not allowed here; use GET, HEAD`;
      return uncachedJson(405, { error }, { Allow: 'GET, HEAD' });
    }
    return handle(search);
  };
}
