/**
 * An archive in a bucket of an S3-compatible store, through Bun's client.
 *
 * Every call has a deadline, because the client waits for minutes on a connection that is open and
 * silent. A call cannot be cancelled, and may complete after its deadline. That does no harm,
 * because what it stores is the same. Large objects are sent in parts, each with a deadline of its
 * own. So they take as long as they need, and at most one part is still being sent when the object
 * is sent again.
 */
import { S3Client, type S3Options } from 'bun';
import { withTimeout } from '../../delay.ts';
import { messageOf } from '../../errors.ts';
import type { ObjectStore } from './object-store.ts';

/** Milliseconds for a call, or for a stream to deliver another {@link STRETCH_BYTES}. */
const DEADLINE_MS = 30_000;

/** Bytes of an object after which the deadline starts again: a trickle is not progress. */
const STRETCH_BYTES = 256 * 1024;

/** Bytes of the parts of an object that has more bytes; it may have 10,000 parts. */
const PART_BYTES = 8 * 1024 * 1024;

/** Names that one call lists at most. */
const PAGE = 1000;

export interface S3Place {
  readonly bucket: string;
  /** "" or a path that ends with a slash. */
  readonly prefix: string;
}

/** Options for a single attempt: the archive itself retries, with growing delays. */
const ONCE = { retry: 0 } as const;

/**
 * @param credentials endpoint, region and keys, as Bun's client takes them.
 * @param deadlineMs {@link DEADLINE_MS} if left out.
 */
export function s3Store(
  { bucket, prefix }: S3Place,
  credentials: S3Options,
  deadlineMs = DEADLINE_MS,
): ObjectStore {
  const client = new S3Client({ ...credentials, bucket });
  const timed = <T>(what: string, call: Promise<T>) => beforeDeadline(what, call, deadlineMs);

  async function* list(folder: string, after: string): AsyncGenerator<string> {
    const start = `${prefix}${folder}/`;
    let last = `${start}${after}`;
    for (;;) {
      const query = { prefix: start, startAfter: last, maxKeys: PAGE };
      const page = await timed(`a list of ${folder}/`, client.list(query));
      for (const { key } of page.contents ?? []) {
        // If a store ignores `startAfter`, the listing would never end.
        if (!isAfter(key, last)) throw unordered(folder, last, key);
        last = key;
        yield key.slice(start.length);
      }
      if (page.isTruncated !== true || !page.contents?.length) return;
    }
  }

  /** @param pieces each at most a part. */
  async function putStream(
    name: string,
    pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  ): Promise<void> {
    const options = { ...ONCE, partSize: PART_BYTES, queueSize: 1 };
    const writer = client.file(`${prefix}${name}`).writer(options);
    // If the pieces fail, the upload is not completed, so that no object appears.
    for await (const piece of pieces) {
      await writer.write(piece);
      await timed(`a write of ${name}`, Promise.resolve(writer.flush()));
    }
    await timed(`a write of ${name}`, Promise.resolve(writer.end()));
  }

  return {
    url: `s3://${bucket}/${prefix}`,
    list,
    putStream,
    async put(name, bytes) {
      if (bytes.length > PART_BYTES) return putStream(name, partsOf(bytes));
      await timed(`a write of ${name}`, client.write(`${prefix}${name}`, bytes, ONCE));
    },
    async get(name) {
      const stream = client.file(`${prefix}${name}`).stream().getReader();
      const what = `a read of ${name}`;
      const first = await timed(what, stream.read().catch(absentAsNull));
      return first === null ? null : rest(what, first, stream, deadlineMs);
    },
    async remove(name) {
      await timed(`a removal of ${name}`, client.delete(`${prefix}${name}`));
    },
  };
}

function* partsOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PART_BYTES) {
    yield bytes.subarray(at, at + PART_BYTES);
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

type Reader = Pick<ReadableStreamDefaultReader, 'cancel'> & { read(): Promise<Read> };
interface Read {
  readonly done: boolean;
  readonly value?: Uint8Array | undefined;
}

/** The pieces of a stream. The time that the caller takes for a piece does not count. */
async function* rest(
  what: string,
  first: Read,
  stream: Reader,
  deadlineMs: number,
): AsyncGenerator<Uint8Array> {
  let [bytes, waited] = [0, 0];
  try {
    for (let read = first; !read.done; ) {
      if (read.value !== undefined) {
        bytes += read.value.length;
        yield read.value;
      }
      if (bytes >= STRETCH_BYTES) [bytes, waited] = [0, 0];
      const begun = performance.now();
      const left = Math.max(deadlineMs - waited, 0);
      read = await beforeDeadline(what, stream.read(), left, () =>
        bytes === 0
          ? unanswered(what, deadlineMs)
          : `${what} received only ${bytes} bytes in ${deadlineMs / 1000} s, which is too slow`,
      );
      waited += performance.now() - begun;
    }
  } finally {
    // A stream that has failed rejects again here.
    await stream.cancel().catch(() => {});
  }
}

function absentAsNull(error: unknown): null {
  const { code } = error as { readonly code?: string };
  if (code === 'NoSuchKey') return null;
  throw error;
}

/** @throws Error that says what failed and why; also once the time is over. */
function beforeDeadline<T>(
  what: string,
  call: Promise<T>,
  ms: number,
  lateness = () => unanswered(what, ms),
): Promise<T> {
  const answer = call.catch((error) => refuse(what, error));
  return withTimeout(answer, ms, () => {
    throw new Error(lateness());
  });
}

function unanswered(what: string, ms: number): string {
  return `${what} was not answered within ${ms / 1000} s`;
}

/** The message of Bun's client, which omits the status, for a response without S3's XML. */
const UNEXPLAINED = 'an unexpected error has occurred';

/** @throws Error with the code of S3 or of the connection, which may be all that is known. */
function refuse(what: string, cause: unknown): never {
  const { code = '' } = cause as { readonly code?: string };
  const message = messageOf(cause);
  const reason =
    message === UNEXPLAINED && code === 'UnknownError'
      ? 'the response was an error without a reason; check the address, the proxy if HTTP_PROXY is set, and the log of the object store'
      : `${message} (${code})`;
  throw new Error(`${what} failed: ${reason}`, { cause });
}
