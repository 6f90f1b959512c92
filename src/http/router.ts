/** Every path, and the order of the checks (spec 3.11), on one screen each. */
import { Router } from 'itty-router';
import type { TokenVerifier } from '../auth/tokens.ts';
import { CatalogError } from '../errors.ts';
import type { Kind } from '../model/kind.ts';
import { KINDS } from '../model/kinds.ts';
import type { Records } from '../resources/records.ts';
import { adminKind, nestedAddress, NUMBER, numbersIn, type Params } from './endpoints/addresses.ts';
import { authorize } from './rules/authorization.ts';
import { readJson } from './rules/json-body.ts';
import { crossOrigin } from './rules/cors.ts';
import {
  indexDocument,
  indexLinks,
  optionsHeaders,
  serviceLinks,
} from './endpoints/description.ts';
import { DocumentEndpoint } from './endpoints/documents.ts';
import { allowed, type Endpoint, type Method, WITH_BODY } from './endpoints/endpoint.ts';
import { type HttpResponse, header, type HttpRequest, whenReady } from './message.ts';
import {
  healthAnswer,
  HealthEndpoint,
  type Readiness,
  readinessAnswer,
} from './endpoints/health.ts';
import type { JsonLimits } from './rules/json-limits.ts';
import { JSON_TYPE, type MediaType, negotiate, VERSION } from './rules/negotiation.ts';
import { openApiDocument } from './openapi/document.ts';
import {
  PAGE_BUILDS_PATH,
  PageBuildEndpoint,
  PageBuildsEndpoint,
  type PageBuildService,
} from './endpoints/page-builds.ts';
import { PAGE_SHAPES, pageEndpoint, type StaticFiles } from './endpoints/pages.ts';
import {
  type Conditions,
  conditionsOf,
  isUnmodified,
  namesCurrent,
  requireMatch,
  requireWritable,
} from './rules/preconditions.ts';
import { type FaultReporter, problem } from './rules/problems.ts';
import { CollectionEndpoint, ItemEndpoint } from './endpoints/records.ts';
import { type TokenService, tokenEndpoint } from './endpoints/tokens.ts';
import { viewerFile } from './endpoints/viewer.ts';

export interface Services {
  readonly records: Records;
  readonly tokens: TokenVerifier;
  readonly tokenService: TokenService;
  /** A file of the folder of pages, by its path in it; null where there is none. */
  readonly page: StaticFiles;
  readonly pageBuilds: PageBuildService;
  /** "" or a path such as "/api", under which everything stands. */
  readonly basePath: string;
  readonly version: string;
  /** Origins whose pages may read our answers; none where it is empty. */
  readonly corsOrigins: readonly string[];
  /** Whether writing books takes a token as well. */
  readonly protectBooks: boolean;
  readonly jsonLimits: JsonLimits;
  readonly readiness: Readiness;
  readonly onFault: FaultReporter;
}

/**
 * What itty-router matches: a path under the base path with every number replaced by {@link NUMBER}.
 * Paths that differ in their numbers alone have one route, which is looked up once.
 */
interface Routed {
  readonly method: 'GET';
  readonly url: string;
  readonly path: string;
  params?: Params;
}

/** Makes the endpoint of a path from its numbers, in their order, in digits. */
type Route = (numbers: readonly string[]) => Endpoint;

/** Answers one request; never rejects. */
export type Application = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;

