/**
 * Recovery: rebuilds the state from the base and the change sets after it. The owner of a directory
 * does it at start, and any process may do it at any time while the owner runs. Every file that the
 * state is made of is verified, and every problem is collected, so that `check` can name them all.
 *
 * Invariants:
 * 1. Reading changes nothing on the disk.
 * 2. A state is returned without problems only if it contains every change set that was answered
 *    before the reading began.
 * 3. A file that a checkpoint removes during the reading is not a problem.
 */
import { join } from 'node:path';
import { DATA_FILES } from '../../data-files.ts';
import type { Disk } from '../../disk/disk.ts';
import { readFile } from '../../disk/read-file.ts';
import { CatalogError, messageOf } from '../../errors.ts';
import type { LogPosition } from '../change-log.ts';
import type { ChangeSet } from '../change-set.ts';
import type { State } from '../state.ts';
import { earlierSchema } from './base.ts';
import { type Base, type BaseReader, endingOfBase, openBase } from './base/base-reader.ts';
import { ChangeFiles } from './change-files.ts';
import { decodeNext } from './change-set.ts';
import { changeSetName, damaged, type Listing, unexpectedFile } from './files.ts';
import { readHead } from './head.ts';
import { type ChangeFile, type History, historyOf, verifyHistory } from './history.ts';
import { lastMigrated } from './migration-backup.ts';
import { HEAD_SINCE, migratedChangeSet, SCHEMA_VERSION } from './schema.ts';

/**
 * Milliseconds after which a reader no longer starts over because a checkpoint replaced files while
 * it read. While a server writes a lot, checkpoints may overtake several attempts in a row.
 */
const MAX_READING_MS = 60_000;

/** Attempts that are made in any case: a large store takes long to read once. */
const MIN_READ_ATTEMPTS = 10;

export interface Recovered extends History {
  /** The schema version of the files. The state has the form of the current version. */
  readonly schema: number;
  readonly state: State;
  /** Bytes of the base. */
  readonly baseBytes: number;
  /** Change sets after the base, the oldest first. */
  readonly files: readonly ChangeFile[];
}

export interface Inspection {
  /** Null if the directory holds no store, or none that can be read. */
  readonly recovered: Recovered | null;
  /** Everything that is wrong with the files, in their order. */
  readonly problems: readonly CatalogError[];
}

/** What `check` asks for beyond what a start needs. */
export interface Scrutiny {
  /** Called with every change set before the state applies it. */
  onReplay(state: State, changeSet: ChangeSet): void;
}

/**
 * Reads a consistent snapshot.
 *
 * @param versions of the files that are accepted; `older` ones are for `migrate`.
 * @param base the bytes of the base, if the caller owns the directory and has them already.
 * @returns null if the directory holds no store.
 * @throws CatalogError `store_damaged`, `store_unreadable`, `schema_version`: the first problem;
 *   `busy` as {@link inspect}.
 */
export function recover(
  disk: Disk,
  directory: string,
  versions: 'current' | 'older' = 'current',
  base?: Iterable<Buffer>,
): Recovered | null {
  const { recovered, problems } =
    base === undefined ? inspect(disk, directory) : new Recovery(disk, directory, { base }).run();
  if (problems[0] !== undefined) throw problems[0];
  if (recovered !== null && recovered.schema !== SCHEMA_VERSION && versions === 'current') {
    throw earlierSchema(directory, recovered.schema);
  }
  return recovered;
}

/**
 * Reads everything, and continues after a damaged file.
 *
 * @param scrutiny if given, the history before the base is verified too, and the base by its
 *   SHA-256 in any case.
 * @throws CatalogError `busy` if checkpoints overtook every attempt, so that a file that one of
 *   them removed cannot be told from a file that is lost.
 */
