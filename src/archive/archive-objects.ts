/** The objects of one archive: what they contain, encrypted if the archive has a key. */
import * as v from 'valibot';
import { decrypted, encrypted } from '../encryption/encrypted-stream.ts';
import { keyId } from '../encryption/key-file.ts';
import { CatalogError, messageOf } from '../errors.ts';
import { FIRST_FAULT } from '../json/first-fault.ts';
import {
  type ArchivedBase,
  type ArchivedChanges,
  BASES,
  CHANGES,
  gapName,
  GAPS,
  MANIFEST,
  namesBefore,
  parseBaseName,
  parseChangesName,
  PRIVATE,
  WRITER,
} from './names.ts';
import { inTurns } from '../slices.ts';
import { allOf, bounded, wholeOf } from '../streams.ts';
import { plain } from './content.ts';
import type { ObjectStore } from './storage/object-store.ts';

/** Change sets of one object at most, so that a listing can begin shortly before a sequence. */
export const MAX_CHANGE_SETS = 1000;

/** Bytes of the manifest and of the claim: anyone who can write to the bucket can replace them. */
const MAX_JSON_BYTES = 4096;

/** Bytes of the accounts and keys: 100,000 accounts and revocations take some 20 MB. */
const MAX_PRIVATE_BYTES = 64 * 1024 * 1024;

/** Bytes of an object of change sets. A server could not have made one that is larger. */
const MAX_CHANGES_BYTES = 2 * 1024 * 1024 * 1024;

/**
 * Names of bases, or of gaps. A server that removes none makes so many bases in 250 million commits.
 */
const MAX_NAMES = 250_000;

const manifestShape = v.object({
  format: v.literal(1),
  /** A random id of this archive. */
  id: v.pipe(v.string(), v.minLength(1)),
  /** The id of the key; null if the archive is not encrypted. */
  key: v.nullable(v.string()),
});

export type Manifest = v.InferOutput<typeof manifestShape>;

const writerShape = v.object({ writer: v.string() });

export class ArchiveObjects {
  readonly #store: ObjectStore;
  readonly #key: Uint8Array | null;
  readonly #maxChangesBytes: number;

  /**
   * @param key of an encrypted archive, 32 bytes; null for one that is not.
   * @param maxChangesBytes {@link MAX_CHANGES_BYTES} if left out.
   */
  constructor(store: ObjectStore, key: Uint8Array | null, maxChangesBytes = MAX_CHANGES_BYTES) {
    this.#store = store;
    this.#key = key;
    this.#maxChangesBytes = maxChangesBytes;
  }

  get url(): string {
    return this.#store.url;
  }

