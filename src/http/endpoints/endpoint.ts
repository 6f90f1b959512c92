/** What a path is once it is routed: its methods, who may call them, and what they do. */
import type { Role } from '../../auth/roles.ts';
import type { Verified } from '../../auth/tokens.ts';
import type { Representation } from '../../resources/representation.ts';
import type { HttpResponse, HttpRequest } from '../message.ts';
import type { MediaType } from '../rules/negotiation.ts';
import type { Conditions } from '../rules/preconditions.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Methods whose request has a body to be read. */
export const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/** What the checks before have found out, for the method to work with. */
export interface RequestContext {
  readonly request: HttpRequest;
  readonly mediaType: MediaType;
  readonly conditions: Conditions | null;
  /** Whose token it is; null where none is asked. */
  readonly caller: Verified | null;
  /** Parsed JSON of a method with a body. */
  readonly body: unknown;
}

export interface Endpoint {
  /** HEAD comes with GET, OPTIONS with everything. */
  readonly methods: readonly Method[];
  /** Whether GET chooses among media types by `Accept`. */
  readonly negotiates: boolean;
  /** A 404 has an empty object for a body. */
  readonly emptyNotFound: boolean;
  /** The role that a method asks for; null where it asks for no token. */
  access(method: string): Role | null;
  /** Judges who may call a method beyond the role. @throws CatalogError `forbidden`. */
  permit?(caller: Verified): void;
  /** The answer to OPTIONS. */
  describe(): object;
  /** Looks the item up. @throws CatalogError `not_found`, `gone`. */
  load(method: string): Promise<void> | undefined;
  /** The representation that conditions compare, after `locate`; null where there is none. */
  validators(): (Pick<Representation, 'etag'> & { readonly modified?: Date | undefined }) | null;
  handle(method: Method, exchange: RequestContext): HttpResponse | Promise<HttpResponse>;
}

/** Every method of a path, for `Allow`. */
export function allowed({ methods }: Pick<Endpoint, 'methods'>): string {
  return [
    ...methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])),
    'OPTIONS',
  ].join(', ');
}
