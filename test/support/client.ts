/** A plain HTTP client: a request in, status, headers and body out. */
import { SignJWT } from 'jose';
import * as assert from 'uvu/assert';
import { messageOf } from '../../src/errors.ts';
import { requireDescribed } from './contract.ts';
import { SECRET } from './secret.ts';

/** A server, by its origin; a service in process is called by a `fetch` of its own. */
export interface Reachable {
  readonly url: string;
  readonly fetch?: (url: string, init?: RequestInit, address?: string) => Promise<Response>;
  /** Servers with the same settings describe themselves alike, so that one of them is asked. */
  readonly settings?: string;
  /** Tells in words what became of a server that gave no answer. */
  readonly fate?: () => Promise<string>;
}

export interface Sent {
  /** Sent as JSON text, unless it is a string, bytes or a stream already. */
  readonly body?: unknown;
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of the client, for a service in process. */
  readonly address?: string;
  /** Why the answer need not be what the server's own description says; not for convenience. */
  readonly undescribed?: string;
}

export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; undefined if it is not JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a test reads whatever shape it expects.
  readonly json: any;
}

/** Seconds: longer than any process of tests runs, which makes some tokens once (test/run.ts). */
const TOKEN_LIFETIME = 24 * 60 * 60;

/** A token of the role, signed with the secret of the test servers. */
export function tokenFor(
  role: string,
  claims: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({
    sub: 'tester',
    role,
    iat: now,
    exp: now + TOKEN_LIFETIME,
    // Of two tokens that one second brings, only the one that is meant may be revoked.
    jti: `test-${crypto.randomUUID()}`,
    iss: 'catalog-server',
    aud: 'catalog-admin',
    ...claims,
  })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .sign(new TextEncoder().encode(SECRET));
}

const editor = tokenFor('admin');

/** Relation and target of each link in `Link`. */
export function linksOf({ headers }: Received): [string, string][] {
  const found = (headers.get('link') ?? '').matchAll(/<([^>]*)>; rel="([^"]+)"/g);
  return [...found].map(([, target = '', rel = '']) => [rel, target]);
}

/** What hosts say to each other is in no description. */
const INTERNAL = /\/admin\/hosts\//;

/**
 * Sends one request. Without `token` the caller is an admin; `null` sends no token.
 *
 * @param path from the root of the server, query included.
 * @throws AssertionError if the response is not as `/openapi.json` of the server says.
 */
export async function send(
  server: Reachable,
  method: string,
  path: string,
  { body, token, headers = {}, address, undescribed }: Sent = {},
): Promise<Received> {
  const authorization =
    token === null ? {} : { authorization: `Bearer ${token ?? (await editor)}` };
  const url = `${server.url}${path}`;
  const init: RequestInit = {
    method,
    redirect: 'manual',
    headers: {
      ...authorization,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: isSentAsIs(body) ? body : JSON.stringify(body) }),
  };
  const response = await (server.fetch ?? fetch)(url, init, address).catch((error: unknown) =>
    unanswered(server, `${method} ${path}`, error),
  );
  const text = await response.text();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  const received = { status: response.status, headers: response.headers, text, json };
  requireShortHeaders(response.headers, `${method} ${path}`);
  const isDescribed = undescribed === undefined && !INTERNAL.test(path);
  if (isDescribed) await requireDescribed(server, method, path, received);
  return received;
}

/** @throws Error with what the server said, which explains a failure that is rare. */
async function unanswered(server: Reachable, request: string, cause: unknown): Promise<never> {
  if (server.fate === undefined) throw cause;
  throw new Error(`${request}: ${messageOf(cause)}; ${await server.fate()}`, { cause });
}

/** Bytes. Common proxies answer 502 to more. */
const MAX_RESPONSE_HEADERS = 8 * 1024;

/** No response has more than 8 KiB of headers, whatever the request. */
function requireShortHeaders(headers: Headers, what: string): void {
  const bytes = [...headers].reduce(
    (sum, [name, value]) => sum + name.length + value.length + 4,
    0,
  );
  assert.ok(bytes < MAX_RESPONSE_HEADERS, `${what} has ${bytes} bytes of headers`);
}

/** Sends a request whose response has to have the status. @returns the response. */
export async function sent(at: Reachable, status: number, ...request: [string, string, Sent?]) {
  const answer = await send(at, ...request);
  assert.is(answer.status, status, answer.text);
  return answer;
}

/** A body that is made piece by piece, each when the one before it was read. */
export function streamOf(pieces: AsyncIterator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        const { value, done } = await pieces.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
    },
    { highWaterMark: 0 },
  );
}

function isSentAsIs(body: unknown): body is string | Uint8Array<ArrayBuffer> | ReadableStream {
  return typeof body === 'string' || body instanceof Uint8Array || body instanceof ReadableStream;
}
