/**
 * The shared log in etcd.
 *
 *     head                          "124:<digest>": the last change set
 *     origin                        "0:<digest>": where the history of the log begins
 *     changes/000000000124          a line of JSON, then the bytes of the change set
 *     parts/000000000124/<digest>/0 the bytes of a change set that is too large for one request
 *
 * One transaction compares `head` and puts `changes/N` and `head`. It compares the head rather than
 * the absence of `changes/N`, because old change sets are removed.
 *
 * Parts are put before the transaction. Those of a failed append are removed with the change sets
 * of their numbers.
 */
import * as v from 'valibot';
import { CatalogError } from '../../errors.ts';
import { FIRST_FAULT } from '../../json/first-fault.ts';
import type { Appended, ChangeLog, LogPosition } from '../../store/change-log.ts';
import type { EncodedChangeSet } from '../../store/change-set.ts';
import { SCHEMA_VERSION } from '../../store/files/schema.ts';
import type { EtcdClient } from './etcd-client.ts';
import { type RequestOp, transact, type TransactionResult } from './etcd-keys.ts';
import { followKey } from './etcd-watch.ts';

/** Bytes of one value. A request of etcd may have 1.5 MiB, and base64 adds a third. */
const PART_BYTES = 512 * 1024;

/** Bytes of the largest change set. */
const MAX_BYTES = 64 * 1024 * 1024;

const MAX_PARTS = MAX_BYTES / PART_BYTES;

/** Change sets that one request reads, if the network carries them in the time of one call. */
const READ_LIMIT = 16;

/** Bytes after which a read takes no further change set: all of them are in memory together. */
const READ_BYTES = READ_LIMIT * PART_BYTES;

/** The end of all keys that begin with `changes/`. */
const CHANGES_END = 'changes0';

const HEAD = 'head';
const ORIGIN = 'origin';

/**
 * The head of a log whose keys were removed: it answers, and ends before whatever a host has. A read
 * of it says what is wrong.
 */
const EMPTIED: LogPosition = { sequence: -1, digest: '' };

/** The first line of a change set in the log. */
const headerShape = v.object({
  /** The schema version of the program that made it. */
  schema: v.pipe(v.number(), v.safeInteger()),
  digest: v.string(),
  /** How many keys hold its bytes; 0 if they follow the header. */
  parts: v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(MAX_PARTS)),
});

type Header = v.InferOutput<typeof headerShape>;

interface Entry extends Header {
  readonly bytes: Buffer;
}

export class EtcdLog implements ChangeLog {
  readonly #client: EtcdClient;
  readonly #schema: number;
  /** Fewer after a failure: a request that is too large for a slow network would fail forever. */
  #readLimit = READ_LIMIT;

  /** @param schema the schema version of this program. */
  constructor(client: EtcdClient, schema = SCHEMA_VERSION) {
    this.#client = client;
    this.#schema = schema;
  }

  /**
   * Starts the log at a position, unless it exists already.
   *
   * @returns where the history of the log begins, and its head.
   * @throws CatalogError `log_unavailable`.
   */
  async begin(position: LogPosition): Promise<{ origin: LogPosition; head: LogPosition }> {
    const text = encodePosition(position);
    await transact(
      this.#client,
      [{ key: HEAD, revision: '0' }],
      [
        { put: HEAD, value: text },
        { put: ORIGIN, value: text },
      ],
    );
    const begun = await this.positions();
    if (begun === null) throw lost();
    return begun;
  }

