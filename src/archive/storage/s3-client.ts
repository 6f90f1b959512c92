/**
 * Requests to a bucket of an S3-compatible store.
 *
 * Every request is bounded in time, and ends when its time is over. A response that is read whole is
 * bounded in bytes. A redirect is an error: the signature counts for one address only, and another
 * host would get the session token and the object. S3 itself redirects only requests that were sent
 * to the wrong region, and the error names the right one.
 */
import { createHash } from 'node:crypto';
import { AwsV4Signer } from 'aws4fetch';
import { withTimeout } from '../../delay.ts';
import { CatalogError, messageOf } from '../../errors.ts';
import { parseHttpDate } from '../../http-date.ts';
import { inSlices } from '../../slices.ts';
import { bounded, piecesOf, wholeOf } from '../../streams.ts';
import { StoreFailure } from './object-store.ts';
import { parseError, printable, reasonOf } from './s3-xml.ts';

/** How a store is reached. */
export interface S3Access {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary credentials. */
  readonly sessionToken?: string | undefined;
  /** Guessed from the endpoint if it is left out. */
  readonly region?: string | undefined;
  /** The address of a store that is not AWS. */
  readonly endpoint?: string | undefined;
}

export interface S3Request {
  /** The operation, for messages: `a write of private`. */
  readonly what: string;
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** Of the object; "" for the bucket. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  /** How many times as long as others it may take; once if left out. */
  readonly patience?: number;
}

/** A response that was read whole. */
export interface S3Response {
  readonly headers: Headers;
  readonly text: string;
}

/** Bytes of the longest response that is read whole: a page of a list has at most 1,000 keys. */
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;

/** Bytes that are hashed between two chances for the event loop to turn. */
const HASHED_BYTES = 64 * 1024;

/** Bytes of the longest response to a request that failed. */
const MAX_ERROR_BYTES = 64 * 1024;

const REGION = /^[a-z0-9-]{1,64}$/i;

/** Errors about the region of a request. Garage and MinIO name theirs in every other error as well. */
const REGION_CODES: ReadonlySet<string> = new Set([
  'AuthorizationHeaderMalformed',
  'InvalidRegion',
]);

/** `https://s3.eu-central-1.amazonaws.com` has the region in its name. */
const AWS_HOST = /(?:^|\.)s3[.-]([a-z0-9-]+)\.amazonaws\.com$/;

export class S3Client {
  readonly #url: URL;
  readonly #path: string;
  readonly #region: string;
  readonly #keys: Pick<S3Access, 'accessKeyId' | 'secretAccessKey' | 'sessionToken'>;
  readonly #deadlineMs: number;

  /**
   * @param deadlineMs milliseconds for a request.
   * @throws CatalogError `usage` if the endpoint or the region is not one.
   */
  constructor(bucket: string, { region, endpoint, ...keys }: S3Access, deadlineMs: number) {
    if (region !== undefined && !REGION.test(region)) {
      throw new CatalogError(
        'usage',
        'the region of the bucket is not one: set AWS_REGION to a name such as eu-central-1',
      );
    }
    this.#url = endpointOf(endpoint ?? `s3.${region ?? 'us-east-1'}.amazonaws.com`);
    this.#path = `${this.#url.pathname.replace(/\/$/, '')}/${bucket}/`;
    this.#region = region ?? regionOf(this.#url.hostname);
    this.#keys = keys;
    this.#deadlineMs = deadlineMs;
  }

  /** @throws Error that says what failed and why. */
  async send(request: S3Request): Promise<S3Response> {
    const ending = new AbortController();
    const work = async () => {
      const response = await this.#fetch(request, ending.signal);
      if (!response.ok) throw await failureOf(response, this.#region);
      const text = await textOf(response, MAX_RESPONSE_BYTES);
      return { headers: response.headers, text };
    };
    try {
      return await this.#timed(request, work());
    } finally {
      ending.abort();
    }
  }

  /**
   * @param signal ends the transfer.
   * @returns the body of an object, which may be of any length; null if there is no such object.
   * @throws Error that says what failed and why.
   */
  async open(request: S3Request, signal: AbortSignal): Promise<Response['body']> {
    const work = async () => {
      const response = await this.#fetch(request, signal);
      if (response.status === 200) return wholeBodyOf(response);
      const failure = await failureOf(response, this.#region);
      if (failure.code === 'NoSuchKey') return null;
      throw failure;
    };
    return this.#timed(request, work());
  }

  async #fetch(
    { method, key, query = {}, body }: S3Request,
    signal: AbortSignal,
  ): Promise<Response> {
    const { accessKeyId, secretAccessKey, sessionToken } = this.#keys;
    const signer = new AwsV4Signer({
      method,
      url: `${this.#url.origin}${encodedPath(`${this.#path}${key}`)}${encodedQuery(query)}`,
      // With it, a store refuses a body that was changed on the way. S3 requires it for a bucket with
      // a retention period (Object Lock).
      ...(body !== undefined && { headers: { 'content-md5': await md5Of(body) } }),
      accessKeyId,
      secretAccessKey,
      ...(sessionToken !== undefined && { sessionToken }),
      service: 's3',
      region: this.#region,
    });
    const { url, headers } = await signer.sign();
    // Not signed, because proxies change it.
    headers.set('accept-encoding', 'identity');
    headers.set('user-agent', 'catalog-server');
    if (body !== undefined) headers.set('content-type', 'application/octet-stream');
    const response = fetch(url, {
      method,
      headers,
      ...(body !== undefined && { body }),
      redirect: 'manual',
      // A compressed response is not unpacked: its length says nothing about what it takes.
      decompress: false,
      signal,
    });
    return response.catch((cause: unknown) => {
      throw new Error(`${this.#url.origin}: ${messageOf(cause)}`, { cause });
    });
  }

  async #timed<T>({ what, patience = 1 }: S3Request, work: Promise<T>): Promise<T> {
    const deadlineMs = this.#deadlineMs * patience;
    const late = () => {
      throw new Error(`${what} was not answered within ${deadlineMs / 1000} s`);
    };
    const explained = work.catch((cause: unknown) => {
      throw new Error(`${what} failed: ${messageOf(cause)}`, { cause });
    });
    // The HTTP client may outlive the signal, so the request is also raced with a timer.
    return withTimeout(explained, deadlineMs, late);
  }
}

/** A response that is not a success. */
class S3Failure extends StoreFailure {
  /** Of S3; "" if the response has none. */
  readonly code: string;

