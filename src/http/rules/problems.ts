/** Failures as responses (spec 3.1): one table of statuses, one shape of body. */
import { CatalogError, type Code } from '../../errors.ts';
import type { HttpResponse, HttpRequest } from '../message.ts';
import { JSON_TYPE } from './negotiation.ts';

/** Called for an unexpected failure, of which the client gets only the id of its request. */
export type FaultReporter = (requestId: string, error: unknown) => void;

/**
 * @param emptyNotFound whether the body of a 404 is an empty object (spec 3.6).
 */
export function problem(
  error: unknown,
  request: HttpRequest,
  emptyNotFound: boolean,
  report: FaultReporter,
): HttpResponse {
  if (!(error instanceof CatalogError) || error.status >= 500) return fault(error, request, report);
  const { cause } = error;
  // A SKU that the disk refused is a validation error for the client (spec 3.9), but the operator
  // needs to know about the disk.
  if (cause instanceof CatalogError && cause.status >= 500) report(request.trace.id, cause);
  const body =
    emptyNotFound && error.code === 'not_found'
      ? {}
      : { error: sentenceOf(error), ...(error.fields && { fields: error.fields }) };
  return {
    status: error.status,
    headers: { ...error.headers, 'Content-Type': JSON_TYPE },
    body: JSON.stringify(body),
  };
}

/** The message of a database failure begins with a prefix (spec 3.9). */
function sentenceOf({ code, message }: CatalogError): string {
  return code === 'integrity' ? `database error: ${message}` : message;
}

function fault(error: unknown, request: HttpRequest, report: FaultReporter): HttpResponse {
  const requestId = request.trace.id;
  const known = error instanceof CatalogError ? error : null;
  const passing = known !== null && PASSING.has(known.code);
  if (!passing) report(requestId, error);
  const headers = passing && { 'Retry-After': RETRY_AFTER_S, ...known.headers };
  return {
    status: known?.status ?? 500,
    headers: { ...headers, 'Content-Type': JSON_TYPE },
    body: JSON.stringify({
      error: passing ? known.message : publicMessage(known),
      request_id: requestId,
    }),
  };
}

/** Seconds after which a client may try again, unless the failure itself says. */
const RETRY_AFTER_S = '1';

/** Temporary states. They are not faults, so the client gets their messages; metrics count them. */
const PASSING: ReadonlySet<Code> = new Set<Code>([
  'busy',
  'primary_unreachable',
  'write_unknown',
  'log_unavailable',
  'not_primary',
  'cut_off',
]);

/** Hides internal details from the client. */
function publicMessage(error: CatalogError | null): string {
  return error?.status === 503 ? 'the server is shutting down' : 'internal server error';
}
