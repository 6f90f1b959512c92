/**
 * Signatures of requests to S3: AWS Signature Version 4, in headers
 * (docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html).
 */
import { createHmac, hash } from 'node:crypto';

export interface S3Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary credentials. */
  readonly sessionToken?: string | undefined;
}

/** What is signed of a request, besides the headers that signing adds. */
export interface SignedRequest {
  readonly method: string;
  /** With the port, if it is not the usual one. */
  readonly host: string;
  /** See {@link encodedPath}. */
  readonly path: string;
  /** See {@link encodedQuery}. */
  readonly query: string;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

/** The signature does not cover the body: TLS protects it, as it protects a response. */
const UNSIGNED = 'UNSIGNED-PAYLOAD';

/**
 * @param time at which the request is sent; a store accepts a difference of 15 minutes.
 * @param payload the SHA-256 of the body in hexadecimal digits; the body is not signed if left out.
 * @returns the headers to send.
 */
export function signatureHeaders(
  { method, host, path, query }: SignedRequest,
  { accessKeyId, secretAccessKey, sessionToken }: S3Keys,
  region: string,
  time: Date,
  payload = UNSIGNED,
): Record<string, string> {
  const instant = time.toISOString().replace(/[-:]|\.\d{3}/g, '');
  const day = instant.slice(0, 8);
  const headers: Record<string, string> = {
    'x-amz-content-sha256': payload,
    'x-amz-date': instant,
    ...(sessionToken !== undefined && { 'x-amz-security-token': sessionToken }),
  };
  const entries = Object.entries({ host, ...headers });
  const names = entries.map(([name]) => name).join(';');
  const lines = entries.map(([name, value]) => `${name}:${value.trim()}\n`).join('');
  const canonical = [method, path, query, lines, names, payload].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = [ALGORITHM, instant, scope, hash('sha256', canonical, 'hex')].join('\n');
  let key: string | Buffer = `AWS4${secretAccessKey}`;
  for (const part of [day, region, 's3', 'aws4_request']) key = hmac(key, part);
  const signature = hmac(key, text).toString('hex');
  headers['authorization'] =
    `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  return headers;
}

/** @param path not encoded. @returns it in the encoding that is signed. */
export function encodedPath(path: string): string {
  return path.split('/').map(encoded).join('/');
}

/** @returns the parameters, in the encoding and order that is signed. */
export function encodedQuery(parameters: Readonly<Record<string, string>>): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .toSorted()
    .join('&');
}

/** Encodes all characters except the unreserved ones of RFC 3986, section 2.3. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
