/** Every path, and the order of the checks (DECISIONS 3), on one screen each. */
import { Router } from 'itty-router';
import type { TokenVerifier } from '../auth/tokens.ts';
import { mayActAs } from '../auth/roles.ts';
import { CatalogError } from '../errors.ts';
import type { Kind, Nesting } from '../model/kind.ts';
import { ALL_KINDS, COLLECTIONS, KINDS } from '../model/kinds.ts';
import type { Address, Records } from '../resources/records.ts';
import { readJson } from './body.ts';
import { indexDocument, optionsHeaders, serviceLinks } from './description.ts';
import { type Document, DocumentEndpoint } from './documents.ts';
import { allowed, type Endpoint, type Method, WITH_BODY } from './endpoint.ts';
import { type Answer, header, type Request } from './exchange.ts';
import { JSON_TYPE, type MediaType, negotiate, VERSION } from './negotiate.ts';
import { openApiDocument } from './openapi.ts';
import { conditionsOf, namesCurrent, requireMatch, requireWritable } from './preconditions.ts';
import { type FaultReporter, problem } from './problem.ts';
import { CollectionEndpoint, ItemEndpoint } from './records.ts';
import { viewerFile } from './viewer.ts';

export interface Services {
  readonly records: Records;
  readonly tokens: TokenVerifier;
  /** The detail page of a SKU; null where there is none. */
  readonly page: (sku: number) => Promise<Document | null>;
  /** "" or a path such as "/api", under which everything stands. */
  readonly basePath: string;
  readonly version: string;
  readonly report: FaultReporter;
}

/** What itty-router matches: the path under the base path, as a URL, and its parameters. */
interface Routed {
  readonly method: 'GET';
  readonly url: string;
  readonly path: string;
  params?: Readonly<Record<string, string>>;
}

type Params = Readonly<Record<string, string>>;

/** Answers one request; never rejects. */
export type Application = (request: Request) => Promise<Answer>;

export function createApplication(services: Services): Application {
  const { basePath, report, records, page, version } = services;
  const router = Router<Routed>();
  const openApi = JSON.stringify(openApiDocument(basePath, version));
  const index = JSON.stringify(indexDocument(basePath, version));

  /** itty-router takes any number of trailing slashes; the specification takes what it says. */
  const route = (pattern: string, endpoint: (params: Params) => Endpoint | null) =>
    router.all(pattern, ({ path, params = {} }) => {
      if (path.endsWith('/') !== pattern.endsWith('/')) return;
      return endpoint(params) ?? undefined;
    });

  route('/books/:pk/', ({ pk }) => item(records, at(KINDS.books), pk));
  route('/admin/:collection/:pk/', ({ collection, pk }) => item(records, admin(collection), pk));
  route('/books/', () => new CollectionEndpoint(records, at(KINDS.books)));
  route('/admin/:collection/', ({ collection }) => all(records, admin(collection)));
  route('/admin/:collection/:pk/:nested/', (params) => all(records, nested(params)));
  route('/admin/:collection/:pk/:nested/:child/', (params) =>
    item(records, nested(params), params['child']),
  );
  route('/pages/skus/:page', ({ page: file }) => {
    const id = /^([1-9]\d{0,15})\.html$/.exec(file ?? '')?.[1];
    return id === undefined ? null : new DocumentEndpoint(() => page(Number(id)));
  });
  route('/', () => jsonDocument(index));
  route('/openapi.json', () => jsonDocument(openApi));
  route('/docs/', () => new DocumentEndpoint(() => viewerFile('')));
  route('/docs/:file', ({ file = '' }) => new DocumentEndpoint(() => viewerFile(file)));

  const find = (path: string): Promise<Endpoint | undefined> =>
    // Letters, digits and a few marks are all that our paths have, and no segment is empty or begins
    // with a dot: nothing is left to normalise or to decode.
    /[^\w./-]|\/[./]/.test(path)
      ? Promise.resolve(undefined)
      : router.fetch({ method: 'GET', url: `http://catalog${path}`, path });

  return async (request) => {
    const { prefix, path } = splitPrefix(request.path, basePath);
    let endpoint: Endpoint | undefined;
    let answer: Answer;
    try {
      endpoint = path === null ? undefined : await find(path);
      if (endpoint === undefined) throw await noSuchPath(request.path, basePath, find);
      answer = await carryOut(endpoint, request, services.tokens);
    } catch (error) {
      answer = problem(error, endpoint?.emptyNotFound ?? false, report);
    }
    return complete(answer, endpoint, prefix);
  };
}

