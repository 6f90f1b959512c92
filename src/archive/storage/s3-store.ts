/**
 * An archive in a bucket of an S3-compatible store.
 *
 * Every call has a deadline. Whether a call that fails took effect is not known; that does no harm,
 * because what it stores is the same when it is repeated. Large objects are sent in parts, each with
 * a deadline of its own, so they take as long as they need.
 */
import { withTimeout } from '../../delay.ts';
import { messageOf } from '../../errors.ts';
import { following, piecesOf } from '../../streams.ts';
import type { ObjectStore } from './object-store.ts';
import { type S3Access, S3Client, type S3Request } from './s3-client.ts';
import {
  isCompleted,
  type ListPage,
  parseError,
  parseList,
  parseUpload,
  reasonOf,
} from './s3-xml.ts';

/** Milliseconds for a call, or for a stream to deliver another {@link STRETCH_BYTES}. */
const DEADLINE_MS = 30_000;

/** Bytes of an object after which the deadline starts again: a trickle is not progress. */
const STRETCH_BYTES = 256 * 1024;

/** Bytes of the parts of an object that has more bytes; it may have 10,000 parts. */
const PART_BYTES = 8 * 1024 * 1024;

/**
 * Deadlines within which a store has to make an object of its parts. S3 says that it may take some
 * minutes; if the time were over earlier, every attempt would send all parts in vain.
 */
const COMPLETION_PATIENCE = 10;

/** Names that one call lists at most. */
const PAGE = 1000;

/** Pages in a row without a name, after which a list fails. */
const MAX_EMPTY_PAGES = 100;

export interface S3Place {
  readonly bucket: string;
  /** "" or a path that ends with a slash. */
  readonly prefix: string;
}

type Parts = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/**
 * @param deadlineMs {@link DEADLINE_MS} if left out.
 * @throws CatalogError `usage` if the endpoint or the region is not one.
 */
export function s3Store(place: S3Place, access: S3Access, deadlineMs = DEADLINE_MS): ObjectStore {
  return new S3Store(place, new S3Client(place.bucket, access, deadlineMs), deadlineMs);
}

class S3Store implements ObjectStore {
  readonly url: string;
  readonly #prefix: string;
  readonly #client: S3Client;
  readonly #deadlineMs: number;

  constructor({ bucket, prefix }: S3Place, client: S3Client, deadlineMs: number) {
    this.url = `s3://${bucket}/${prefix}`;
    this.#prefix = prefix;
    this.#client = client;
    this.#deadlineMs = deadlineMs;
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    if (bytes.length > PART_BYTES) await this.#putParts(name, piecesOf(bytes, PART_BYTES));
    else await this.#putWhole(name, bytes);
  }

  async putStream(name: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    const parts = gathered(pieces);
    const next = await parts.next();
    const first = next.done === true ? Buffer.alloc(0) : next.value;
    if (first.length < PART_BYTES) await this.#putWhole(name, first);
    else await this.#putParts(name, following(first, parts));
  }

  async get(name: string): Promise<AsyncIterable<Uint8Array> | null> {
    const what = `a read of ${name}`;
    const ending = new AbortController();
    try {
      const request = { what, method: 'GET', key: this.#prefix + name } as const;
      const body = await this.#client.open(request, ending.signal);
      return body === null ? null : contentOf(what, body, ending, this.#deadlineMs);
    } catch (error) {
      ending.abort();
      throw error;
    }
  }

  async *list(folder: string, after: string): AsyncGenerator<string> {
    const start = `${this.#prefix}${folder}/`;
    let last = `${start}${after}`;
    let token: string | null = null;
    for (let empty = 0; empty < MAX_EMPTY_PAGES; empty += 1) {
      const from = token === null ? { 'start-after': last } : { 'continuation-token': token };
      const page: ListPage = await this.#page(folder, from);
      for (const key of page.keys) {
        // If a store ignores `start-after`, the listing would never end.
        if (!isAfter(key, last)) throw unordered(folder, last, key);
        if (!key.startsWith(start)) throw notBelow(folder, start, key);
        last = key;
        yield key.slice(start.length);
      }
      if (!page.isTruncated) return;
      // A store that skips many deleted objects may send a page without keys.
      token = page.keys.length === 0 ? page.token : null;
      if (page.keys.length > 0) empty = -1;
      else if (token === null) break;
    }
    throw new Error(`a list of ${folder}/ failed: the store says that keys follow, and sends none`);
  }

  async remove(name: string): Promise<void> {
    const what = `a removal of ${name}`;
    await this.#client.send({ what, method: 'DELETE', key: this.#prefix + name });
  }

  async #page(folder: string, from: Readonly<Record<string, string>>): Promise<ListPage> {
    const what = `a list of ${folder}/`;
    const prefix = `${this.#prefix}${folder}/`;
    const query = { 'list-type': '2', 'max-keys': `${PAGE}`, prefix, ...from };
    const { text } = await this.#client.send({ what, method: 'GET', key: '', query });
    return understood(what, () => parseList(text));
  }

  async #putWhole(name: string, body: Uint8Array): Promise<void> {
    const what = `a write of ${name}`;
    await this.#stored({ what, method: 'PUT', key: this.#prefix + name, body });
  }

