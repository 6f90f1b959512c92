/** The application: runs the operation of a request, and adds the headers of every response. */
import { CatalogError } from '../errors.ts';
import { header, type HttpRequest, type HttpResponse, isRead, whenReady } from './message.ts';
import { openApiDocument } from './openapi/document.ts';
import type { ServedDocument } from './operations/document.ts';
import type { Executor, Path } from './operations/path.ts';
import type { Settings } from './operations/settings.ts';
import { type Route, Routes } from './routes.ts';
import { crossOrigin } from './rules/cors.ts';
import { CATALOG_SEQUENCE, sequenceShown, sequenceText } from './rules/catalog-sequence.ts';
import { JSON_TYPE, parseAccept, VERSION } from './rules/negotiation.ts';
import { type FaultReporter, problem } from './rules/problems.ts';
import type { Services } from './services.ts';
import { operationTable } from './table.ts';

/** Has another host or process carry out a request. @throws CatalogError if that fails. */
export type Forward = (request: HttpRequest) => Promise<HttpResponse>;

/** Those that may be another process or another host. */
type Elsewhere = Exclude<Executor, 'any'>;

export interface ApplicationOptions extends Omit<Services, 'description'>, Settings {
  /** What passes a request on to its executor; null, or left out, if that is this process. */
  readonly forwarding?: (executor: Elsewhere, request: HttpRequest) => Forward | null;
  /** Origins whose pages may read the responses; empty for none. */
  readonly corsOrigins: readonly string[];
  readonly onFault: FaultReporter;
}

/** Answers one request; never rejects. */
export type Application = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;

/** @param table the operations; tests pass their own. */
export function createApplication(
  options: ApplicationOptions,
  table: readonly Path[] = operationTable(options),
): Application {
  const { basePath, corsOrigins, onFault, forwarding = () => null } = options;
  const services: Services = { ...options, description: describing(table, options) };
  const routes = new Routes(table);
  const cors = corsOrigins.length === 0 ? null : crossOrigin(corsOrigins);

  const find = (target: Target) => {
    if (target.path === null) return undefined;
    return whenReady(routes.find(target.path), (route) =>
      target.versioned && route?.path.unversioned === true ? undefined : route,
    );
  };

  return (request) => {
    const target = splitPrefix(request.path, basePath);
    return whenReady(find(target), (route) => {
      if (route !== undefined) note(request, target.path, route.path);
      const begun = services.changes.sequence;
      const finish = (response: HttpResponse) => {
        const guarded = route?.path.guards(request.method) ?? false;
        const completed = complete(response, guarded, target.prefix);
        const shown = sequenceShown(request, response, begun, services.changes.sequence);
        response.headers[CATALOG_SEQUENCE] ??= sequenceText(shown);
        return cors === null ? completed : cors(request, completed);
      };
      const refuse = (error: unknown) =>
        finish(problem(error, request, route?.path.emptyNotFound ?? false, onFault));
      try {
        const executor = route?.path.executorOf(request.method) ?? 'any';
        const forward = executor === 'any' ? null : forwarding(executor, request);
        // The other process or host has already added the headers of every response.
        if (forward !== null) return forward(request).catch(refuse);
        const response =
          route === undefined
            ? withoutRoute(request, (path) => find(splitPrefix(path, basePath)))
            : route.path.handle(request, route.params, services);
        return response instanceof Promise ? response.then(finish, refuse) : finish(response);
      } catch (error) {
        return refuse(error);
      }
    });
  };
}

/** Records the path for the log and the metrics. */
function note({ trace }: HttpRequest, found: string | null, { memorable, template }: Path): void {
  trace.found = found;
  if (!memorable) trace.template = template;
}

/** Makes `/openapi.json` at the first request for it, which keeps the start of the server short. */
function describing(table: readonly Path[], settings: Settings): () => ServedDocument {
  let made: ServedDocument | null = null;
  return () => (made ??= describe(table, settings));
}

function describe(table: readonly Path[], settings: Settings): ServedDocument {
  const text = JSON.stringify(openApiDocument(table, settings));
  return { body: Buffer.from(text), type: JSON_TYPE };
}

interface Target {
  /** The base path, followed by the version if the path contains it. */
  readonly prefix: string;
  /** What follows the prefix; null outside the base path. */
  readonly path: string | null;
  readonly versioned: boolean;
}

function splitPrefix(path: string, basePath: string): Target {
  if (!path.startsWith(`${basePath}/`)) return { prefix: basePath, path: null, versioned: false };
  const rest = path.slice(basePath.length);
  const versioned = rest.startsWith(`/${VERSION}/`);
  if (!versioned) return { prefix: basePath, path: rest, versioned };
  return {
    prefix: `${basePath}/${VERSION}`,
    path: rest.slice(VERSION.length + 1),
    versioned,
  };
}

/** Most characters of a `Location`: a proxy refuses a response with too many bytes of headers. */
const MAX_LOCATION = 4096;

/**
 * Answers a request without a route. If only the final slash is missing, the message names the
 * right path, and a browser that asked for a page is redirected to it.
 *
 * @throws CatalogError `not_found`.
 */
async function withoutRoute(
  request: HttpRequest,
  find: (path: string) => Route | undefined | Promise<Route | undefined>,
): Promise<HttpResponse> {
  const { method, path, search } = request;
  const meant = path.endsWith('/') ? undefined : await find(`${path}/`);
  const location = `${path}/${search === '' ? '' : `?${search}`}`;
  const reads = isRead(method) && asksForHtml(request);
  if (reads && meant?.path.page === true && location.length <= MAX_LOCATION) {
    return { status: 308, headers: { Location: location }, body: null };
  }
  throw new CatalogError(
    'not_found',
    meant === undefined
      ? 'there is no such path'
      : `there is no such path; did you mean ${path}/ ?`,
  );
}

/** Whether `Accept` names HTML, as browsers do. */
function asksForHtml(request: HttpRequest): boolean {
  const ranges = parseAccept(header(request, 'accept') ?? '');
  return ranges.some(({ type, quality }) => type === 'text/html' && quality > 0);
}

/** Adds the headers that every response has. */
function complete(response: HttpResponse, guarded: boolean, prefix: string): HttpResponse {
  const { headers } = response;
  const links = serviceLinks(prefix);
  headers['Cache-Control'] ??= guarded ? 'no-store' : 'no-cache';
  headers['Vary'] ??= 'Accept';
  headers['X-Content-Type-Options'] = 'nosniff';
  headers['Link'] = headers['Link'] === undefined ? links : `${headers['Link']}, ${links}`;
  return response;
}

/** Link values by prefix. There are two prefixes: with the version segment and without it. */
const knownLinks = new Map<string, string>();

/** RFC 8631: where programs and people find the description of the service. */
function serviceLinks(prefix: string): string {
  let links = knownLinks.get(prefix);
  if (links === undefined) {
    links = `<${prefix}/openapi.json>; rel="service-desc"; type="application/json", <${prefix}/docs/>; rel="service-doc"; type="text/html"`;
    knownLinks.set(prefix, links);
  }
  return links;
}