export function createApplication(services: Services): Application {
  const {
    basePath,
    onFault: report,
    records,
    page,
    version,
    readiness,
    protectBooks,
    pageBuilds,
  } = services;
  const cors = services.corsOrigins.length === 0 ? null : crossOrigin(services.corsOrigins);
  const router = Router<Routed>();
  const openApi = JSON.stringify(openApiDocument(basePath, version, services.protectBooks));
  const index = JSON.stringify(indexDocument(basePath, version));

  /** itty-router takes any number of trailing slashes; the specification takes what it says. */
  const at = (pattern: string, route: (params: Params) => Route | null) =>
    router.all(pattern, ({ path, params = {} }) => {
      if (path.endsWith('/') !== pattern.endsWith('/')) return;
      return route(params) ?? undefined;
    });
  const collection = (kind: Kind | null): Route | null =>
    kind && (() => new CollectionEndpoint(records, { kind, parent: null }, protectBooks));
  const item = (kind: Kind | null, pk = ''): Route | null =>
    kind &&
    (pk === NUMBER
      ? ([id]) => new ItemEndpoint(records, { kind, parent: null }, Number(id), protectBooks)
      : null);

  at('/books/', () => collection(KINDS.books));
  at('/books/:pk/', ({ pk }) => item(KINDS.books, pk));
  at(PAGE_BUILDS_PATH, () => () => new PageBuildsEndpoint(pageBuilds));
  at(`${PAGE_BUILDS_PATH}:pk/`, ({ pk }) =>
    pk === NUMBER ? ([id]) => new PageBuildEndpoint(pageBuilds, Number(id)) : null,
  );
  at('/admin/:kind/', ({ kind }) => collection(adminKind(kind)));
  at('/admin/:kind/:pk/', ({ kind, pk }) => item(adminKind(kind), pk));
  at('/admin/:kind/:pk/:nested/', (params) => {
    const address = nestedAddress(params);
    return (
      address && (([parent]) => new CollectionEndpoint(records, address(parent), protectBooks))
    );
  });
  at('/admin/:kind/:pk/:nested/:child/', (params) => {
    const address = params['child'] === NUMBER ? nestedAddress(params) : null;
    return (
      address &&
      (([parent, id]) => new ItemEndpoint(records, address(parent), Number(id), protectBooks))
    );
  });
  at('/pages/', () => () => pageEndpoint(page, 'index.html', []));
  for (const shape of PAGE_SHAPES) {
    at(`/pages/${shape}`, () => (numbers) => pageEndpoint(page, shape, numbers));
  }
  const indexAt = jsonDocument(index, indexLinks(basePath));
  const openApiAt = jsonDocument(openApi);
  at('/', () => indexAt);
  at('/healthz', () => () => new HealthEndpoint(healthAnswer));
  at('/readyz', () => () => new HealthEndpoint(() => readinessAnswer(readiness)));
  at('/openapi.json', () => openApiAt);
  at('/docs/', () => () => new DocumentEndpoint(() => viewerFile('')));
  at('/docs/:file', ({ file = '' }) => {
    const found = viewerFile(file);
    return found && (() => new DocumentEndpoint(() => found));
  });

  /** Bounded by the paths that there are: a path without a route is not remembered. */
  const routes = new Map<string, Route>();

  const look = async (path: string, shape: string): Promise<Endpoint | undefined> => {
    const url = `http://catalog${shape}`;
    const route: Route | undefined = await router.fetch({ method: 'GET', url, path: shape });
    if (route !== undefined) routes.set(shape, route);
    return route?.(numbersIn(path));
  };

  const find = (path: string): Endpoint | undefined | Promise<Endpoint | undefined> => {
    const tokens = tokenEndpoint(path, services.tokenService);
    if (tokens !== null) return tokens;
    const shape = path.replace(/\d+/g, NUMBER);
    const known = routes.get(shape);
    if (known !== undefined) return known(numbersIn(path));
    // Letters, digits and a few marks are all that our paths have, and no segment is empty or begins
    // with a dot: nothing is left to normalise or to decode.
    return /[^\w./-]|\/[./]/.test(path) ? undefined : look(path, shape);
  };

  return (request) => {
    const { prefix, path } = splitPrefix(request.path, basePath);
    return whenReady(path === null ? undefined : find(path), (endpoint) => {
      if (endpoint !== undefined) request.trace.found = path;
      const finish = (answer: HttpResponse) => {
        const guarded = (endpoint?.access(request.method) ?? null) !== null;
        const completed = complete(answer, guarded, prefix);
        return cors === null ? completed : cors(request, completed);
      };
      const refuse = (error: unknown) =>
        finish(problem(error, request, endpoint?.emptyNotFound ?? false, report));
      try {
        const answer =
          endpoint === undefined
            ? noSuchPath(request.path, basePath, find)
            : dispatch(endpoint, request, services);
        return answer instanceof Promise ? answer.then(finish, refuse) : finish(answer);
      } catch (error) {
        return refuse(error);
      }
    });
  };
}

/**
 * The order of the checks. What it throws becomes the answer. It waits for nothing that it need
 * not wait for: a turn of the microtask queue costs as much as a check.
 */
