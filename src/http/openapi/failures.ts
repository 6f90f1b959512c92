/** The failures in the description: one response for each status, with examples of its body. */
import type { Examples } from '../../resources/examples.ts';
import { JSON_TYPE, VENDOR_TYPE } from '../rules/negotiation.ts';
import { headersOf } from './headers.ts';
import { type Named, ref } from './refs.ts';
import { FAULT_EXAMPLE } from './schemas.ts';

interface Failure {
  readonly name: string;
  readonly description: string;
  readonly schema?: 'Invalid' | 'Fault' | 'Nothing';
  /** Headers in addition to those of every response. */
  readonly headers?: readonly string[];
  /** Bodies by name; a string is the `error` member alone. */
  readonly examples: Readonly<Record<string, string | object>>;
}

const FAILURES = {
  400: {
    name: 'Malformed',
    description: 'A query parameter, a header or the body is malformed.',
    examples: {
      query: 'query parameter limit must be a number from 1 to 1000, in digits',
      body: 'the body is not JSON: Unexpected EOF',
    },
  },
  401: {
    name: 'Unauthorized',
    description: 'No valid token was sent, or the user name or the password is wrong.',
    headers: ['WWW-Authenticate'],
    examples: {
      missing: 'send a token: Authorization: Bearer <jwt>',
      expired: 'the token has expired; get a new one',
      password: 'the user name or the password is wrong',
    },
  },
  403: {
    name: 'Forbidden',
    description: "The token's role does not allow the operation.",
    examples: {
      viewer: 'the role viewer may read, but not write',
      editor: 'the role editor may not read this; it requires the role admin',
    },
  },
  404: {
    name: 'NotFound',
    description: 'The path, item or parent does not exist.',
    examples: { item: 'there is no SKU 987', child: 'there is no SKU 1 of SPU 2' },
  },
  405: {
    name: 'NoSuchMethod',
    description: 'The path does not have the method.',
    headers: ['Allow'],
    examples: { post: 'POST is not allowed here; use GET, HEAD, PUT, PATCH, DELETE, OPTIONS' },
  },
  406: {
    name: 'NotAcceptable',
    description: '`Accept` excludes JSON, or asks for an unknown version.',
    examples: {
      version: `no accepted media type is available; accept ${JSON_TYPE} or ${VENDOR_TYPE}`,
    },
  },
  409: {
    name: 'Conflict',
    description:
      'Other items refer to the item, it has changed since the write that is to be undone, no active account with the role `admin` would be left, or the maximum number of webhooks exists already.',
    examples: {
      spu: 'SPU 1 is referred to by the goods_id of specifications 1, 2; by the goods_id of SKU 17',
      changed: 'SKU 17 has changed since audit entry 123: price, stock',
    },
  },
  410: {
    name: 'Gone',
    description: 'The item was deleted.',
    examples: { sku: 'SKU 36 was deleted' },
  },
  412: {
    name: 'PreconditionFailed',
    description:
      '`If-Match`, `If-None-Match` or `If-Unmodified-Since` failed. A collection has no entity tag: a write to it fails with any `If-Match` other than `*`.',
    examples: {
      stale: 'the item has changed since it was read; read it again and repeat the change',
    },
  },
  413: {
    name: 'TooLarge',
    description:
      'The body is too large (by default more than 1 MiB, or 256 MiB for an import), or one of its arrays has too many elements (by default more than 10,000).',
    examples: { large: 'the body is larger than 1048576 bytes' },
  },
  415: {
    name: 'NotJson',
    description: 'The `Content-Type` or `Content-Encoding` of the body is not supported.',
    headers: ['Accept?', 'Accept-Patch?', 'Accept-Encoding?'],
    examples: { type: 'the body must be JSON: Content-Type: application/json' },
  },
  422: {
    name: 'Invalid',
    description:
      'The body fails validation or breaks a rule of the catalog, or the `Idempotency-Key` was used with another request. For SKUs and their specification records, also if the disk refused the write; with `Prefer: handling=strict`, also if the body has an unknown member. Nothing was changed.',
    schema: 'Invalid',
    headers: ['Preference-Applied?'],
    examples: {
      reference: 'database error: spu_id: 77 does not exist',
      key: 'the Idempotency-Key was used with another request; choose a new one',
    },
  },
  429: {
    name: 'TooMany',
    description:
      'Too many logins failed for the name or from the address, or too many logins, page builds or imports are pending.',
    headers: ['Retry-After'],
    examples: {
      failed: 'too many login attempts; try again in 212 seconds',
      builds: '16 page builds are not finished yet; wait for one of them',
    },
  },
  500: {
    name: 'ServerFault',
    description:
      'An unexpected fault, or the disk refused the write; a write that was refused changed nothing.',
    schema: 'Fault',
    examples: { fault: FAULT_EXAMPLE },
  },
  503: {
    name: 'Unavailable',
    description:
      'The server is shutting down, is overloaded, is short of memory, or cannot reach the host or log that takes its writes. Nothing was changed, unless `error` says that the write may have been carried out or may still take effect.',
    schema: 'Fault',
    headers: ['Retry-After?'],
    examples: {
      closing: { ...FAULT_EXAMPLE, error: 'the server is shutting down' },
      memory: {
        ...FAULT_EXAMPLE,
        error: 'the server is short of memory and does not accept new data now',
      },
    },
  },
} as const satisfies Readonly<Record<number, Failure>>;

