/**
 * Reading a store: its owner at start, and any process at any time beside it. Every file is
 * verified, and every problem is found, so that `check` can name them all.
 */
import { join } from 'node:path';
import type { Disk } from '../../disk/disk.ts';
import { CatalogError } from '../../errors.ts';
import { type Base, decodeBase, earlierSchema } from './base.ts';
import { type ChangeSet, decodeChangeSet } from './change-set.ts';
import { type StoreState, replay } from '../state.ts';
import {
  BASE,
  changeSetName,
  damaged,
  HEAD,
  type Listing,
  listChanges,
  readFile,
  unexpectedFile,
} from './files.ts';
import { type Head, readHead } from './head.ts';
import { HEAD_SINCE, SCHEMA_VERSION } from './schema.ts';

/** What a file occupies at least: change sets are counted in blocks of this many bytes. */
const BLOCK_BYTES = 4096;

/** How often a reader starts over when files come and go under its eyes. */
const MAX_READ_ATTEMPTS = 10;

export interface Loaded {
  /** The version that the files have; the document is in the form of the current one. */
  readonly schema: number;
  readonly document: StoreState;
  readonly baseBytes: number;
  /** See {@link occupied}. */
  readonly changeBytes: number;
  /** Change sets behind the base by name, the oldest first. */
  readonly files: string[];
  /** Change sets that the base contains: a crash came before their removal. */
  readonly covered: string[];
}

export interface Inspection {
  /** Null where the directory holds no store, or none that can be read. */
  readonly loaded: Loaded | null;
  /** All that is wrong with the files, in their order. */
  readonly problems: readonly CatalogError[];
}

/** Told of every change set before the document takes it in. */
export type Replaying = (document: StoreState, changes: ChangeSet) => void;

/**
 * Reads a consistent snapshot; any process may, at any time.
 *
 * @param versions of the files that are welcome; `older` ones are for `migrate`.
 * @returns null where the directory holds no store.
 * @throws CatalogError `store_damaged`, `store_unreadable`, `schema_version`: the first problem.
 */
export function load(
  disk: Disk,
  directory: string,
  versions: 'current' | 'older' = 'current',
): Loaded | null {
  const { loaded, problems } = inspect(disk, directory);
  if (problems[0] !== undefined) throw problems[0];
  if (loaded !== null && loaded.schema !== SCHEMA_VERSION && versions === 'current') {
    throw earlierSchema(directory, loaded.schema);
  }
  return loaded;
}

/** Reads everything, and goes on behind what is damaged. */
export function inspect(disk: Disk, directory: string, replaying?: Replaying): Inspection {
  for (let attempt = 1; ; attempt += 1) {
    const inspector = new Inspector(disk, directory);
    const inspection = inspector.inspect(replaying);
    const settled = inspection.problems.length === 0 || !inspector.overtaken();
    if (settled || attempt === MAX_READ_ATTEMPTS) return inspection;
  }
}

class Inspector {
  readonly #disk: Disk;
  readonly #directory: string;
  readonly #problems: CatalogError[] = [];
  readonly #head: Head | null | undefined;
  readonly #base: Buffer | null | undefined;

  constructor(disk: Disk, directory: string) {
    this.#disk = disk;
    this.#directory = directory;
    // In this order: what the head names is there when base and change sets are read.
    this.#head = this.#attempt(() => readHead(disk, join(directory, HEAD)));
    this.#base = this.#attempt(() => readFile(disk, join(directory, BASE)));
  }

