/** Answers as the log and the metrics are told of them. */
import type { Answered } from '../telemetry/requests.ts';
import type { Answer, Request } from './exchange.ts';
import type { Refusal } from './refusal.ts';
import { Trace } from './trace.ts';

/**
 * @param bytes of the body that was sent.
 * @param begun when the request's headers were read, on the clock of `performance.now`.
 * @param aborted whether the client had gone.
 */
export function answeredAs(
  { method, path, address, trace }: Request,
  { status }: Answer,
  bytes: number,
  begun: number,
  aborted: boolean,
): Answered {
  const milliseconds = performance.now() - begun;
  const { id, route, subject } = trace;
  return { id, method, path, route, status, milliseconds, bytes, subject, address, aborted };
}

/** What was refused before there was a request: nobody knows its method or its path. */
export function refusedAs({ status, error }: Refusal, address: string): Answered {
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