export type FailureStatus = keyof typeof FAILURES;

/** A 404 with an empty object as its body (spec 3.6). */
const NOTHING_FOUND: Failure = {
  name: 'NothingFound',
  description: 'The item does not exist.',
  schema: 'Nothing',
  examples: { empty: {} },
};

/** The errors of requests that are refused before their path is read. */
const UNREADABLE = {
  description:
    'The request was refused before its path was read, and the connection is closed. 400: the request is not valid HTTP; 408: it took too long to arrive; 414: its target is too long; 417: `Expect` is not `100-continue`; 429: there are too many connections from one address; 431: the headers are too large. A 503 with the same body: there are too many connections in all, or too many requests are waiting on one connection.',
  headers: {
    'X-Content-Type-Options': ref('headers', 'X-Content-Type-Options'),
    'Cache-Control': ref('headers', 'Cache-Control'),
    'Retry-After': ref('headers', 'Retry-AfterPerhaps'),
    'X-Request-Id': ref('headers', 'X-Request-IdPerhaps'),
  },
  content: bodyOf('Error', { slow: 'the request took too long to arrive' }),
};

/** The response of every failure, by name. */
export function failureResponses(examples: Examples): Named {
  const found: Named = { Unreadable: UNREADABLE };
  for (const failure of [...Object.values<Failure>(FAILURES), NOTHING_FOUND]) {
    const { name, description, schema = 'Error', headers = [] } = failure;
    const shown =
      schema === 'Invalid' ? { fields: examples.refusal(), ...failure.examples } : failure.examples;
    found[name] = {
      description,
      ...headersOf(headers),
      content: bodyOf(schema, shown),
    };
  }
  return found;
}

/**
 * The responses of an operation that fails with these statuses.
 *
 * @param emptyNotFound whether the body of a 404 is an empty object.
 */
export function failures(statuses: readonly FailureStatus[], emptyNotFound = false): Named {
  const named = statuses.map((status) => {
    const { name } = status === 404 && emptyNotFound ? NOTHING_FOUND : FAILURES[status];
    return [status, ref('responses', name)] as const;
  });
  return { ...Object.fromEntries(named), '4XX': ref('responses', 'Unreadable') };
}

function bodyOf(schema: string, examples: Failure['examples']): Named {
  const shown = Object.entries(examples).map(([name, body]) => [
    name,
    { value: typeof body === 'string' ? { error: body } : body },
  ]);
  return {
    [JSON_TYPE]: { schema: ref('schemas', schema), examples: Object.fromEntries(shown) },
  };
}
