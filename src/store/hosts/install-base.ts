/**
 * Installs a base of another host as the base of a directory: as a new store, or as one that
 * continues from a later change set.
 *
 * Order of steps: if there is no store, write a head that names change set 0, which a start treats
 * as an interrupted creation; write the base under a temporary name; verify its checksum; rename
 * it. The rename is the commit point. After it, the old head names an older change set, as after a
 * power loss, and the old change sets are before a gap, so that the next start removes them.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import * as v from 'valibot';
import { DATA_FILES } from '../../data-files.ts';
import type { Disk } from '../../disk/disk.ts';
import { DurableFile, withOpen } from '../../disk/durable-file.ts';
import { laterSchema } from '../files/base.ts';
import { shapes } from '../files/change-set.ts';
import { makeDirectories, writeHead } from '../files/create.ts';
import { damaged, parseShape, requireDigest } from '../files/files.ts';
import { ChecksumAtEnd, checksumIn } from '../../json/checksum.ts';
import { recover } from '../files/recovery.ts';
import { SCHEMA_VERSION } from '../files/schema.ts';

/** Bytes of the first line of a base: its members before the tables. */
const MAX_HEAD_BYTES = 64 * 1024;

const headShape = v.object({
  schema: v.pipe(v.number(), v.safeInteger()),
  sequence: shapes.count,
  previous: shapes.digest,
});

/** A base that was received whole. */
export interface ReceivedBase {
  readonly sequence: number;
  /** The digest of that change set. */
  readonly digest: string;
  /** Moves it into place, durably. The directory must not be open as a store. */
  install(): Promise<void>;
  /** Removes it, unless it is in its place. */
  abandon(): Promise<void>;
}

/**
 * Receives a base into a temporary file of the directory, in constant memory.
 *
 * @param pieces of any length, in order.
 * @param onProgress is called with the bytes so far.
 * @throws CatalogError `store_damaged`, `schema_version`; what the disk and `pieces` throw.
 */
export async function receiveBase(
  disk: Disk,
  directory: string,
  pieces: AsyncIterable<Uint8Array>,
  onProgress: (bytes: number) => void,
): Promise<ReceivedBase> {
  await makeDirectories(disk, directory);
  const file = await DurableFile.create(disk, directory);
  try {
    const verifier = new BaseVerifier();
    for await (const piece of pieces) {
      verifier.take(piece);
      file.write(piece);
      onProgress(verifier.size);
      if (file.isFlushDue) await file.flush();
    }
    const { sequence, previous: digest } = verifier.end();
    await file.finish();
    return {
      sequence,
      digest,
      abandon: () => file.abandon(),
      install: () =>
        withOpen(disk, directory, async (fd) => {
          if (disk.size(join(directory, DATA_FILES.head)) === null) {
            await writeHead(disk, directory, { sequence: 0, digest });
          }
          await file.publish(join(directory, DATA_FILES.base), fd);
        }),
    };
  } catch (error) {
    await file.abandon();
    throw error;
  }
}

/**
 * @returns whether a start would create a store in a directory: it has none, or only the remains of
 *   an interrupted creation.
 * @throws CatalogError `store_damaged`, `store_unreadable` if a part of a store is there.
 */
export function isVacant(directory: string, disk: Disk): boolean {
  return disk.size(join(directory, DATA_FILES.base)) === null && recover(disk, directory) === null;
}

/** Computes the checksum and reads the first line of a base as its bytes pass. */
class BaseVerifier {
  readonly #hash = createHash('sha256');
  #line: Buffer | null = Buffer.alloc(0);
  #head: v.InferOutput<typeof headShape> | null = null;
  readonly #checksum = new ChecksumAtEnd();
  size = 0;

  take(piece: Uint8Array): void {
    this.size += piece.length;
    if (this.#line !== null) this.#readHead(piece);
    // A copy, because the owner of the piece may use its memory again.
    for (const content of this.#checksum.take(Buffer.from(piece))) this.#hash.update(content);
  }

  /** @throws CatalogError `store_damaged`. */
  end(): { readonly sequence: number; readonly previous: string } {
    const stated = checksumIn(this.#checksum.bytes);
    if (stated === undefined || this.#head === null) throw broken('it is cut off');
    requireDigest(SENT, this.#hash.digest('hex'), stated);
    return this.#head;
  }

  #readHead(piece: Uint8Array): void {
    const line = Buffer.concat([this.#line ?? Buffer.alloc(0), piece]);
    const end = line.indexOf('\n');
    this.#line = end < 0 ? line : null;
    if (line.length > MAX_HEAD_BYTES && (end < 0 || end > MAX_HEAD_BYTES)) {
      throw broken('its first line is too long');
    }
    if (end < 0) return;
    const head = parseShape(SENT, headShape, parseHead(line.toString('utf8', 0, end)));
    if (head.schema > SCHEMA_VERSION) throw laterSchema(SENT, head.schema);
    this.#head = head;
  }
}

const SENT = 'the base that the other host has sent';

function broken(what: string) {
  return damaged(SENT, what);
}

/** The first line ends with `"tables":{`. */
function parseHead(line: string): unknown {
  try {
    return JSON.parse(`${line}}}`);
  } catch {
    throw broken('its first line is not that of a base');
  }
}