  inspect(replaying: Replaying | undefined): Inspection {
    const base = this.#decodeBase();
    const { sequences, unexpected: strangers } = this.#list();
    if (this.#base === null) this.#judgeAbsence(sequences);
    // The files of a later version are not ours to judge.
    const later = this.#problems.find(({ code }) => code === 'schema_version');
    if (later !== undefined) return { loaded: null, problems: [later] };
    this.#problems.push(...strangers.map(unexpectedFile));
    const from = base?.document.sequence ?? (sequences[0] ?? 1) - 1;
    const newest = sequences.at(-1) ?? from;
    const { files, changeBytes } = this.#follow(from, newest, base?.document ?? null, replaying);
    if (base === null) return { loaded: null, problems: this.#problems };
    const { schema, document } = base;
    if (schema >= HEAD_SINCE) this.#judgeHead(document.sequence);
    const covered = sequences.filter((sequence) => sequence <= from).map(changeSetName);
    const baseBytes = this.#base?.length ?? 0;
    const loaded = { schema, document, baseBytes, changeBytes, files, covered };
    return { loaded, problems: this.#problems };
  }

  #list(): Listing {
    const listing = this.#attempt(() => listChanges(this.#disk, this.#directory));
    return listing ?? { sequences: [], unexpected: [] };
  }

  #decodeBase(): Base | null {
    const bytes = this.#base ?? null;
    if (bytes === null) return null;
    return this.#attempt(() => decodeBase(join(this.#directory, BASE), bytes)) ?? null;
  }

  /** A checkpoint removes change sets, behind a newer base; a new store has its head first. */
  overtaken(): boolean {
    try {
      const base = readFile(this.#disk, join(this.#directory, BASE));
      const head = this.#head === null ? readFile(this.#disk, join(this.#directory, HEAD)) : null;
      if (head !== null || base === null) return head !== null || this.#base !== null;
      return this.#base?.equals(base) !== true;
    } catch {
      // What cannot be read is told already.
      return false;
    }
  }

  /** No base: then there is no store, unless something is there that only a store has. */
  #judgeAbsence(sequences: readonly number[]): void {
    // A head before the first change set is what a creation leaves that a crash has cut off.
    const answered = (this.#head?.sequence ?? 0) > 0;
    if (sequences.length === 0 && !answered) return;
    const left = sequences.length > 0 ? 'change sets are' : `${HEAD} is`;
    this.#problems.push(damaged(join(this.#directory, BASE), `it is missing, and ${left} there`));
  }

  /**
   * Takes in the change sets behind a sequence, one after the other.
   *
   * @param newest of those that were listed: whoever cannot read it need not look for later ones.
   */
  #follow(
    from: number,
    newest: number,
    document: StoreState | null,
    replaying: Replaying | undefined,
  ) {
    const files: string[] = [];
    let changeBytes = 0;
    let previous = document?.previous ?? null;
    let sequence = from;
    for (;;) {
      this.#meetHead(sequence, previous);
      sequence += 1;
      const name = changeSetName(sequence);
      const path = join(this.#directory, name);
      const read = this.#attempt(() => readFile(this.#disk, path) ?? this.#awaited(sequence));
      if (read === 'end' || (read === undefined && sequence >= newest)) {
        return { files, changeBytes };
      }
      if (typeof read === 'number') {
        this.#problems.push(damaged(path, 'it is missing, and later change sets are there'));
        sequence = read - 1;
        previous = null;
        continue;
      }
      const changes =
        read &&
        this.#attempt(() => following(path, decodeChangeSet(path, read), sequence, previous));
      previous = changes?.digest ?? null;
      if (read === undefined || changes === undefined || document === null) continue;
      replaying?.(document, changes);
      replay(document, changes);
      files.push(name);
      changeBytes += occupied(read.length);
    }
  }

  /**
   * What an absent change set means: the end of the history where no later one is there. Where one
   * is, this one was there before it, so a second look by name tells a writer at work from a loss.
   *
   * @returns the change set; or the number of the next one that is there.
   */
  #awaited(sequence: number): Buffer | 'end' | number {
    const { sequences } = listChanges(this.#disk, this.#directory);
    const later = sequences.find((number) => number > sequence);
    if (later === undefined) return 'end';
    return readFile(this.#disk, join(this.#directory, changeSetName(sequence))) ?? later;
  }

  /** The change set that the head names is the one of this history. */
  #meetHead(sequence: number, digest: string | null): void {
    if (this.#head?.sequence !== sequence || digest === null) return;
    if (this.#head.digest === digest) return;
    const path = join(this.#directory, HEAD);
    this.#problems.push(
      damaged(path, `it does not fit change set ${sequence}; it is from another history`),
    );
  }

  /** What was answered has to be there. @param last sequence of the document. */
  #judgeHead(last: number): void {
    if (this.#head === null) {
      const path = join(this.#directory, HEAD);
      this.#problems.push(damaged(path, `it is missing, and ${BASE} is there`));
      return;
    }
    // The document ends early behind whatever could not be read; that is told already.
    if (this.#head === undefined || this.#problems.length > 0) return;
    const { sequence } = this.#head;
    if (sequence <= last) return;
    const missing = join(this.#directory, changeSetName(last + 1));
    this.#problems.push(
      damaged(missing, `it is missing, and ${HEAD} says that change set ${sequence} was answered`),
    );
  }

  #attempt<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof CatalogError)) throw error;
      this.#problems.push(error);
      return undefined;
    }
  }
}

/** @param previous digest of the change set before; null where that could not be read. */
function following(
  path: string,
  changes: ChangeSet & { digest: string },
  sequence: number,
  previous: string | null,
): ChangeSet & { digest: string } {
  if (changes.sequence !== sequence) {
    throw damaged(path, `it holds change set ${changes.sequence}`);
  }
  if (previous !== null && changes.previous !== previous) {
    throw damaged(path, 'it does not follow the change set before it; it is from another history');
  }
  return changes;
}

/** @returns the bytes that a file of this size takes on a disk. */
export function occupied(bytes: number): number {
  return Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES;
}
