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

/**
 * @param enough bytes after which the rest is not read; all are read if it is left out.
 * @returns the bytes of an object in one piece.
 */
export async function wholeOf(
  pieces: AsyncIterable<Uint8Array>,
  enough = Number.POSITIVE_INFINITY,
): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const piece of pieces) {
    // Copies, because the owner of a piece may use its memory again.
    parts.push(Buffer.from(piece));
    size += piece.length;
    if (size >= enough) break;
  }
  return Buffer.concat(parts);
}