  constructor(message: string, code = '', retryAfterMs = 0) {
    super(message, retryAfterMs);
    this.code = code;
  }
}

/** @returns the MD5 of a body in base64. */
function md5Of(body: Uint8Array | string): Promise<string> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return inSlices(
    (function* () {
      const hash = createHash('md5');
      for (const piece of piecesOf(bytes, HASHED_BYTES)) {
        hash.update(piece);
        yield;
      }
      return hash.digest('base64');
    })(),
  );
}

function encodedPath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/** @returns "" if there are no parameters. Spaces become `%20`, as they are signed. */
function encodedQuery(parameters: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(parameters).map(
    ([name, value]) => `${name}=${encodeURIComponent(value)}`,
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** @throws CatalogError `usage`. */
function endpointOf(text: string): URL {
  const full = /^https?:\/\//i.test(text) ? text : `https://${text}`;
  const url = URL.parse(full);
  if (url === null || `${url.username}${url.password}${url.search}${url.hash}` !== '') {
    throw new CatalogError(
      'usage',
      'the address of the object store is not one: set AWS_ENDPOINT to one such as https://minio.example:9000',
    );
  }
  return url;
}

/** @returns the region in the name of a host of AWS; `auto`, as other stores have it, elsewhere. */
function regionOf(hostname: string): string {
  if (hostname === 's3.amazonaws.com') return 'us-east-1';
  return AWS_HOST.exec(hostname)?.[1] ?? 'auto';
}

/** @throws Error if the body is compressed. */
function wholeBodyOf({ headers, body }: Response): Response['body'] {
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (encoding === 'identity') return body;
  throw new S3Failure(
    `the response is compressed (${printable(encoding)}), which was not requested`,
  );
}

/** @throws Error if the body has more bytes, or is compressed. */
async function textOf(response: Response, limit: number): Promise<string> {
  const body = wholeBodyOf(response);
  if (body === null) return '';
  const tooLong = () => new S3Failure(`the response has more than ${limit} bytes`);
  return String(await wholeOf(bounded(body, limit, tooLong)));
}

/** @param signed the region for which the request was signed. */
async function failureOf(response: Response, signed: string): Promise<S3Failure> {
  const { status, headers } = response;
  const error = await textOf(response, MAX_ERROR_BYTES)
    .then(parseError)
    .catch(() => null);
  const region = headers.get('x-amz-bucket-region') ?? error?.region ?? '';
  const isRedirect = status >= 300 && status < 400;
  const isOfOther = region !== signed && REGION_CODES.has(error?.code ?? '');
  if (REGION.test(region) && (isRedirect || isOfOther)) {
    return new S3Failure(
      `the bucket is in the region ${region}: set AWS_REGION=${region}, and leave out AWS_ENDPOINT if it names another region`,
    );
  }
  const retryAfterMs = retryAfterOf(headers);
  if (error !== null) return new S3Failure(reasonOf(error), error.code, retryAfterMs);
  const target = isRedirect ? URL.parse(headers.get('location') ?? '') : null;
  if (target !== null) {
    return new S3Failure(
      `it was redirected to ${printable(target.origin)}, and redirects are not followed; if the object store is there, set AWS_ENDPOINT to its address`,
    );
  }
  return new S3Failure(
    `the response was an error without a reason (status ${status}); check the address, the proxy if HTTP_PROXY is set, and the log of the object store`,
    '',
    retryAfterMs,
  );
}

/** @returns milliseconds; 0 if the store does not say when to try again. */
function retryAfterOf(headers: Headers): number {
  const value = headers.get('retry-after') ?? '';
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const now = Date.now();
  return Math.max((parseHttpDate(value, now) ?? now) - now, 0);
}
