/**
 * An operation: what one method of one path does, and everything that the router, OPTIONS, `Allow`
 * and the description of the service need to know about it, declared in one place.
 */
import type { Role } from '../../auth/roles.ts';
import type { Verified } from '../../auth/tokens.ts';
import type { FailureStatus } from '../openapi/failures.ts';
import { type HttpRequest, type HttpResponse, whenReady } from '../message.ts';
import { confirmCaller } from '../rules/authorization.ts';
import type { Conditions } from '../rules/preconditions.ts';
import { prefersStrict, withStrictness } from '../rules/preferences.ts';
import type { Services } from '../services.ts';
import type { BodyDescription, BodyDeclaration } from './body.ts';
import type { Content } from './content.ts';
import type { Parameter } from './parameters.ts';
import type { Params } from './params.ts';

/** The methods that are declared. HEAD is added to GET, and OPTIONS to every path. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** What the checks have established before an operation runs. */
export interface RequestContext<Found> {
  readonly request: HttpRequest;
  readonly services: Services;
  /** What the path's `resolve` returned. */
  readonly found: Found;
  /** The owner of the token; null if the operation needs no token. */
  readonly caller: Verified | null;
  /** The media type to respond with. */
  readonly mediaType: string;
  readonly conditions: Conditions | null;
}

/** A success response of an operation. */
export interface ResponseDeclaration {
  /** The name of its component. */
  readonly name: string;
  readonly description: string;
  /** Headers beyond those of every response; `?`, as in `ETag?`, marks one that may be missing. */
  readonly headers?: readonly string[];
  readonly content?: Content;
  /** Content that `Accept` may choose instead. */
  readonly alternative?: Content;
  /** The response to HEAD, if several operations share it; otherwise this one without its body. */
  readonly head?: { readonly name: string; readonly description: string };
}

/** What is known about an operation without running it. */
export interface OperationDescription {
  /** The `operationId`; generated clients name their functions after it. */
  readonly id: string;
  readonly summary: string;
  readonly description: string;
  /** The lowest role that may call it; null if no token is needed. */
  readonly role: Role | null;
  /** Query parameters, and headers beyond those of conditional requests. */
  readonly parameters?: readonly Parameter[];
  readonly responses: Readonly<Record<number, ResponseDeclaration>>;
  /**
   * Statuses of failures beyond those that follow from the declaration: from the method, the role,
   * the body, the parameters of the path, the media types and the conditions.
   */
  readonly failures?: readonly FailureStatus[];
  /**
   * Checks permissions beyond the role.
   *
   * @throws CatalogError `forbidden`.
   */
  permit?(caller: Verified, params: Params): void;
}

/** @template Found what the path's `resolve` returns. */
export interface Operation<Found> extends OperationDescription {
  readonly body: BodyDescription;
  /** Reads the body, which is the last of the checks, confirms the token, and runs the operation. */
  handle(context: RequestContext<Found>): HttpResponse | Promise<HttpResponse>;
}

interface Declaration<Found, Body> extends OperationDescription {
  readonly body: BodyDeclaration<Body>;
  readonly run: (
    context: RequestContext<Found>,
    body: Body,
  ) => HttpResponse | Promise<HttpResponse>;
}

/** Declares an operation; `run` receives the body as `body` reads it. */
export function operation<Found, Body>({
  run,
  ...declared
}: Declaration<Found, Body>): Operation<Found> {
  const { body } = declared;
  return {
    ...declared,
    handle: (context) =>
      whenReady(body.read(context.request, context.services.jsonLimits), (value) => {
        if (!body.validated) return run(context, value);
        return whenReady(confirmCaller(context), () => {
          const response = run(context, value);
          return prefersStrict(context.request) ? whenReady(response, withStrictness) : response;
        });
      }),
  };
}
