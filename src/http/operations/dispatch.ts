/**
 * The order of the checks (spec 3.11): path, method, authentication, permission, the change set that
 * a read waits for, item, `Accept`, preconditions, body. The callers have checked path and method.
 * The failure that a check throws becomes the response.
 *
 * Nothing is awaited without need: a turn of the microtask queue costs as much as a check.
 */
import type { Verified } from '../../auth/tokens.ts';
import { header, type HttpRequest, type HttpResponse, isRead, whenReady } from '../message.ts';
import { authorize } from '../rules/authorization.ts';
import { awaitSequence } from '../rules/catalog-sequence.ts';
import { JSON_TYPE, negotiate, type Offer } from '../rules/negotiation.ts';
import {
  type Conditions,
  conditionsOf,
  isUnmodified,
  namesCurrent,
  requireMatch,
  requireUnmodified,
  requireWritable,
} from '../rules/preconditions.ts';
import type { Services } from '../services.ts';
import type { Operation } from './operation.ts';
import type { Params } from './params.ts';
import type { Validators } from './validators.ts';

/** The parts of a path that the checks need. */
export interface Checked<Found> {
  /**
   * Looks up what the path names.
   *
   * @throws CatalogError `not_found`, `gone`.
   */
  resolve(params: Params, services: Services, request: HttpRequest): Found | Promise<Found>;
  /** The validators of the representation in a media type; left out if the path has none. */
  validators?(
    found: Found,
    services: Services,
    mediaType: string,
    request: HttpRequest,
  ): Validators | Promise<Validators>;
  /** The media types of GET among which `Accept` chooses; left out if there is only one. */
  readonly offers?: readonly Offer[];
  /** Its responses show nothing of the catalog, so no read of it waits for a change set. */
  readonly catalogFree?: boolean;
}

/**
 * Runs all checks but the first two, and then the operation.
 *
 * @param path the declaration to which `operation` belongs.
 * @throws CatalogError `unauthorized`, `forbidden`, `malformed_request`, `busy`, `not_found`,
 *   `gone`, `not_acceptable`, `precondition_failed`, and what the operation throws; it may also
 *   reject with them.
 */
export function dispatch<Found>(
  path: Checked<Found>,
  operation: Operation<Found>,
  request: HttpRequest,
  params: Params,
  services: Services,
): HttpResponse | Promise<HttpResponse> {
  const { role } = operation;
  if (role === null) return proceed(path, operation, request, params, services, null);
  return whenReady(authorize(role, request, services.tokens), (caller) => {
    operation.permit?.(caller, params);
    request.trace.subject = caller.subject;
    return proceed(path, operation, request, params, services, caller);
  });
}

function proceed<Found>(
  path: Checked<Found>,
  operation: Operation<Found>,
  request: HttpRequest,
  params: Params,
  services: Services,
  caller: Verified | null,
): HttpResponse | Promise<HttpResponse> {
  const reads = isRead(request.method);
  const awaited =
    reads && path.catalogFree !== true ? awaitSequence(request, services.changes) : undefined;
  const resolved = whenReady(awaited, () => path.resolve(params, services, request));
  return whenReady(resolved, (found) => {
    const mediaType = chooseMediaType(path.offers, request, reads);
    const conditions = conditionsOf(request);
    const handle = () =>
      operation.handle({ request, services, found, caller, mediaType, conditions });
    if (conditions === null) return handle();
    const validators = path.validators?.(found, services, mediaType, request) ?? null;
    return whenReady(validators, (current) => judge(conditions, current, reads) ?? handle());
  });
}

/**
 * Evaluates the conditions (RFC 9110, section 13.2.2).
 *
 * @returns a 304 if the client already has the representation; null to carry on.
 * @throws CatalogError `precondition_failed`.
 */
function judge(
  conditions: Conditions,
  validators: Validators | null,
  reads: boolean,
): HttpResponse | null {
  if (validators === null) {
    if (!reads) requireMatch(conditions, null);
    return null;
  }
  const { etag, modified, caching } = validators;
  if (!reads) {
    requireWritable(conditions, etag);
    return null;
  }
  requireMatch(conditions, etag);
  requireUnmodified(conditions, modified);
  return namesCurrent(conditions, etag) || isUnmodified(conditions, modified)
    ? { status: 304, headers: { ...caching, ETag: etag }, body: null }
    : null;
}

/** A write whose `Accept` matches nothing is answered with `application/json` (spec 3.14). */
function chooseMediaType(
  offers: readonly Offer[] | undefined,
  request: HttpRequest,
  reads: boolean,
): string {
  if (offers === undefined) return JSON_TYPE;
  const accept = header(request, 'accept');
  if (reads) return negotiate(accept, offers);
  try {
    return negotiate(accept, offers);
  } catch {
    return JSON_TYPE;
  }
}
