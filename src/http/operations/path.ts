/** A path and its operations: the rows of the table. */
import { CatalogError } from '../../errors.ts';
import { type HttpRequest, type HttpResponse, isRead } from '../message.ts';
import { acceptPatch } from '../rules/json-body.ts';
import { JSON_TYPE } from '../rules/negotiation.ts';
import type { Services } from '../services.ts';
import type { BodyDescription } from './body.ts';
import { type Checked, dispatch } from './dispatch.ts';
import type { Method, Operation, OperationDescription } from './operation.ts';
import type { PathParameter } from './parameters.ts';
import { Params } from './params.ts';

/**
 * What carries out a request if several processes or hosts serve the catalog. `any`: each that has a
 * copy of the state. `owner`: the process that owns the data directory of the host, because the
 * request is about that directory. `writer`: the host that takes the writes.
 */
export type Executor = 'any' | 'owner' | 'writer';

/** A group of operations in the description. */
export interface Tag {
  readonly name: string;
  readonly description: string;
}

interface PathFacts extends Pick<Checked<unknown>, 'offers' | 'catalogFree'> {
  /** In the syntax of OpenAPI: `/admin/skus/{pk}/`. */
  readonly template: string;
  /** The parameters of the template, in their order. */
  readonly parameters?: readonly PathParameter[];
  /** The group of its operations in the description. */
  readonly tag: Tag;
  /** Part of the ids of the operations that every path has, such as `describeSkuList`. */
  readonly name: string;
  /** What the path is about, for the summary of OPTIONS: "a SKU". */
  readonly about: string;
  /** What OPTIONS calls the object of the path: "SKU". */
  readonly label?: string;
  /** The body of a 404 is an empty object. */
  readonly emptyNotFound?: boolean;
  /** The path has no form that contains the version. */
  readonly unversioned?: boolean;
  /**
   * Its parameters may contain any characters of a path (RFC 3986, section 3.3), or several
   * segments, which itty-router cannot match.
   */
  readonly matchedWhole?: boolean;
  /** What carries out its requests; if left out, any for reads, and the writer for writes. */
  readonly executor?: Exclude<Executor, 'any'>;
  /**
   * Used only between hosts of the same version. The description of the API leaves it out: it is
   * for clients, and one of these responses never ends.
   */
  readonly internal?: boolean;
  /** A page for people: GET without the final slash is redirected to it. */
  readonly page?: boolean;
}

/** @template Found what `resolve` returns for the operations. */
export interface PathDeclaration<Found> extends PathFacts, Checked<Found> {
  readonly operations: Readonly<Partial<Record<Method, Operation<Found>>>>;
}

/** A path for the router and the description, independent of the type that its operations use. */
export interface Path extends PathFacts {
  readonly parameters: readonly PathParameter[];
  readonly operations: ReadonlyMap<
    string,
    OperationDescription & { readonly body: BodyDescription }
  >;
  /** Whether the path has an entity tag to compare conditions with, as items and documents do. */
  readonly tagged: boolean;
  /** Whether all of its parameters are memorable. */
  readonly memorable: boolean;
  /** Every method, for `Allow`. */
  readonly allow: string;
  /** Whether a method needs a token; for a method that the path does not have, whether GET does. */
  guards(method: string): boolean;
  executorOf(method: string): Executor;
  /** The values of the parameters; null if the path does not match the template. */
  match(path: string): Params | null;
  /** Runs the checks in order, then the operation. @throws CatalogError if a check fails. */
  handle(
    request: HttpRequest,
    params: Params,
    services: Services,
  ): HttpResponse | Promise<HttpResponse>;
}

/**
 * Makes a path from its declaration, and adds HEAD to a path with GET, and OPTIONS to every path.
 *
 * @throws Error if the template has a parameter that is not declared.
 */
export function definePath<Found>(declared: PathDeclaration<Found>): Path {
  const { parameters = [], template } = declared;
  const operations = new Map<string, Operation<Found>>(Object.entries(declared.operations));
  const reading = operations.get('GET');
  if (reading !== undefined) operations.set('HEAD', reading);
  const allow = [...ORDER.filter((method) => operations.has(method)), 'OPTIONS'].join(', ');
  const patched = operations.get('PATCH')?.body.content;
  const accepted = patched ? acceptPatch(patched.types) : {};
  let options: string | null = null;
  const names = parameters.map(({ name }) => name);
  const pattern = patternOf(template, parameters);
  const [first] = operations.values();
  const fallback = reading ?? first;
  return {
    ...declared,
    parameters,
    operations,
    tagged: declared.validators !== undefined,
    memorable: parameters.every(({ memorable }) => memorable),
    allow,
    guards: (method) => ((operations.get(method) ?? fallback)?.role ?? null) !== null,
    executorOf(method) {
      if (!operations.has(method)) return 'any';
      return declared.executor ?? (isRead(method) ? 'any' : 'writer');
    },
    match(path) {
      const found = pattern.exec(path);
      return found && new Params(names, found.slice(1));
    },
    handle(request, params, services) {
      if (request.method === 'OPTIONS') {
        options ??= optionsOf(declared.label, declared.operations);
        const headers = { Allow: allow, ...accepted, 'Content-Type': JSON_TYPE };
        return { status: 200, headers, body: options };
      }
      const operation = operations.get(request.method);
      if (operation === undefined) throw notAllowed(request.method, allow);
      return dispatch(declared, operation, request, params, services);
    },
  };
}

/** The order of methods in `Allow`. */
const ORDER = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** The body of the response to OPTIONS: the attributes of POST, or else those of PUT or PATCH. */
function optionsOf(
  label: string | undefined,
  { POST, PUT, PATCH }: Readonly<Partial<Record<Method, { readonly body: BodyDescription }>>>,
): string {
  return JSON.stringify({
    name: label,
    attributes: (POST ?? PUT ?? PATCH)?.body.attributes() ?? {},
  });
}

function patternOf(template: string, parameters: readonly PathParameter[]): RegExp {
  const patterns = new Map(parameters.map(({ name, pattern }) => [name, pattern]));
  const source = template
    .replaceAll('.', String.raw`\.`)
    .replace(/\{(\w+)\}/g, (_, name: string) => {
      const pattern = patterns.get(name);
      if (pattern === undefined) throw new Error(`${template} does not declare ${name}`);
      return `(${pattern})`;
    });
  return new RegExp(`^${source}$`);
}

function notAllowed(method: string, allow: string): CatalogError {
  // A response to HEAD has the length of that to GET (RFC 9110, section 8.6).
  const named = isRead(method) ? 'GET' : method;
  return new CatalogError('method_not_allowed', `${named} is not allowed here; use ${allow}`, {
    headers: { Allow: allow },
  });
}