  async #putParts(name: string, parts: Parts): Promise<void> {
    const to = { what: `a write of ${name}`, key: this.#prefix + name };
    const begun = await this.#client.send({ ...to, method: 'POST', query: { uploads: '' } });
    const uploadId = understood(to.what, () => parseUpload(begun.text));
    try {
      const tags: string[] = [];
      for await (const body of parts) {
        const query = { partNumber: `${tags.length + 1}`, uploadId };
        tags.push(await this.#stored({ ...to, method: 'PUT', query, body }));
      }
      const body = completion(tags);
      const made = { ...to, method: 'POST', query: { uploadId }, body } as const;
      const { text } = await this.#client.send({ ...made, patience: COMPLETION_PATIENCE });
      understood(to.what, () => requireCompleted(text));
    } catch (error) {
      // Not awaited, because a store that does not respond would delay the failure.
      const removal = { ...to, method: 'DELETE', query: { uploadId } } as const;
      void this.#client.send(removal).catch(() => {});
      throw error;
    }
  }

  /** @returns the entity tag, which every store sends, and no proxy or sign-in page before it. */
  async #stored(request: S3Request): Promise<string> {
    const tag = (await this.#client.send(request)).headers.get('etag');
    if (tag !== null) return tag;
    throw new Error(
      `${request.what} failed: the response is not that of an object store, because it has no ETag; check the address, and the proxy if HTTP_PROXY is set`,
    );
  }
}

/** @returns the bytes of the pieces in parts of equal length, except the last one. */
async function* gathered(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let [part, length] = [Buffer.allocUnsafe(PART_BYTES), 0];
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; ) {
      const taken = piece.subarray(at, at + PART_BYTES - length);
      part.set(taken, length);
      [at, length] = [at + taken.length, length + taken.length];
      if (length < PART_BYTES) continue;
      yield part;
      [part, length] = [Buffer.allocUnsafe(PART_BYTES), 0];
    }
  }
  if (length > 0) yield part.subarray(0, length);
}

/** The body of the request that makes an object of its parts. */
function completion(tags: readonly string[]): string {
  const parts = tags.map((tag, index) => {
    const etag = tag.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    return `<Part><PartNumber>${index + 1}</PartNumber><ETag>${etag}</ETag></Part>`;
  });
  return `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
}

/** @throws Error if the object was not made. */
function requireCompleted(xml: string): void {
  if (isCompleted(xml)) return;
  const error = parseError(xml);
  if (error !== null) throw new Error(reasonOf(error));
  throw new Error('the response does not say that the object is complete');
}

/** @throws Error that says what was requested. */
function understood<T>(what: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw new Error(`${what} failed: ${messageOf(cause)}`, { cause });
  }
}

/** Whether a list has a key after another one: in the order of their bytes. */
function isAfter(key: string, last: string): boolean {
  return Buffer.compare(Buffer.from(key), Buffer.from(last)) > 0;
}

function unordered(folder: string, last: string, key: string): Error {
  const what = `a list of ${folder}/ failed: after ${last} came ${key}`;
  return new Error(`${what}; the store has to list keys in order, as S3 does`);
}

function notBelow(folder: string, start: string, key: string): Error {
  return new Error(
    `a list of ${folder}/ failed: it has ${key}, which does not begin with ${start}`,
  );
}

/** The pieces of a body. The time that the caller takes for a piece does not count. */
async function* contentOf(
  what: string,
  body: NonNullable<Response['body']>,
  ending: AbortController,
  deadlineMs: number,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  let [bytes, waited] = [0, 0];
  const late = () => {
    const seconds = deadlineMs / 1000;
    const how = `received only ${bytes} bytes in ${seconds} s, which is too slow`;
    throw new Error(
      bytes === 0 ? `${what} was not answered within ${seconds} s` : `${what} ${how}`,
    );
  };
  try {
    for (;;) {
      const begun = performance.now();
      const next = reader.read().catch((cause: unknown) => {
        throw new Error(`${what} failed: ${messageOf(cause)}`, { cause });
      });
      const { done, value } = await withTimeout(next, Math.max(deadlineMs - waited, 0), late);
      if (done) return;
      waited += performance.now() - begun;
      bytes += value.length;
      if (bytes >= STRETCH_BYTES) [bytes, waited] = [0, 0];
      yield value;
    }
  } finally {
    ending.abort();
    // A stream that has failed rejects again here.
    await reader.cancel().catch(() => {});
  }
}