export function inspect(
  disk: Disk,
  directory: string,
  scrutiny?: Scrutiny,
  maxReadingMs = MAX_READING_MS,
): Inspection {
  const begun = performance.now();
  for (let attempt = 1; ; attempt += 1) {
    const recovery = new Recovery(disk, directory, { isTaking: attempt > 1, scrutiny });
    const inspection = recovery.run();
    if (inspection.problems.length === 0 || !recovery.baseReplaced()) return inspection;
    if (attempt < MIN_READ_ATTEMPTS || performance.now() - begun < maxReadingMs) continue;
    throw overtaken(directory, attempt);
  }
}

function overtaken(directory: string, attempts: number): CatalogError {
  return new CatalogError(
    'busy',
    `${directory} changes faster than it can be read: its server replaced ${DATA_FILES.base} during each of ${attempts} attempts; try again when less is written`,
  );
}

interface RecoveryOptions {
  readonly isTaking?: boolean;
  readonly base?: Iterable<Buffer> | undefined;
  readonly scrutiny?: Scrutiny | undefined;
}

class Recovery {
  readonly #disk: Disk;
  readonly #directory: string;
  readonly #scrutiny: Scrutiny | undefined;
  readonly #changes: ChangeFiles;
  readonly #problems: CatalogError[] = [];
  readonly #head: LogPosition | null | undefined;
  /** Null if there is no base; undefined if it cannot be read. */
  readonly #base: BaseReader | null | undefined;

  /**
   * @param options.isTaking whether to read the change sets before the base, which takes longer.
   * @param options.base its bytes; if left out, they are read.
   */
  constructor(disk: Disk, directory: string, options: RecoveryOptions) {
    const { isTaking = false, base: known, scrutiny } = options;
    const isThorough = scrutiny !== undefined;
    this.#disk = disk;
    this.#directory = directory;
    this.#scrutiny = scrutiny;
    this.#changes = new ChangeFiles(disk, directory);
    // In this order: the change set that the head names is there when base and change sets are
    // read, and the change sets after the base are there when it is opened.
    this.#head = this.#attempt(() => readHead(disk, join(directory, DATA_FILES.head)));
    const path = join(directory, DATA_FILES.base);
    const read = this.#attempt(() => openBase(disk, path, { known, isThorough }));
    if (isTaking) this.#attempt(() => this.#changes.take());
    this.#base = read ? this.#attempt(read) : read;
  }

