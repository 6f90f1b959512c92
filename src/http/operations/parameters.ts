/** The parameters of operations: of paths, of queries, and request headers. */
import type { JsonObject } from './content.ts';

/** A parameter as the description has it, and the name of its component there. */
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
  /** The values that the router accepts: the source of a regular expression, without anchors. */
  readonly pattern: string;
  /**
   * Whether values that differ in their digits alone lead to the same operations, and there are
   * few values beside those: the router then remembers the path by its shape.
   */
  readonly memorable: boolean;
}

/** An id in the path. @param component where two descriptions of one name are needed. */
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
    pattern: String.raw`\d+`,
    memorable: true,
  };
}

export const PK = idInPath('pk', 'The id of an item.');

const tags = { schema: { type: 'string' }, example: '"89lmCjTEav7Gy_YdMjrMWv"' };

export const IF_MATCH: Parameter = {
  component: 'ifMatch',
  name: 'If-Match',
  in: 'header',
  description: 'Go on only if the entity tag is one of these.',
  ...tags,
};

export const IF_NONE_MATCH: Parameter = {
  component: 'ifNoneMatch',
  name: 'If-None-Match',
  in: 'header',
  description: 'Go on only if the entity tag is none of these.',
  ...tags,
};

export const IF_MODIFIED_SINCE: Parameter = {
  component: 'ifModifiedSince',
  name: 'If-Modified-Since',
  in: 'header',
  description: 'Go on only if the page is newer.',
  schema: { type: 'string' },
  example: 'Sat, 21 Nov 2026 12:00:00 GMT',
};

export const CATALOG_MIN_SEQUENCE: Parameter = {
  component: 'catalogMinSequence',
  name: 'Catalog-Min-Sequence',
  in: 'header',
  description:
    'The change set that the answer must show at least: a `Catalog-Sequence` of an earlier answer. It is waited for up to a second; then the answer is 503.',
  schema: { type: 'integer', minimum: 0 },
  example: 1042,
};

export const IDEMPOTENCY_KEY: Parameter = {
  component: 'idempotencyKey',
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Chosen by the client, at best a UUID. A request that is sent again with the same key within 24 hours is not carried out again, but gets the first answer; another request with the key is 422.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
  example: '7c4a1f3e-2f0b-4d0e-9a38-6a8d3f2b5c11',
};

export const PREFER: Parameter = {
  component: 'prefer',
  name: 'Prefer',
  in: 'header',
  description:
    'With `handling=strict` a member of the body that is not known is an error; otherwise it is ignored (RFC 7240).',
  schema: { type: 'string' },
  example: 'handling=strict',
};