  /**
   * @returns null if there is none: there is no archive, or it has lost this object.
   * @throws CatalogError `encryption` if the key of the archive is not the given one, or only one
   *   side has a key; `archive_failed`.
   */
  async manifest(): Promise<Manifest | null> {
    const manifest = await this.#json(
      MANIFEST,
      manifestShape,
      'if no later version of the program wrote it, move it away and try again',
    );
    if (manifest === null) await this.#requireKeyOfBases();
    else this.#requireKey(manifest.key);
    return manifest;
  }

  async createManifest(id: string): Promise<void> {
    const key = this.#key === null ? null : keyId(this.#key);
    await this.#putJson(MANIFEST, { format: 1, id, key } satisfies Manifest);
  }

  /** @returns the id of the server that claimed the archive last; null if none has. */
  async writer(): Promise<string | null> {
    return (
      (await this.#json(WRITER, writerShape, 'restart the server, which writes it again'))
        ?.writer ?? null
    );
  }

  async claim(writer: string): Promise<void> {
    await this.#putJson(WRITER, { writer });
  }

  /** All bases, by ascending sequence and schema. */
  async bases(): Promise<ArchivedBase[]> {
    return (await this.#names(BASES)).map((name) => {
      const base = parseBaseName(name);
      if (base === null) throw foreign(`${this.url}: ${BASES}/${name}`);
      return base;
    });
  }

  /** The objects that contain change sets after `sequence`, by their first change set. */
  async *changesAfter(sequence: number): AsyncGenerator<ArchivedChanges> {
    // A name begins with the first change set of its object, which may be before `sequence`.
    for await (const name of this.#list(CHANGES, namesBefore(sequence - MAX_CHANGE_SETS))) {
      const changes = parseChangesName(name);
      if (changes === null) throw foreign(`${this.url}: ${CHANGES}/${name}`);
      if (changes.last > sequence) yield changes;
    }
  }

  async putBase(name: string, slices: AsyncIterable<Uint8Array>): Promise<void> {
    const content = this.#key === null ? slices : encrypted(this.#key, slices);
    await this.#reaching(() => this.#store.putStream(`${BASES}/${name}`, content));
  }

  async putChanges(name: string, lines: readonly Uint8Array[]): Promise<void> {
    await this.#put(`${CHANGES}/${name}`, lines);
  }

  /** Notes that the change sets after this one, up to the next base, are not in the archive. */
  async putGap(sequence: number): Promise<void> {
    await this.#putJson(`${GAPS}/${gapName(sequence)}`, { after: sequence });
  }

  /** @returns the change sets after which some are missing. */
  async gaps(): Promise<ReadonlySet<number>> {
    return new Set((await this.#names(GAPS)).map(Number));
  }

  async putPrivate(content: Uint8Array): Promise<void> {
    await this.#put(PRIVATE, [content]);
  }

  /** @throws CatalogError `archive_failed`, `encryption`, while it is read. */
  readBase({ name }: Pick<ArchivedBase, 'name'>): AsyncGenerator<Uint8Array> {
    return this.#read(`${BASES}/${name}`);
  }

  /** @throws CatalogError `archive_failed`, `encryption`. */
  readChanges({ name }: Pick<ArchivedChanges, 'name'>): Promise<Buffer> {
    const object = `${CHANGES}/${name}`;
    return this.#whole(object, this.#read(object), this.#maxChangesBytes);
  }

  /** @returns null if there is none. @throws CatalogError `archive_failed`, `encryption`. */
  async readPrivate(): Promise<Buffer | null> {
    const stream = await this.#get(PRIVATE);
    if (stream === null) return null;
    return this.#whole(PRIVATE, this.#content(PRIVATE, stream), MAX_PRIVATE_BYTES);
  }

  async removeBase({ name }: ArchivedBase): Promise<void> {
    await this.#reaching(() => this.#store.remove(`${BASES}/${name}`));
  }

  async removeChanges({ name }: ArchivedChanges): Promise<void> {
    await this.#reaching(() => this.#store.remove(`${CHANGES}/${name}`));
  }

  async *#read(name: string): AsyncGenerator<Uint8Array> {
    const stream = await this.#get(name);
    if (stream === null) throw failed(`${this.url}: ${name} is missing`);
    yield* this.#content(name, stream);
  }

  async *#content(name: string, stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const content = this.#key === null ? plain(name, stream) : decrypted(this.#key, name, stream);
    try {
      yield* content;
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /** Anyone who can write to the bucket can put another object in the place of one. */
  #whole(name: string, content: AsyncIterable<Uint8Array>, limit: number): Promise<Buffer> {
    const tooLong = () => failed(`${this.url}: ${name} has more than ${limit} bytes`);
    return wholeOf(bounded(content, limit, tooLong));
  }

  #get(name: string): Promise<AsyncIterable<Uint8Array> | null> {
    return this.#reaching(() => this.#store.get(name));
  }

  async #put(name: string, content: readonly Uint8Array[]): Promise<void> {
    // In turns, because a change set may have tens of megabytes.
    const stored =
      this.#key === null ? content : await Array.fromAsync(inTurns(encrypted(this.#key, content)));
    await this.#reaching(() => this.#store.put(name, Buffer.concat(stored)));
  }

  async #putJson(name: string, value: object): Promise<void> {
    const bytes = Buffer.from(`${JSON.stringify(value)}\n`);
    await this.#reaching(() => this.#store.put(name, bytes));
  }

  async #json<const S extends v.GenericSchema>(
    name: string,
    shape: S,
    advice: string,
  ): Promise<v.InferOutput<S> | null> {
    const stream = await this.#get(name);
    if (stream === null) return null;
    const invalid = (why: string, cause?: unknown) =>
      failed(
        `${this.url}: ${name} is not valid in an archive of this version (${why}); ${advice}`,
        cause,
      );
    const tooLong = () => invalid(`more than ${MAX_JSON_BYTES} bytes`);
    const bytes = await this.#reaching(() => wholeOf(bounded(stream, MAX_JSON_BYTES, tooLong)));
    try {
      return v.parse(shape, JSON.parse(bytes.toString()), FIRST_FAULT);
    } catch (cause) {
      throw invalid(messageOf(cause), cause);
    }
  }

  async #names(folder: string): Promise<string[]> {
    const tooMany = () => failed(`${this.url}: ${folder}/ lists more than ${MAX_NAMES} objects`);
    return allOf(this.#list(folder, ''), MAX_NAMES, tooMany);
  }

  async *#list(folder: string, after: string): AsyncGenerator<string> {
    try {
      yield* this.#store.list(folder, after);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  async #reaching<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw this.#failure(error);
    }
  }

  #failure(cause: unknown): CatalogError {
    if (cause instanceof CatalogError) return cause;
    return failed(`${this.url} cannot be reached: ${messageOf(cause)}`, cause);
  }

  #requireKey(id: string | null): void {
    const own = this.#key === null ? null : keyId(this.#key);
    if (id === own) return;
    const { url } = this;
    if (id === null) throw keyError(`${url} is not encrypted; leave out --archive-key`);
    if (own === null) throw keyError(`${url} is encrypted; name its key with --archive-key`);
    throw keyError(
      `${url} is encrypted with the key ${id}, not with ${own}; name that key with --archive-key`,
    );
  }

  /** Without this, a server could continue an encrypted archive in plain text. */
  async #requireKeyOfBases(): Promise<void> {
    const newest = (await this.bases()).at(-1);
    if (newest === undefined) return;
    const pieces = this.readBase(newest);
    await pieces.next();
    await pieces.return(undefined);
  }
}

function failed(message: string, cause?: unknown): CatalogError {
  return new CatalogError('archive_failed', message, { cause });
}

function keyError(message: string): CatalogError {
  return new CatalogError('encryption', message);
}

function foreign(name: string): CatalogError {
  return failed(`${name} is not an object of an archive; move it away`);
}
