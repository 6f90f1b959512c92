/**
 * The files of a store behind lowdb's `Adapter`: read loads base and change sets, write appends
 * the staged change set, or writes a new base where none is staged.
 *
 *     catalog.json              base document, as of some change set
 *     changes/000000000124.json change sets, numbered without a gap
 *
 * Invariants:
 * 1. State is the base with the change sets behind its sequence, in order.
 * 2. A change set appears whole or not at all, and is never changed.
 * 3. A change set is removed only when a durable base contains it.
 */
import { randomBytes } from 'node:crypto';
import { dirname, join, resolve } from 'node:path';
import type { Adapter } from 'lowdb';
import type { Disk } from '../disk/disk.ts';
import { removeTemporaries, writeDurably } from '../disk/durable-file.ts';
import type { KindName, Row } from '../model/kind.ts';
import { type Base, decodeBase } from './base.ts';
import { type ChangeSet, damaged, decodeChangeSet, encodeChangeSet } from './change-set.ts';
import { checkpoint, writeBase } from './checkpoint.ts';
import { perKind } from './tables.ts';

/** The document that lowdb holds: the committed state. */
export interface Document {
  sequence: number;
  /** The digest of the last change set; before the first, what tells this history from others. */
  previous: string;
  readonly lastIds: Record<KindName, number>;
  readonly rows: Record<KindName, Map<number, Row>>;
  /** What the next write is to append; null to write the whole document as a new base. */
  staged: ChangeSet | null;
}

export const BASE = 'catalog.json';
const CHANGES = 'changes';

const CHANGE_SET = /^(\d{12})\.json$/;

/** What a file occupies at least: change sets are counted in blocks of this many bytes. */
const BLOCK = 4096;

/** Change sets may outgrow a small base by this much before a checkpoint, in bytes. */
const SMALLEST_CHECKPOINT = 4 * 1024 * 1024;

/** How often a reader starts over when files come and go under its eyes. */
const READ_ATTEMPTS = 10;

export class ChangeSetAdapter implements Adapter<Document> {
  readonly #disk: Disk;
  readonly #directory: string;
  readonly #failed: (error: unknown) => void;
  #directoryFd: number | null = null;
  #changesFd: number | null = null;
  #checkpoint: Promise<void> | null = null;
  #baseBytes = 0;
  #changeBytes = 0;
  /** Change sets on the disk, the oldest first. */
  #files: string[] = [];
  #retryAbove = 0;

  /** @param failed is told of a checkpoint that failed; the store goes on without it. */
  constructor(disk: Disk, directory: string, failed: (error: unknown) => void) {
    this.#disk = disk;
    this.#directory = directory;
    this.#failed = failed;
  }

