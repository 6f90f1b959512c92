/** Answers as the log and the metrics are told of them. */
import type { AccessRecord } from '../../telemetry/requests.ts';
import type { HttpResponse, HttpRequest } from '../message.ts';
import type { Refusal } from './refusals.ts';
import { Trace } from './trace.ts';

/**
 * @param bytes of the body that was sent.
 * @param milliseconds from the request's headers to those of the response.
 * @param aborted whether the client was gone before it had the response.
 */
export function accessRecord(
  { method, path, address, trace }: HttpRequest,
  { status }: HttpResponse,
  bytes: number,
  milliseconds: number,
  aborted: boolean,
): AccessRecord {
  const { id, route, subject } = trace;
  return { id, method, path, route, status, milliseconds, bytes, subject, address, aborted };
}

/** What was refused before there was a request: nobody knows its method or its path. */
export function refusalRecord({ status, error }: Refusal, address: string): AccessRecord {
  return {
    id: new Trace().id,
    method: '',
    path: '',
    route: null,
    status,
    milliseconds: 0,
    bytes: error.length + '{"error":""}'.length,
    subject: null,
    address,
    aborted: false,
  };
}
