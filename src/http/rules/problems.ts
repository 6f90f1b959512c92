/** Failures as answers (spec 3.1): one table of statuses, one shape of body. */
import { CatalogError } from '../../errors.ts';
import type { HttpResponse, HttpRequest } from '../message.ts';
import { JSON_TYPE } from './negotiation.ts';

/** Where an unexpected fault is told; the client gets its id alone. */
export type FaultReporter = (requestId: string, error: unknown) => void;

/**
 * @param emptyNotFound whether a 404 has an empty object for a body (spec 3.6).
 */
export function problem(
  error: unknown,
  request: HttpRequest,
  emptyNotFound: boolean,
  report: FaultReporter,
): HttpResponse {
  if (!(error instanceof CatalogError) || error.status >= 500) return fault(error, request, report);
  const { cause } = error;
  // To the client of an SKU it is a validation error; the operator has to hear of the disk.
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

/** A failed database step says so (spec 3.9). */
function sentenceOf({ code, message }: CatalogError): string {
  return code === 'integrity' ? `database error: ${message}` : message;
}

function fault(error: unknown, request: HttpRequest, report: FaultReporter): HttpResponse {
  const requestId = request.trace.id;
  report(requestId, error);
  const status = error instanceof CatalogError ? error.status : 500;
  const said = status === 503 ? 'the server is shutting down' : 'internal server error';
  return {
    status,
    headers: { 'Content-Type': JSON_TYPE },
    body: JSON.stringify({ error: said, request_id: requestId }),
  };
}
