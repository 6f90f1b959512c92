/**
 * An operation: what one method of one path does, and everything that the router, OPTIONS, `Allow`
 * and the description of the service need to know of it. It is written once, where it is run.
 */
import type { Role } from '../../auth/roles.ts';
import type { Verified } from '../../auth/tokens.ts';
import type { FailureStatus } from '../openapi/failures.ts';
import { type HttpRequest, type HttpResponse, whenReady } from '../message.ts';
import type { Conditions } from '../rules/preconditions.ts';
import { prefersStrict, withStrictness } from '../rules/preferences.ts';
import type { Services } from '../services.ts';
import type { BodyDescription, BodyDeclaration } from './body.ts';
import type { Content } from './content.ts';
import type { Parameter } from './parameters.ts';
import type { Params } from './params.ts';

/** HEAD comes with GET, OPTIONS with every path. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** What the checks have established before an operation runs. */
export interface RequestContext<Found> {
  readonly request: HttpRequest;
  readonly services: Services;
  /** What `resolve` of the path has found. */
  readonly found: Found;
  /** Whose token it is; null if the operation asks for none. */
  readonly caller: Verified | null;
  /** The media type to answer with. */
  readonly mediaType: string;
  readonly conditions: Conditions | null;
}

/** A response of an operation that succeeds. */
export interface ResponseDeclaration {
  /** The name of its component. */
  readonly name: string;
  readonly description: string;
  /** Headers beyond those of every response; `ETag?` is one that may be missing. */
  readonly headers?: readonly string[];
  readonly content?: Content;
  /** What `Accept` may choose in its place. */
  readonly alternative?: Content;
  /** The response to HEAD, if several operations share it; otherwise the same without a body. */
  readonly head?: { readonly name: string; readonly description: string };
}

/** What is known of an operation without running it. */
export interface OperationDescription {
  /** `operationId`, after which clients name their functions. */
  readonly id: string;
  readonly summary: string;
  readonly description: string;
  /** The least role that may call it; null if no token is needed. */
  readonly role: Role | null;
  /** Query parameters, and headers beyond those of conditional requests. */
  readonly parameters?: readonly Parameter[];
  readonly responses: Readonly<Record<number, ResponseDeclaration>>;
  /**
   * Statuses of failures beyond those that follow from the declaration: from the role, the body,
   * the parameters of the path, the media types and the conditions.
   */
  readonly failures?: readonly FailureStatus[];
  /**
   * Judges who may call it beyond the role.
   *
   * @throws CatalogError `forbidden`.
   */
  permit?(caller: Verified, params: Params): void;
}

/** @template Found what `resolve` of its path finds. */
export interface Operation<Found> extends OperationDescription {
  readonly body: BodyDescription;
  /** Reads the body and runs: the last of the checks, and the work. */
  handle(context: RequestContext<Found>): HttpResponse | Promise<HttpResponse>;
}

interface Declaration<Found, Body> extends OperationDescription {
  readonly body: BodyDeclaration<Body>;
  readonly run: (
    context: RequestContext<Found>,
    body: Body,
  ) => HttpResponse | Promise<HttpResponse>;
}

/** Declares an operation: `run` is given the body as `body` reads it. */
export function operation<Found, Body>({
  run,
  ...declared
}: Declaration<Found, Body>): Operation<Found> {
  const { body } = declared;
  return {
    ...declared,
    handle: (context) =>
      whenReady(body.read(context.request, context.services.jsonLimits), (value) => {
        const response = run(context, value);
        if (!body.validated || !prefersStrict(context.request)) return response;
        return whenReady(response, withStrictness);
      }),
  };
}
