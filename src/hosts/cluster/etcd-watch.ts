/**
 * Follows one key of etcd: a watch reports changes at once, and a read each second shows whether a
 * majority of the nodes answers. A watch alone could not tell a frozen node from an unchanged key:
 * a call that fails ends the watch, which is opened again at the node that the next calls use.
 */
import { repeat } from '../../delay.ts';
import * as v from 'valibot';
import { CatalogError } from '../../errors.ts';
import type { EtcdClient } from './etcd-client.ts';
import { encodeKey, understood } from './etcd-keys.ts';

/** Milliseconds between two reads, and before a watch that ended is opened again. */
const INTERVAL_MS = 1000;

const watchShape = v.object({
  result: v.object({
    canceled: v.optional(v.boolean(), false),
    events: v.optional(v.array(v.object({ kv: v.object({ value: v.optional(v.string()) }) })), []),
  }),
});

interface FollowedKey<T> {
  readonly decode: (value: Buffer) => T;
  /** Reads what the key means now, from a majority. @throws CatalogError `log_unavailable`. */
  readonly ask: () => Promise<T>;
  /** Called with each value of the watch or of `ask`; with null if `ask` fails. */
  readonly listener: (value: T | null) => void;
}

/** @returns a function that ends it. */
export function followKey<T>(
  client: EtcdClient,
  key: string,
  { decode, ask, listener }: FollowedKey<T>,
): () => Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  const tell = (value: T | null) => {
    if (!signal.aborted) listener(value);
  };
  // A failed watch is not reported: `ask` shows what it means.
  const watch = async () => {
    const request = { create_request: { key: encodeKey(client.prefix, key) } };
    for await (const response of client.watch(request, signal)) {
      const { result } = understood(watchShape, response);
      // Such as a watch with a token that has ended. etcd sends nothing more, and leaves it open.
      if (result.canceled) return;
      const last = result.events.at(-1)?.kv.value;
      if (last !== undefined) tell(decode(Buffer.from(last, 'base64')));
    }
  };
  void repeat(watch, INTERVAL_MS, signal);
  const askOnce = async () => tell(await ask().catch(nullIfUnavailable));
  const asking = repeat(askOnce, INTERVAL_MS, signal);
  return async () => {
    ending.abort();
    await asking;
  };
}

function nullIfUnavailable(error: unknown): null {
  if (error instanceof CatalogError) return null;
  throw error;
}
