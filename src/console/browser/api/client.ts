/** Requests to the API, and their failures. */
import { answer, NoAnswer } from './answer.ts';
import { authorizedFetch } from './session.ts';

/** A response that is not a success. */
export class ApiError extends Error {
  readonly status: number;
  /** What is wrong with each attribute, in the server's words. */
  readonly fields: Readonly<Record<string, readonly string[]>>;

  constructor(status: number, message: string, fields: ApiError['fields'] = {}) {
    super(message);
    this.status = status;
    this.fields = fields;
  }
}

export interface Sent {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE' | 'OPTIONS';
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends a request whose path is made at run time, from the paths of collections.ts.
 *
 * @param path below the base path.
 * @throws ApiError if the response is not a success, TypeError if there is none.
 */
export async function send(path: string, sent: Sent = {}): Promise<Response> {
  const { method = 'GET', body, headers = {}, signal } = sent;
  const response = await authorizedFetch(path, {
    method,
    headers: {
      Accept: 'application/json',
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      // A misspelt attribute is a defect of the console, and is refused rather than ignored.
      ...(body !== undefined && { Prefer: 'handling=strict' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: signal ?? null,
  });
  if (!response.ok) throw await errorOf(response);
  return response;
}

/** @throws ApiError, TypeError. */
export async function receive<T>(path: string, sent: Sent = {}): Promise<T> {
  return jsonOf(await send(path, sent));
}

/** The body of a response. @throws TypeError if it breaks off. */
export async function jsonOf<T>(response: Response): Promise<T> {
  return answer(response.json() as Promise<T>);
}

/** A SKU that the disk refused is a 422 (spec 3.9), although nothing is wrong with what was sent. */
const REFUSED_BY_DISK = /^database error: (the disk refused the write .*)$/s;

/**
 * @param response whose status is not a success. Its body is read here.
 * @returns the message of the server; "" if the body has none, such as that of a proxy. A fault of
 *   the disk has status 503, whatever was written.
 */
export async function errorOf(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => ({}))) as {
    error?: string;
    fields?: ApiError['fields'];
  };
  const [, fault] = REFUSED_BY_DISK.exec(body.error ?? '') ?? [];
  if (fault !== undefined) return new ApiError(503, fault);
  return new ApiError(response.status, body.error ?? '', body.fields);
}

/** Whether a failure is that the item does not exist, or no longer. */
export function isGone(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 404 || error.status === 410);
}

/** Whether the same request may succeed later: the failure says nothing about what was sent. */
export function isPassing(error: unknown): boolean {
  if (error instanceof NoAnswer) return true;
  return error instanceof ApiError && (error.status === 429 || error.status >= 500);
}

/** Whether the request may have been carried out: the response of the server is lost. */
export function isLost(error: unknown): boolean {
  if (error instanceof NoAnswer) return true;
  // Of a proxy that had no response.
  return error instanceof ApiError && (error.status === 502 || error.status === 504);
}

/** Whether a failure is only that the request was not wanted any more. */
export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}