  /**
   * Loads the store as its owner, and clears away what a crash left.
   *
   * @returns null where the directory holds no store.
   * @throws CatalogError `store_damaged`, `schema_version`.
   */
  async read(): Promise<Document | null> {
    const loaded = load(this.#disk, this.#directory);
    if (loaded === null) return null;
    await removeTemporaries(this.#disk, this.#directory);
    await removeTemporaries(this.#disk, join(this.#directory, CHANGES));
    for (const name of loaded.covered) await this.#disk.unlink(join(this.#directory, name));
    this.#baseBytes = loaded.baseBytes;
    this.#changeBytes = loaded.changeBytes;
    this.#files = loaded.files;
    return loaded.document;
  }

  /** Makes the directories, so that they survive power loss before anything is answered. */
  async prepare(): Promise<void> {
    this.#disk.mkdir(join(this.#directory, CHANGES));
    await this.#disk.fsync(this.#openDirectory());
    let parentFd: number;
    try {
      parentFd = this.#disk.open(dirname(resolve(this.#directory)));
    } catch (error) {
      // A parent that we may not even read is somebody else's, who made our directory in it.
      if ((error as NodeJS.ErrnoException).code === 'EACCES') return;
      throw error;
    }
    try {
      await this.#disk.fsync(parentFd);
    } finally {
      this.#disk.close(parentFd);
    }
  }

  /** @throws what the disk throws; CatalogError `durability_unknown`. */
  async write(document: Document): Promise<void> {
    if (document.staged === null) {
      this.#baseBytes = await writeBase(
        this.#disk,
        join(this.#directory, BASE),
        this.#openDirectory(),
        snapshotOf(document),
      );
      return;
    }
    this.#checkpointIfDue(document);
    const name = changeSetName(document.staged.sequence);
    const { bytes, digest } = encodeChangeSet(document.staged);
    await writeDurably(this.#disk, join(this.#directory, name), bytes, this.#openChanges());
    this.#files.push(name);
    this.#changeBytes += blocks(bytes.length);
    document.previous = digest;
  }

  /** Waits for a checkpoint under way. */
  async close(): Promise<void> {
    await this.#checkpoint;
    for (const fd of [this.#directoryFd, this.#changesFd]) if (fd !== null) this.#disk.close(fd);
    this.#directoryFd = null;
    this.#changesFd = null;
  }

  /** The document is as of the change set before the one that is being written. */
  #checkpointIfDue(document: Document): void {
    const due = Math.max(this.#baseBytes, SMALLEST_CHECKPOINT, this.#retryAbove);
    if (this.#checkpoint !== null || this.#changeBytes <= due) return;
    const covered = this.#files;
    const coveredBytes = this.#changeBytes;
    const paths = covered.map((name) => join(this.#directory, name));
    const base = join(this.#directory, BASE);
    const directoryFd = this.#openDirectory();
    this.#files = [];
    this.#checkpoint = checkpoint(this.#disk, base, directoryFd, snapshotOf(document), paths).then(
      (bytes) => {
        this.#checkpoint = null;
        this.#baseBytes = bytes;
        this.#changeBytes -= coveredBytes;
        this.#retryAbove = 0;
      },
      (error: unknown) => {
        this.#checkpoint = null;
        this.#files = [...covered, ...this.#files];
        this.#retryAbove = this.#changeBytes + SMALLEST_CHECKPOINT;
        this.#failed(error);
      },
    );
  }

  #openDirectory(): number {
    this.#directoryFd ??= this.#disk.open(this.#directory);
    return this.#directoryFd;
  }

  #openChanges(): number {
    this.#changesFd ??= this.#disk.open(join(this.#directory, CHANGES));
    return this.#changesFd;
  }
}

interface Loaded {
  readonly document: Document;
  readonly baseBytes: number;
  readonly changeBytes: number;
  /** Change sets behind the base, the oldest first. */
  readonly files: string[];
  /** Change sets that the base contains: a crash came before their removal. */
  readonly covered: string[];
}

/**
 * Reads a consistent snapshot; any process may, at any time.
 *
 * @returns null where the directory holds no store.
 * @throws CatalogError `store_damaged`, `schema_version`.
 */
export function load(disk: Disk, directory: string): Loaded | null {
  for (let attempt = 1; ; attempt += 1) {
    const base = disk.read(join(directory, BASE));
    if (base === null) return absent(disk, directory);
    const loaded = loadOnto(disk, directory, base);
    if (!('missing' in loaded)) return loaded;
    // A checkpoint may have removed it, behind a newer base.
    const same = disk.read(join(directory, BASE))?.equals(base) === true;
    if (same || attempt === READ_ATTEMPTS) {
      throw damaged(
        join(directory, loaded.missing),
        'it is missing, and later change sets are there',
      );
    }
  }
}

function absent(disk: Disk, directory: string): null {
  if (sequences(disk, directory).length === 0) return null;
  throw damaged(join(directory, BASE), 'it is missing, and change sets are there');
}

function loadOnto(disk: Disk, directory: string, bytes: Buffer): Loaded | { missing: string } {
  const base = decodeBase(join(directory, BASE), bytes);
  const document = documentOf(base);
  const files: string[] = [];
  let changeBytes = 0;
  for (;;) {
    const name = changeSetName(document.sequence + 1);
    const content = disk.read(join(directory, name)) ?? awaited(disk, directory, name);
    if (content === 'missing') return { missing: name };
    if (content === 'end') break;
    replay(document, decodeChangeSet(join(directory, name), content), join(directory, name));
    files.push(name);
    changeBytes += blocks(content.length);
  }
  const covered = sequences(disk, directory)
    .filter((sequence) => sequence <= base.sequence)
    .map(changeSetName);
  return { document, baseBytes: bytes.length, changeBytes, files, covered };
}

/**
 * What an absent change set means: the end of the history where no later one is there. Where one
 * is, this one was there before it, so a second look by name tells a writer at work from a loss.
 */
function awaited(disk: Disk, directory: string, name: string): Buffer | 'end' | 'missing' {
  const later = sequences(disk, directory).some((sequence) => changeSetName(sequence) > name);
  return later ? (disk.read(join(directory, name)) ?? 'missing') : 'end';
}

/** The numbers of the change sets that a listing shows. */
function sequences(disk: Disk, directory: string): number[] {
  return disk.list(join(directory, CHANGES)).flatMap((name) => {
    const sequence = CHANGE_SET.exec(name)?.[1];
    return sequence === undefined ? [] : [Number(sequence)];
  });
}

function replay(document: Document, changes: ChangeSet & { digest: string }, name: string): void {
  if (changes.sequence !== document.sequence + 1) {
    throw damaged(name, `it holds change set ${changes.sequence}`);
  }
  if (changes.previous !== document.previous) {
    throw damaged(name, 'it does not follow the change set before it; it is from another history');
  }
  for (const [kind, rows] of Object.entries(changes.put)) {
    for (const row of rows) document.rows[kind as KindName].set(row.id, row);
  }
  for (const [kind, ids] of Object.entries(changes.delete)) {
    for (const id of ids) document.rows[kind as KindName].delete(id);
  }
  Object.assign(document.lastIds, changes.last_ids);
  document.sequence = changes.sequence;
  document.previous = changes.digest;
}

/** A document without rows, from which a store begins. */
export function emptyDocument(): Document {
  return {
    sequence: 0,
    previous: randomBytes(32).toString('hex'),
    lastIds: perKind(() => 0),
    rows: perKind(() => new Map()),
    staged: null,
  };
}

function documentOf(base: Base): Document {
  return {
    sequence: base.sequence,
    previous: base.previous,
    lastIds: perKind(({ name }) => base.lastIds[name] ?? 0),
    rows: perKind(({ name }) => new Map((base.rows[name] ?? []).map((row) => [row.id, row]))),
    staged: null,
  };
}

function snapshotOf({ sequence, previous, lastIds, rows }: Document) {
  return {
    sequence,
    previous,
    lastIds: { ...lastIds },
    rows: perKind(({ name }) => [...rows[name].values()]),
  };
}

function changeSetName(sequence: number): string {
  return join(CHANGES, `${String(sequence).padStart(12, '0')}.json`);
}

function blocks(bytes: number): number {
  return Math.ceil(bytes / BLOCK) * BLOCK;
}
