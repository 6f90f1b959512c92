/** Records of responses, for the log and the metrics. */
import type { AccessRecord } from '../../telemetry/requests.ts';
import type { HttpRequest } from '../message.ts';
import type { ErrorResponse } from './error-responses.ts';
import { Trace } from './trace.ts';

/** Is notified of responses. */
export interface AccessListener {
  /** Whether to record responses with this status; no record is made of others. */
  wants(status: number): boolean;
  onResponse(record: AccessRecord): void;
}

/**
 * @param status of the response that was sent.
 * @param bytes of its body.
 * @param milliseconds from the request's headers to those of the response.
 * @param aborted whether the client disconnected before it had the response.
 */
export function accessRecord(
  { method, path, address, trace }: HttpRequest,
  status: number,
  bytes: number,
  milliseconds: number,
  aborted: boolean,
): AccessRecord {
  const { id, route, subject } = trace;
  return { id, method, path, route, status, milliseconds, bytes, subject, address, aborted };
}

/** The record of a response to bytes that were not a request: method and path are unknown. */
export function errorRecord({ status, body }: ErrorResponse, address: string): AccessRecord {
  return {
    id: new Trace().id,
    method: '',
    path: '',
    route: null,
    status,
    milliseconds: 0,
    bytes: Buffer.byteLength(body),
    subject: null,
    address,
    aborted: false,
  };
}
