/** The interfaces that deliveries need from the rest of the server. */
import type { RowOf } from '../../model/rows.ts';

export type Webhook = RowOf<'webhooks'>;

/** A request to a receiver. */
export interface OutgoingRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Ends the request. */
  readonly signal: AbortSignal;
}

/**
 * Sends by POST, without following redirects.
 *
 * @returns the HTTP status of the response.
 * @throws Error with a message for the operator if there is no response in time.
 */
export type Send = (request: OutgoingRequest) => Promise<number>;

/** The state of the deliveries of a webhook, which changes while they continue. */
export interface LiveState {
  /** Where they continue: some numbers and short texts, as JSON. */
  readonly place: object;
  /** The place, and the last deliveries. */
  readonly text: string;
}

/** Where the state of deliveries is kept, a text for each webhook. */
export interface DeliveryStorage {
  /** @returns null if there is none. */
  load(id: number): string | null;
  /** Saves the state as of the call, or as of the time when it is written. */
  save(id: number, state: LiveState): Promise<void>;
  forget(id: number): Promise<void>;
  ids(): readonly number[];
  /** The name of the file or key with the state, for messages to the operator. */
  nameOf(id: number): string;
  /**
   * The state of a webhook to which another host delivers, as far as it is kept.
   *
   * @throws CatalogError `log_unavailable`.
   */
  latest(id: number): Promise<string | null>;
}

/** Where the secrets of webhooks come from. */
export interface Secrets {
  /** The id of the key. @throws CatalogError `key_file`. */
  id(): Promise<string>;
  /** @throws CatalogError `key_file`. */
  secretOf(webhook: Pick<Webhook, 'id' | 'created' | 'key'>): string;
}