/** The order of the checks. What it throws becomes the answer. */
async function carryOut(
  endpoint: Endpoint,
  request: Request,
  tokens: TokenVerifier,
): Promise<Answer> {
  const { method } = request;
  const reads = method === 'GET' || method === 'HEAD';
  requireMethod(endpoint, method);
  if (method === 'OPTIONS') {
    return {
      status: 200,
      headers: optionsHeaders(endpoint),
      body: JSON.stringify(endpoint.describe()),
    };
  }
  if (!endpoint.open) {
    const caller = tokens.verify(header(request, 'authorization'));
    // Nothing here waits unless it has to: a turn of the microtask queue costs as much as a check.
    const { role } = caller instanceof Promise ? await caller : caller;
    if (!mayActAs(role, reads ? 'viewer' : 'editor')) {
      throw new CatalogError('forbidden', `the role ${role} may read, but not write`);
    }
  }
  const located = endpoint.locate(method);
  if (located !== undefined) await located;
  const mediaType = endpoint.negotiates ? chooseMediaType(request, reads) : JSON_TYPE;
  const conditions = conditionsOf(request);
  const etag = conditions === null ? undefined : endpoint.current()?.etag;
  if (conditions !== null && etag !== undefined) {
    if (!reads) requireWritable(conditions, etag);
    else {
      requireMatch(conditions, etag);
      if (namesCurrent(conditions, etag))
        return { status: 304, headers: { ETag: etag }, body: null };
    }
  }
  const body = WITH_BODY.has(method) ? await readJson(request) : undefined;
  const operation = (method === 'HEAD' ? 'GET' : method) as Method;
  return endpoint.perform(operation, { request, mediaType, conditions, body });
}

function requireMethod(endpoint: Endpoint, method: string): void {
  if (method === 'OPTIONS' || (method === 'HEAD' && endpoint.methods.includes('GET'))) return;
  if ((endpoint.methods as readonly string[]).includes(method)) return;
  const allow = allowed(endpoint);
  throw new CatalogError('method_not_allowed', `${method} is not allowed here; use ${allow}`, {
    headers: { Allow: allow },
  });
}

/** Writes answer JSON whatever was asked for (DECISIONS 3). */
function chooseMediaType(request: Request, reads: boolean): MediaType {
  const accept = header(request, 'accept');
  if (reads) return negotiate(accept);
  try {
    return negotiate(accept);
  } catch {
    return JSON_TYPE;
  }
}

/** Headers that every answer of a path has. */
function complete(answer: Answer, endpoint: Endpoint | undefined, prefix: string): Answer {
  const own = answer.headers['Link'];
  const links = serviceLinks(prefix);
  const headers: Record<string, string> = {
    'Cache-Control': endpoint?.open === false ? 'no-store' : 'no-cache',
    Vary: 'Accept',
    'X-Content-Type-Options': 'nosniff',
    ...answer.headers,
    Link: own === undefined ? links : `${own}, ${links}`,
  };
  return { ...answer, headers };
}

function jsonDocument(body: string): Endpoint {
  return new DocumentEndpoint(() => ({ body, type: JSON_TYPE }), true);
}

function at(kind: Kind): Address {
  return { kind, parent: null };
}

function admin(segment: string | undefined): Address | null {
  const kind = COLLECTIONS.get(`/admin/${segment}/`);
  return kind === undefined ? null : at(kind);
}

/** Nestings by the parent's path and the segment behind the parent's id. */
const NESTINGS: ReadonlyMap<string, readonly [Kind, Nesting]> = new Map(
  ALL_KINDS.flatMap((kind) =>
    kind.nestings.map(
      (nesting) => [`${KINDS[nesting.parent].path}${nesting.segment}`, [kind, nesting]] as const,
    ),
  ),
);

function nested({ collection, pk, nested: segment }: Params): Address | null {
  const [kind, nesting] = NESTINGS.get(`/admin/${collection}/${segment}`) ?? [];
  const id = digits(pk);
  if (kind === undefined || nesting === undefined || id === null) return null;
  return { kind, parent: { nesting, id } };
}

function all(records: Records, address: Address | null): Endpoint | null {
  return address === null ? null : new CollectionEndpoint(records, address);
}

function item(records: Records, address: Address | null, pk: string | undefined): Endpoint | null {
  const id = digits(pk);
  return address === null || id === null ? null : new ItemEndpoint(records, address, id);
}

/** SPEC 4: a pk is digits only. */
function digits(text: string | undefined): number | null {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : null;
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
  find: (path: string) => Promise<Endpoint | undefined>,
): Promise<CatalogError> {
  const slashed = path.endsWith('/') ? null : splitPrefix(`${path}/`, basePath).path;
  const meant = slashed !== null && (await find(slashed)) !== undefined;
  return new CatalogError(
    'not_found',
    meant ? `there is no such path; did you mean ${path}/ ?` : 'there is no such path',
  );
}