  /**
   * @returns where the history of the log begins, and its head; null if there is no log.
   * @throws CatalogError `log_unavailable`.
   */
  async positions(): Promise<{ origin: LogPosition; head: LogPosition } | null> {
    const { found } = await transact(this.#client, [], [{ get: HEAD }, { get: ORIGIN }]);
    const [head, origin] = [found[0]?.[0], found[1]?.[0]];
    if (head === undefined || origin === undefined) return null;
    return { head: decodePosition(head.value), origin: decodePosition(origin.value) };
  }

  async head(): Promise<LogPosition> {
    const positions = await this.positions();
    if (positions === null) throw lost();
    return positions.head;
  }

  /** @returns the digest of a change set; null if the log does not keep it. */
  async digestAt(sequence: number): Promise<string | null> {
    const { found } = await transact(this.#client, [], [{ get: changeKey(sequence) }]);
    const entry = found[0]?.[0];
    return entry === undefined ? null : decodeEntry(entry.value).digest;
  }

  async append({ changeSet, bytes }: EncodedChangeSet): Promise<Appended> {
    const { sequence, previous, digest } = changeSet;
    const parts = await this.#putParts(sequence, digest, bytes);
    const header: Header = { schema: this.#schema, digest, parts };
    const line = Buffer.from(`${JSON.stringify(header)}\n`);
    const key = changeKey(sequence);
    const { succeeded, found } = await transact(
      this.#client,
      [{ key: HEAD, value: encodePosition({ sequence: sequence - 1, digest: previous }) }],
      [
        { put: key, value: parts === 0 ? Buffer.concat([line, bytes]) : line },
        { put: HEAD, value: encodePosition({ sequence, digest }) },
      ],
      [{ get: HEAD }, { get: key }],
    );
    if (succeeded) return 'appended';
    const [head, there] = [found[0]?.[0], found[1]?.[0]];
    if (head === undefined) throw lost();
    if (there !== undefined) {
      return decodeEntry(there.value).digest === digest ? 'appended' : 'conflict';
    }
    const last = decodePosition(head.value);
    if (last.sequence >= sequence) throw gone(sequence);
    throw behind(last, sequence - 1);
  }

  async read(after: number, most = Number.POSITIVE_INFINITY): Promise<readonly Uint8Array[]> {
    const found = await this.#readFrom(changeKey(after + 1), most);
    const [kvs = [], [head] = []] = found;
    if (head === undefined) throw lost();
    const last = decodePosition(head.value);
    if (last.sequence < after) throw behind(last, after);
    if (last.sequence === after) return [];
    if (kvs[0]?.key !== changeKey(after + 1)) throw gone(after + 1);
    const read: Uint8Array[] = [];
    let size = 0;
    for (const [index, kv] of kvs.entries()) {
      const sequence = after + 1 + index;
      if (size >= READ_BYTES || kv.key !== changeKey(sequence)) break;
      const entry = decodeEntry(kv.value);
      if (entry.schema > this.#schema) {
        if (read.length > 0) break;
        throw newer(sequence, entry.schema, this.#schema);
      }
      const bytes = entry.parts === 0 ? entry.bytes : await this.#readParts(sequence, entry);
      read.push(bytes);
      size += bytes.length;
    }
    return read;
  }

  /** @returns keys and values from `key` on, at most so many, and the head. */
  async #readFrom(key: string, most: number): Promise<TransactionResult['found']> {
    const limit = Math.min(this.#readLimit, most);
    const range = { get: key, end: CHANGES_END, limit };
    try {
      const { found } = await transact(this.#client, [], [range, { get: HEAD }]);
      this.#readLimit = Math.max(this.#readLimit, Math.min(limit + 1, READ_LIMIT));
      return found;
    } catch (error) {
      this.#readLimit = Math.ceil(limit / 2);
      throw error;
    }
  }

  follow(listener: (head: LogPosition | null) => void): () => Promise<void> {
    return followKey(this.#client, HEAD, {
      decode: decodePosition,
      ask: async () => (await this.positions())?.head ?? EMPTIED,
      listener,
    });
  }

  /** @param from the lowest that may be left: etcd would look at all that was removed before. */
  async trim(below: number, from = 0): Promise<void> {
    const remove: RequestOp[] = [
      { remove: changeKey(from), end: changeKey(below) },
      { remove: 'parts/', end: `parts/${padded(below)}` },
    ];
    await transact(this.#client, [], remove);
  }

  /** @returns the number of parts; 0 if the bytes fit into the change set's own key. */
  async #putParts(sequence: number, digest: string, bytes: Uint8Array): Promise<number> {
    if (bytes.length <= PART_BYTES) return 0;
    if (bytes.length > MAX_BYTES) {
      const size = `${bytes.length} bytes, and the log takes at most ${MAX_BYTES}`;
      throw new CatalogError(
        'body_too_large',
        `the change set has ${size}; write fewer rows at once`,
      );
    }
    const count = Math.ceil(bytes.length / PART_BYTES);
    for (let nth = 0; nth < count; nth += 1) {
      const value = bytes.subarray(nth * PART_BYTES, (nth + 1) * PART_BYTES);
      await transact(this.#client, [], [{ put: partKey(sequence, digest, nth), value }]);
    }
    return count;
  }

  async #readParts(sequence: number, { digest, parts }: Header): Promise<Buffer> {
    const read: Buffer[] = [];
    for (let nth = 0; nth < parts; nth += 1) {
      const { found } = await transact(this.#client, [], [{ get: partKey(sequence, digest, nth) }]);
      const part = found[0]?.[0];
      if (part === undefined) throw gone(sequence);
      read.push(part.value);
    }
    return Buffer.concat(read);
  }
}

function padded(sequence: number): string {
  return String(sequence).padStart(12, '0');
}

function changeKey(sequence: number): string {
  return `changes/${padded(sequence)}`;
}

function partKey(sequence: number, digest: string, nth: number): string {
  return `parts/${padded(sequence)}/${digest}/${nth}`;
}

function encodePosition({ sequence, digest }: LogPosition): string {
  return `${sequence}:${digest}`;
}

const POSITION = /^(\d{1,16}):([0-9a-f]{64})$/;

function decodePosition(value: Buffer): LogPosition {
  const [, sequence, digest] = POSITION.exec(value.toString()) ?? [];
  if (sequence === undefined || digest === undefined) throw damaged('head');
  return { sequence: Number(sequence), digest };
}

function decodeEntry(value: Buffer): Entry {
  const end = value.indexOf('\n');
  try {
    const header: unknown = JSON.parse(value.toString('utf8', 0, end));
    return { ...v.parse(headerShape, header, FIRST_FAULT), bytes: value.subarray(end + 1) };
  } catch {
    throw damaged('a change set');
  }
}

function damaged(what: string): CatalogError {
  return new CatalogError('store_damaged', `${what} in the log is damaged`);
}

function lost(): CatalogError {
  return new CatalogError(
    'history_differs',
    'the log in etcd is empty: its keys were removed, or the prefix is another one',
  );
}

function gone(sequence: number): CatalogError {
  return new CatalogError(
    'history_gone',
    `the log does not keep change set ${sequence} any more, and this host needs it; empty its data directory, and start it again to fetch a base from another host`,
  );
}

function behind(last: LogPosition, sequence: number): CatalogError {
  return new CatalogError(
    'history_differs',
    `this host is at change set ${sequence}, and the log ends at ${last.sequence}: the log has lost change sets, or is of another history`,
  );
}

function newer(sequence: number, schema: number, own: number): CatalogError {
  return new CatalogError(
    'schema_version',
    `change set ${sequence} of the log is of schema version ${schema}, and this program knows ${own}; install the newer program on this host`,
  );
}
