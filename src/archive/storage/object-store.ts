/** The storage of an archive's objects: a bucket or a directory. */

export interface ObjectStore {
  /** The address, without credentials, for messages. */
  readonly url: string;
  /**
   * Stores an object completely or not at all. An object of the same name is replaced. If the call
   * rejects, it is not known whether the object was stored.
   *
   * @throws what the network or the file system throws.
   */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** As {@link ObjectStore.put}, in constant memory. A piece is used before the next is taken. */
  putStream(name: string, pieces: AsyncIterable<Uint8Array>): Promise<void>;
  /** @returns the bytes in pieces; null if there is no such object. */
  get(name: string): Promise<AsyncIterable<Uint8Array> | null>;
  /**
   * The names in a folder, ascending by their bytes, without the folder.
   *
   * @param after only names after this one; all if it is empty.
   */
  list(folder: string, after: string): AsyncIterable<string>;
  /** Removes an object, if it exists. */
  remove(name: string): Promise<void>;
}

/** The failure of a call to a store. */
export class StoreFailure extends Error {
  /** Milliseconds for which the store wants no further call; 0 if it does not say. */
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs = 0) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** @returns milliseconds for which a store wants no further call, by an error or its causes. */
export function requestedDelay(error: unknown): number {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof StoreFailure) return at.retryAfterMs;
  }
  return 0;
}
