/** Encodes requests to etcd's key-value service and decodes the responses: JSON with base64. */
import * as v from 'valibot';
import { CatalogError } from '../../errors.ts';
import { FIRST_FAULT } from '../../json/first-fault.ts';
import type { EtcdClient } from './etcd-client.ts';

/** A key as etcd keeps it. */
export interface KeyValue {
  readonly key: string;
  readonly value: Buffer;
  /** The revision of the last change of the key. */
  readonly revision: string;
}

/** What a transaction requires. */
export type Compare =
  | { readonly key: string; readonly value: string }
  /** '0' if there must be no such key. */
  | { readonly key: string; readonly revision: string };

/** A step of a transaction, a `RequestOp` of etcd's API. */
export type RequestOp =
  | { readonly put: string; readonly value: string | Uint8Array; readonly lease?: string }
  /** A key, or with `end` all keys from it up to `end`, exclusive. */
  | { readonly get: string; readonly end?: string; readonly limit?: number }
  | { readonly remove: string; readonly end?: string };

export interface TransactionResult {
  readonly succeeded: boolean;
  /** The keys that each step found, in order; none for those that put or remove. */
  readonly found: readonly (readonly KeyValue[])[];
}

const base64 = v.pipe(
  v.optional(v.string(), ''),
  v.transform((text) => Buffer.from(text, 'base64')),
);

const keyValues = v.optional(
  v.array(v.object({ key: base64, value: base64, mod_revision: v.string() })),
  [],
);

const transactionShape = v.object({
  succeeded: v.optional(v.boolean(), false),
  responses: v.optional(
    v.array(v.object({ response_range: v.optional(v.object({ kvs: keyValues })) })),
    [],
  ),
});

/**
 * Runs `success` if everything in `compare` holds, otherwise `failure`, atomically.
 *
 * @throws CatalogError `log_unavailable`: whether it took effect is not known.
 */
export async function transact(
  client: EtcdClient,
  compare: readonly Compare[],
  success: readonly RequestOp[],
  failure: readonly RequestOp[] = [],
): Promise<TransactionResult> {
  const { prefix } = client;
  const response = await client.call('kv/txn', {
    compare: compare.map((each) => encodeCompare(prefix, each)),
    success: success.map((each) => encodeRequestOp(prefix, each)),
    failure: failure.map((each) => encodeRequestOp(prefix, each)),
  });
  const { succeeded, responses } = understood(transactionShape, response);
  const found = responses.map(({ response_range: range }) =>
    (range?.kvs ?? []).map(({ key, value, mod_revision: revision }) => ({
      key: key.toString().slice(prefix.length),
      value,
      revision,
    })),
  );
  return { succeeded, found };
}

/** @returns a key in etcd's encoding. */
export function encodeKey(prefix: string, key: string): string {
  return Buffer.from(prefix + key).toString('base64');
}

/**
 * @returns a response of etcd, checked against its shape.
 * @throws CatalogError `log_unavailable` if it has another shape.
 */
export function understood<const S extends v.GenericSchema>(
  shape: S,
  response: unknown,
): v.InferOutput<S> {
  const parsed = v.safeParse(shape, response, FIRST_FAULT);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  throw new CatalogError(
    'log_unavailable',
    `the answer is not from etcd (${issue.message}); check that the address is that of etcd`,
  );
}

function encodeCompare(prefix: string, compare: Compare): object {
  const key = encodeKey(prefix, compare.key);
  return 'value' in compare
    ? { key, target: 'VALUE', result: 'EQUAL', value: encode(compare.value) }
    : { key, target: 'MOD', result: 'EQUAL', mod_revision: compare.revision };
}

function encodeRequestOp(prefix: string, step: RequestOp): object {
  if ('put' in step) {
    const { put, value, lease } = step;
    return { request_put: { key: encodeKey(prefix, put), value: encode(value), lease } };
  }
  const { end } = step;
  const range_end = end === undefined ? undefined : encodeKey(prefix, end);
  if ('get' in step) {
    const { get, limit } = step;
    return { request_range: { key: encodeKey(prefix, get), range_end, limit } };
  }
  return { request_delete_range: { key: encodeKey(prefix, step.remove), range_end } };
}

function encode(value: string | Uint8Array): string {
  return Buffer.from(value).toString('base64');
}