  run(): Inspection {
    const base = this.#decodeBase();
    const { sequences, unexpected } = this.#list();
    if (this.#base === null) this.#judgeAbsence(sequences);
    // This version cannot judge the files of a later one.
    const later = this.#problems.find(({ code }) => code === 'schema_version');
    if (later !== undefined) return { recovered: null, problems: [later] };
    // Not as arguments of push: there may be more than a call takes.
    for (const path of unexpected) this.#problems.push(unexpectedFile(path));
    const from = base?.state.sequence ?? (sequences[0] ?? 1) - 1;
    const version = base?.schema ?? SCHEMA_VERSION;
    const migrated = this.#attempt(() => lastMigrated(this.#disk, this.#directory, version));
    const history = historyOf(sequences, from, migrated);
    if (base !== null && this.#scrutiny !== undefined) {
      const { digest } = base.state;
      this.#problems.push(...verifyHistory(this.#disk, this.#directory, history.kept, digest));
    }
    const files = this.#replay(from, sequences.at(-1) ?? from, base);
    if (base === null) return { recovered: null, problems: this.#problems };
    const { schema, state } = base;
    if (schema >= HEAD_SINCE) this.#judgeHead(state.sequence);
    const recovered = { schema, state, baseBytes: base.size, files, ...history };
    return { recovered, problems: this.#problems };
  }

  #list(): Listing {
    return this.#attempt(() => this.#changes.list()) ?? { sequences: [], unexpected: [] };
  }

  #decodeBase(): Base | null {
    const base = this.#base ?? null;
    if (base === null) return null;
    return this.#attempt(() => base.end()) ?? null;
  }

  /**
   * Whether the base was replaced since it was read. Then the problems may come from a checkpoint,
   * which removes change sets; or from a creation, which writes the head before the base.
   */
  baseReplaced(): boolean {
    try {
      const ending = endingOfBase(this.#disk, join(this.#directory, DATA_FILES.base));
      const head =
        this.#head === null ? readFile(this.#disk, join(this.#directory, DATA_FILES.head)) : null;
      if (head !== null || ending === null) return head !== null || this.#base !== null;
      return this.#base?.ending !== ending;
    } catch {
      // A file that cannot be read is among the problems already.
      return false;
    }
  }

  /** Without a base there is no store, unless there are files that only a store has. */
  #judgeAbsence(sequences: readonly number[]): void {
    // An interrupted creation leaves a head that names change set 0.
    const answered = (this.#head?.sequence ?? 0) > 0;
    if (sequences.length === 0 && !answered) return;
    const left = sequences.length > 0 ? 'change sets are' : `${DATA_FILES.head} is`;
    this.#problems.push(
      damaged(join(this.#directory, DATA_FILES.base), `it is missing, and ${left} there`),
    );
  }

  /**
   * Applies the change sets after a sequence, one after the other, up to the first problem. Later
   * ones are only verified.
   *
   * @param newest of those listed. If it cannot be read, later ones are not looked for.
   */
  #replay(from: number, newest: number, base: Base | null) {
    const { schema = SCHEMA_VERSION, state = null } = base ?? {};
    const files: ChangeFile[] = [];
    let previous = state?.digest ?? null;
    let sequence = from;
    for (;;) {
      this.#compareHead(sequence, previous);
      sequence += 1;
      const path = join(this.#directory, changeSetName(sequence));
      const next = this.#attempt(() => this.#changes.next(sequence));
      if (next === 'end' || (next === undefined && sequence >= newest)) return files;
      if (next === undefined) {
        previous = null;
      } else if (typeof next === 'number') {
        this.#problems.push(damaged(path, 'it is missing, and later change sets are there'));
        sequence = next - 1;
        previous = null;
      } else {
        const changeSet = this.#attempt(() =>
          migratedChangeSet(schema, decodeNext(path, next, sequence, previous)),
        );
        previous = changeSet?.digest ?? null;
        if (changeSet !== undefined) this.#apply(path, state, changeSet);
        files.push({ sequence, bytes: next.length });
      }
    }
  }

  #apply(path: string, state: State | null, changeSet: ChangeSet): void {
    if (state === null || changeSet.sequence !== state.sequence + 1) return;
    this.#attempt(() => {
      this.#scrutiny?.onReplay(state, changeSet);
      try {
        state.apply(changeSet);
      } catch (error) {
        // From a row of the base that cannot be read.
        if (error instanceof CatalogError) throw error;
        throw damaged(path, messageOf(error));
      }
    });
  }

  /** The change set that the head names has to be the one of this history. */
  #compareHead(sequence: number, digest: string | null): void {
    if (this.#head?.sequence !== sequence || digest === null) return;
    if (this.#head.digest === digest) return;
    const path = join(this.#directory, DATA_FILES.head);
    this.#problems.push(
      damaged(path, `it does not fit change set ${sequence}; it is from another history`),
    );
  }

  /** Checks that every change set that was answered is there. @param last sequence of the state. */
  #judgeHead(last: number): void {
    if (this.#head === null) {
      const path = join(this.#directory, DATA_FILES.head);
      this.#problems.push(damaged(path, `it is missing, and ${DATA_FILES.base} is there`));
      return;
    }
    // The state ends at the first file that could not be read, which is among the problems.
    if (this.#head === undefined || this.#problems.length > 0) return;
    const { sequence } = this.#head;
    if (sequence <= last) return;
    const missing = join(this.#directory, changeSetName(last + 1));
    const answered = `${DATA_FILES.head} says that change set ${sequence} was answered`;
    this.#problems.push(damaged(missing, `it is missing, and ${answered}`));
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
