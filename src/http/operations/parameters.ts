/** The parameters of operations: in paths, in queries and in request headers. */
import { KEY } from '../rules/idempotency-key.ts';
import { count, text } from './common-schemas.ts';
import type { JsonObject } from './content.ts';

/** A parameter as the description shows it, and the name of its component there. */
export interface Parameter {
  readonly component: string;
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description: string;
  readonly schema: JsonObject;
  readonly example?: string | number;
}

/** A placeholder of a path. */
export interface PathParameter extends Parameter {
  readonly in: 'path';
  /** The values that the router accepts, as the source of a regular expression without anchors. */
  readonly pattern: string;
  /**
   * Whether the router may cache the path by its shape, and the metrics name it by that: values
   * that differ only in their digits have the same operations, and there are few other values.
   */
  readonly memorable: boolean;
}

/** The pattern of an id. */
export const DIGITS = String.raw`\d+`;

/** An id in the path. @param component its name, if `name` has two different descriptions. */
export function idInPath(
  name: string,
  description: string,
  { component = name, minimum = 1 } = {},
): PathParameter {
  return {
    component,
    name,
    in: 'path',
    description,
    schema: { type: 'integer', minimum },
    example: minimum,
    pattern: DIGITS,
    memorable: true,
  };
}

/**
 * A parameter of a query, which may be left out.
 *
 * @param component its name, if `name` has two different descriptions.
 */
export function inQuery(
  name: string,
  description: string,
  schema: JsonObject,
  component = name,
): Parameter {
  return { component, name, in: 'query', description, schema };
}

export const PK = idInPath('pk', 'The id of an item.');

const tags = { schema: text, example: '"89lmCjTEav7Gy_YdMjrMWv"' };

export const IF_MATCH: Parameter = {
  component: 'ifMatch',
  name: 'If-Match',
  in: 'header',
  description: 'Carry out the request only if the current entity tag is one of these.',
  ...tags,
};

export const IF_NONE_MATCH: Parameter = {
  component: 'ifNoneMatch',
  name: 'If-None-Match',
  in: 'header',
  description: 'Carry out the request only if the current entity tag is none of these.',
  ...tags,
};

export const IF_MODIFIED_SINCE: Parameter = {
  component: 'ifModifiedSince',
  name: 'If-Modified-Since',
  in: 'header',
  description: 'Send the page only if it is newer than this.',
  schema: text,
  example: 'Sat, 21 Nov 2026 12:00:00 GMT',
};

export const IF_UNMODIFIED_SINCE: Parameter = {
  component: 'ifUnmodifiedSince',
  name: 'If-Unmodified-Since',
  in: 'header',
  description: 'Send the page only if it is not newer than this.',
  schema: text,
  example: 'Sat, 21 Nov 2026 12:00:00 GMT',
};

export const CATALOG_MIN_SEQUENCE: Parameter = {
  component: 'catalogMinSequence',
  name: 'Catalog-Min-Sequence',
  in: 'header',
  description:
    'The change set that the response must show at least: the `Catalog-Sequence` of an earlier response. The server waits for it for up to a second; then the response is 503. If it is more than 100,000 change sets beyond the last one, the response is 503 at once.',
  schema: count,
  example: 1042,
};

export const IDEMPOTENCY_KEY: Parameter = {
  component: 'idempotencyKey',
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Chosen by the client, preferably a UUID: 1 to 255 visible ASCII characters, with or without quotes around them. A request that is sent again with the same key within 24 hours is not carried out again, but gets the first response. Another request with the same key is 422.',
  schema: { ...text, pattern: KEY.source },
  example: '7c4a1f3e-2f0b-4d0e-9a38-6a8d3f2b5c11',
};

export const PREFER: Parameter = {
  component: 'prefer',
  name: 'Prefer',
  in: 'header',
  description:
    'With `handling=strict`, an unknown member of the body is an error; otherwise it is ignored (RFC 7240).',
  schema: text,
  example: 'handling=strict',
};
