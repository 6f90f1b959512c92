/**
 * A bucket of S3, as far as an archive uses it: objects, parts of large ones, lists by key. It
 * requires signed requests, and loses requests and answers if a test says so.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * What happens to a request: it is cut before it takes effect, its answer is, none or 500 comes, the
 * answer comes byte by byte, or a list begins with its first keys again and says that more follow.
 */
type Fault = 'none' | 'before' | 'after' | 'silence' | 'drip' | 'again' | 500;

export interface S3Server {
  readonly url: string;
  /** By bucket and key: `bucket/prefix/name`. */
  readonly objects: Map<string, Buffer>;
  /** Decides for each request. */
  fault: (method: string, key: string) => Fault;
  close(): Promise<void>;
}

const SIGNATURE = /^AWS4-HMAC-SHA256 Credential=test-id\/\d{8}\/[\w-]+\/s3\/aws4_request, /;

/** Parts of an object, at most. */
const MAX_PARTS = 10_000;

/** Bytes of each part of an object but the last one, at least. */
const MIN_PART_BYTES = 5 * 1024 * 1024;

/** A part in the request that makes an object. */
const PART = /<Part><PartNumber>(\d+)<\/PartNumber><ETag>([^<]+)<\/ETag><\/Part>/g;

/** The entity tag of a part, which the client has to repeat. */
const partTag = (number: number) => `"part-${number}"`;

export async function startS3Server(): Promise<S3Server> {
  const objects = new Map<string, Buffer>();
  /** Parts of unfinished objects, by their upload and number. */
  const parts = new Map<string, Map<number, Buffer>>();
  let uploads = 0;

  const multipart = (method: string, key: string, query: URLSearchParams, body: Buffer) => {
    if (method === 'POST' && query.has('uploads')) {
      uploads += 1;
      parts.set(`${uploads}`, new Map());
      return xml(
        `<InitiateMultipartUploadResult><UploadId>${uploads}</UploadId></InitiateMultipartUploadResult>`,
      );
    }
    const upload = query.get('uploadId') ?? '';
    const found = parts.get(upload);
    if (found === undefined) return failure(404, 'NoSuchUpload');
    if (method === 'PUT') {
      const number = Number(query.get('partNumber'));
      if (!(number >= 1 && number <= MAX_PARTS)) return failure(400, 'InvalidArgument');
      found.set(number, body);
      return { status: 200, headers: { ETag: partTag(number) }, body: '' };
    }
    if (method === 'DELETE') {
      parts.delete(upload);
      return { status: 204, headers: {}, body: '' };
    }
    const listed = [...body.toString().matchAll(PART)].map(([, number, tag]) => {
      return tag === partTag(Number(number)) ? found.get(Number(number)) : undefined;
    });
    const whole = listed.filter((part) => part !== undefined);
    if (whole.length < listed.length || whole.length === 0) return failure(400, 'InvalidPart');
    if (whole.slice(0, -1).some(({ length }) => length < MIN_PART_BYTES)) {
      return failure(400, 'EntityTooSmall');
    }
    parts.delete(upload);
    objects.set(key, Buffer.concat(whole));
    return xml(
      '<CompleteMultipartUploadResult><ETag>"whole"</ETag></CompleteMultipartUploadResult>',
    );
  };

  const answer = (method: string, url: URL, body: Buffer, again: boolean) => {
    const key = decodeURIComponent(url.pathname.slice(1));
    const query = url.searchParams;
    if (query.has('uploads') || query.has('uploadId')) return multipart(method, key, query, body);
    if (query.get('list-type') === '2') return list(objects, key.replace(/\/$/, ''), query, again);
    if (method === 'PUT') objects.set(key, body);
    if (method === 'DELETE') objects.delete(key);
    const found = objects.get(key);
    if (method === 'GET') {
      if (found === undefined) return failure(404, 'NoSuchKey');
      return { status: 200, headers: {}, body: found };
    }
    return { status: method === 'DELETE' ? 204 : 200, headers: { ETag: '"object"' }, body: '' };
  };

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const body = Buffer.concat(await Array.fromAsync(request));
    const url = new URL(request.url ?? '', 'http://bucket');
    const method = request.method ?? '';
    const fault = s3.fault(method, url.pathname.slice(1));
    if (fault === 'silence') return;
    if (fault === 'before') return void request.socket.destroy();
    if (fault === 500) return void response.writeHead(fault).end();
    const isSigned = SIGNATURE.test(request.headers.authorization ?? '');
    const {
      status,
      headers,
      body: text,
    } = isSigned ? answer(method, url, body, fault === 'again') : failure(403, 'AccessDenied');
    if (fault === 'after') return void request.socket.destroy();
    response.writeHead(status, headers);
    if (fault === 'drip') return drip(response, Buffer.from(text));
    response.end(text);
  };

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const s3: S3Server = {
    url: `http://127.0.0.1:${port}`,
    objects,
    fault: () => 'none',
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return s3;
}

async function drip(response: ServerResponse, bytes: Buffer): Promise<void> {
  for (const byte of bytes) {
    if (response.destroyed) return;
    response.write(Buffer.of(byte));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  response.end();
}

/** The variables with which a program reaches the server. */
export function s3Environment({ url }: S3Server): Record<string, string> {
  return {
    AWS_ACCESS_KEY_ID: 'test-id',
    AWS_SECRET_ACCESS_KEY: 'test-secret',
    AWS_REGION: 'eu-central-1',
    AWS_ENDPOINT: url,
  };
}

function list(
  objects: ReadonlyMap<string, Buffer>,
  bucket: string,
  query: URLSearchParams,
  again: boolean,
) {
  const start = `${bucket}/${query.get('prefix') ?? ''}`;
  const after = again ? '' : `${bucket}/${query.get('start-after') ?? ''}`;
  const most = Number(query.get('max-keys') ?? 1000);
  const keys = [...objects.keys()].toSorted().filter((k) => k.startsWith(start) && k > after);
  const contents = keys
    .slice(0, most)
    .map((key) => `<Contents><Key>${key.slice(bucket.length + 1)}</Key></Contents>`);
  return xml(
    `<ListBucketResult><IsTruncated>${again || keys.length > most}</IsTruncated>${contents.join('')}</ListBucketResult>`,
  );
}

function xml(text: string) {
  const headers = { 'Content-Type': 'application/xml' };
  return { status: 200, headers, body: `<?xml version="1.0" encoding="UTF-8"?>${text}` };
}

function failure(status: number, code: string) {
  const { headers, body } = xml(`<Error><Code>${code}</Code><Message>${code}</Message></Error>`);
  return { status, headers, body };
}