function dispatch(
  endpoint: Endpoint,
  request: HttpRequest,
  services: Services,
): HttpResponse | Promise<HttpResponse> {
  const { method } = request;
  const reads = method === 'GET' || method === 'HEAD';
  requireMethod(endpoint, method);
  if (method === 'OPTIONS') {
    const body = JSON.stringify(endpoint.describe());
    return { status: 200, headers: optionsHeaders(endpoint), body };
  }
  const role = endpoint.access(method);
  const authorizing = role && authorize(endpoint, role, request, services.tokens);
  return whenReady(authorizing, (caller) => {
    request.trace.subject = caller?.subject ?? null;
    return whenReady(endpoint.load(method), () => {
      const mediaType = endpoint.negotiates ? chooseMediaType(request, reads) : JSON_TYPE;
      const conditions = conditionsOf(request);
      const unchanged = conditions && judgeConditions(conditions, endpoint, reads);
      if (unchanged) return unchanged;
      const operation = (method === 'HEAD' ? 'GET' : method) as Method;
      const reading = WITH_BODY.has(method) ? readJson(request, services.jsonLimits) : undefined;
      return whenReady(reading, (body) =>
        endpoint.handle(operation, { request, mediaType, conditions, caller, body }),
      );
    });
  });
}

/**
 * RFC 9110, section 13.2.2.
 *
 * @returns the answer where the client has the representation already.
 * @throws CatalogError `precondition_failed`.
 */
function judgeConditions(
  conditions: Conditions,
  endpoint: Endpoint,
  reads: boolean,
): HttpResponse | null {
  const { etag, modified } = endpoint.validators() ?? {};
  if (etag === undefined) {
    // Without a tag there is none that a condition could name.
    if (!reads) requireMatch(conditions, '');
    return null;
  }
  if (!reads) {
    requireWritable(conditions, etag);
    return null;
  }
  requireMatch(conditions, etag);
  return namesCurrent(conditions, etag) || isUnmodified(conditions, modified)
    ? { status: 304, headers: { ETag: etag }, body: null }
    : null;
}

function requireMethod(endpoint: Endpoint, method: string): void {
  if (method === 'OPTIONS' || (method === 'HEAD' && endpoint.methods.includes('GET'))) return;
  if ((endpoint.methods as readonly string[]).includes(method)) return;
  const allow = allowed(endpoint);
  throw new CatalogError('method_not_allowed', `${method} is not allowed here; use ${allow}`, {
    headers: { Allow: allow },
  });
}

/** Writes answer JSON whatever was asked for (spec 3.14). */
function chooseMediaType(request: HttpRequest, reads: boolean): MediaType {
  const accept = header(request, 'accept');
  if (reads) return negotiate(accept);
  try {
    return negotiate(accept);
  } catch {
    return JSON_TYPE;
  }
}

/** Adds the headers that every answer of a path has. */
function complete(answer: HttpResponse, guarded: boolean, prefix: string): HttpResponse {
  const { headers } = answer;
  const links = serviceLinks(prefix);
  headers['Cache-Control'] ??= guarded ? 'no-store' : 'no-cache';
  headers['Vary'] = 'Accept';
  headers['X-Content-Type-Options'] = 'nosniff';
  headers['Link'] = headers['Link'] === undefined ? links : `${headers['Link']}, ${links}`;
  return answer;
}

function jsonDocument(text: string, links?: string): () => Endpoint {
  const document = { body: Buffer.from(text), type: JSON_TYPE, ...(links && { links }) };
  return () => new DocumentEndpoint(() => document, true);
}

/** Takes the base path and the version segment off; path is null outside the base path. */
function splitPrefix(path: string, basePath: string): { prefix: string; path: string | null } {
  if (!path.startsWith(`${basePath}/`)) return { prefix: basePath, path: null };
  const rest = path.slice(basePath.length);
  if (!rest.startsWith(`/${VERSION}/`)) return { prefix: basePath, path: rest };
  return { prefix: `${basePath}/${VERSION}`, path: rest.slice(VERSION.length + 1) };
}

/** Where only the slash is missing, the message names the right path. */
async function noSuchPath(
  path: string,
  basePath: string,
  find: (path: string) => Endpoint | undefined | Promise<Endpoint | undefined>,
): Promise<never> {
  const slashed = path.endsWith('/') ? null : splitPrefix(`${path}/`, basePath).path;
  const meant = slashed !== null && (await find(slashed)) !== undefined;
  throw new CatalogError(
    'not_found',
    meant ? `there is no such path; did you mean ${path}/ ?` : 'there is no such path',
  );
}
