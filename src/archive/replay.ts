/**
 * The state of an archived catalog at a point of its history: a base, and the change sets after it.
 * Everything that is read is verified: checksums, numbers, the chain of digests, and that objects
 * contain what their names say.
 */
import { CatalogError, hasCode, messageOf } from '../errors.ts';
import { inSlices } from '../slices.ts';
import type { ChangeSet } from '../store/change-set.ts';
import { stateFaults } from '../store/check.ts';
import { BaseReader } from '../store/files/base/base-reader.ts';
import { decodeNextInParts } from '../store/files/change-set-parts.ts';
import { DamagedFile } from '../store/files/files.ts';
import type { Scrutiny } from '../store/files/recovery.ts';
import { migratedChangeSet } from '../store/files/schema.ts';
import type { State } from '../store/state.ts';
import { type ArchiveObjects, MAX_CHANGE_SETS } from './archive-objects.ts';
import type { ArchivedBase, ArchivedChanges } from './names.ts';
import { newestUntil } from './times.ts';

/** A point in the history of an archive; the end of it if neither is given. */
export interface Target {
  /** The last change set to apply. */
  readonly sequence?: number | undefined;
  /** No later change set is applied; ISO 8601, UTC, with milliseconds. */
  readonly at?: string | undefined;
}

const LINE_FEED = 0x0a;

/**
 * @returns the state at the target.
 * @throws CatalogError `archive_failed` if the archive has no such state, or is damaged; `encryption`,
 *   `store_damaged`, `schema_version`.
 */
export async function readArchive(objects: ArchiveObjects, target: Target): Promise<State> {
  const manifest = await objects.manifest();
  const bases = await objects.bases();
  if (manifest === null && bases.length === 0) throw failed(`${objects.url} holds no archive`);
  const base = baseFor(bases, target);
  if (base === undefined) throw beforeAll(objects, bases);
  const state = await stateInBase(objects, base);
  const replay = new Replay(objects, base, state);
  await replay.run((changeSet) => isWithin(changeSet, target), target.sequence);
  const { sequence } = state;
  if (sequence === target.sequence || replay.sawEnd) return state;
  // The change sets in a gap may have been made before the time or after it.
  if (bases.some((each) => each.sequence > sequence)) throw gapAfter(objects, sequence);
  if (replay.next !== null) throw lostAfter(objects, sequence, replay.next);
  if (target.sequence === undefined) return state;
  throw failed(
    `${objects.url} ends with change set ${sequence}; there is no change set ${target.sequence}`,
  );
}

/** @returns the base from which the fewest change sets lead to the target. */
function baseFor(
  bases: readonly ArchivedBase[],
  { sequence, at }: Target,
): ArchivedBase | undefined {
  const end = sequence ?? Number.POSITIVE_INFINITY;
  const until = bases.filter((base) => base.sequence <= end);
  return at === undefined ? until.at(-1) : newestUntil(until, at);
}

function isWithin({ sequence, time }: ChangeSet, target: Target): boolean {
  if (target.sequence !== undefined && sequence > target.sequence) return false;
  return target.at === undefined || time <= target.at;
}

/**
 * @returns the state in a base, whose rows were all checked.
 * @throws CatalogError `archive_failed`, `encryption`, `store_damaged`, `schema_version`.
 */
export async function stateInBase(objects: ArchiveObjects, base: ArchivedBase): Promise<State> {
  const name = `bases/${base.name}`;
  const state = await decodedBase(objects, base).catch((error: unknown) => {
    throw advising(error, 'move it away, to restore from the other bases');
  });
  if (state.sequence !== base.sequence || state.digest !== base.digest) {
    throw failed(`${objects.url}: ${name} does not hold what its name says`);
  }
  const [fault] = stateFaults(state);
  if (fault !== undefined) throw failed(`${objects.url}: ${name}: ${fault}`);
  return state;
}

async function decodedBase(objects: ArchiveObjects, base: ArchivedBase): Promise<State> {
  const reader = new BaseReader(`bases/${base.name}`);
  for await (const piece of objects.readBase(base)) reader.write(piece);
  return reader.end().state;
}

/** Applies the change sets of an archive to the state of one of its bases. */
export class Replay {
  readonly #objects: ArchiveObjects;
  readonly #schema: number;
  readonly #state: State;
  readonly #scrutiny: Scrutiny | undefined;
  /** The digests of the last change sets, by sequence: objects that overlap have to agree. */
  readonly #digests = new Map<number, string>();
  /** Whether a change set after the target was read. */
  sawEnd = false;
  /** The first change set after a gap at which the replay ended; null if there is none. */
  next: number | null = null;
  /** The last change set of the object that was read last, by its name. */
  read = 0;

  /** @param state of the base; change sets are applied to it. */
  constructor(
    objects: ArchiveObjects,
    { schema }: ArchivedBase,
    state: State,
    scrutiny?: Scrutiny,
  ) {
    this.#objects = objects;
    this.#schema = schema;
    this.#state = state;
    this.#scrutiny = scrutiny;
    this.#digests.set(state.sequence, state.digest);
  }

  /**
   * Applies change sets in order, up to the first that is not wanted, a gap, or the last.
   *
   * @param end the change set after which nothing is read, so that damage there does no harm.
   * @throws CatalogError `archive_failed`, `encryption`, `store_damaged`.
   */
  async run(
    isWanted: (changeSet: ChangeSet) => boolean,
    end = Number.POSITIVE_INFINITY,
  ): Promise<void> {
    await this.#runListing(isWanted, end);
    if (this.next === null) return;
    // A directory that is listed while objects are added may show the later of two without the
    // earlier one. So a gap counts only if a second listing has it too.
    this.next = null;
    await this.#runListing(isWanted, end);
  }

  async #runListing(isWanted: (changeSet: ChangeSet) => boolean, end: number): Promise<void> {
    for await (const changes of this.#objects.changesAfter(this.#state.sequence)) {
      if (this.#state.sequence >= end) return;
      if (changes.first > this.#state.sequence + 1) {
        this.next = changes.first;
        return;
      }
      try {
        await this.#applyObject(changes, isWanted, end);
      } catch (error) {
        const { sequence } = this.#state;
        throw advising(error, `--sequence ${sequence} restores the last state before the damage`);
      }
      if (this.sawEnd) return;
    }
  }

  async #applyObject(
    changes: ArchivedChanges,
    isWanted: (changeSet: ChangeSet) => boolean,
    end: number,
  ): Promise<void> {
    const name = `changes/${changes.name}`;
    this.#requireSame(name, changes);
    if (changes.last <= this.#state.sequence) return;
    this.read = changes.last;
    let sequence = changes.first;
    let previous: string | null = null;
    for (const line of linesOf(await this.#objects.readChanges(changes))) {
      if (this.#state.sequence >= end) return;
      const changeSet: ChangeSet = await inSlices(
        decodeNextInParts(name, line, sequence, previous),
      );
      if (!(await this.#apply(name, changeSet, isWanted))) return;
      previous = changeSet.digest;
      sequence += 1;
    }
    if (sequence - 1 === changes.last && previous === changes.digest) return;
    throw failed(`${this.#objects.url}: ${name} does not hold what its name says`);
  }

  /** @returns whether to go on. */
  async #apply(
    name: string,
    changeSet: ChangeSet,
    isWanted: (changeSet: ChangeSet) => boolean,
  ): Promise<boolean> {
    const { sequence, digest, previous } = changeSet;
    if (sequence <= this.#state.sequence) {
      this.#requireSame(name, { last: sequence, digest });
      return true;
    }
    if (previous !== this.#state.digest) throw this.#fork(name, sequence);
    if (!isWanted(changeSet)) {
      this.sawEnd = true;
      return false;
    }
    const migrated = migratedChangeSet(this.#schema, changeSet);
    this.#scrutiny?.onReplay(this.#state, migrated);
    this.#state.apply(migrated);
    this.#digests.set(sequence, digest);
    this.#digests.delete(sequence - 2 * MAX_CHANGE_SETS);
    return true;
  }

  #requireSame(name: string, { last, digest }: Pick<ArchivedChanges, 'last' | 'digest'>): void {
    const known = this.#digests.get(last);
    if (known !== undefined && known !== digest) throw this.#fork(name, last);
  }

  #fork(name: string, sequence: number): CatalogError {
    return failed(
      `${this.#objects.url}: ${name} has another change set ${sequence} than the rest of the archive: two servers have written it; move the objects of one of them away`,
    );
  }
}

/** The lines of an object, each with its line feed. */
function* linesOf(bytes: Buffer): Generator<Buffer> {
  let start = 0;
  while (start < bytes.length) {
    const end = bytes.indexOf(LINE_FEED, start) + 1 || bytes.length;
    yield bytes.subarray(start, end);
    start = end;
  }
}

/** Adds to an error about a damaged object what to do about it. */
function advising(error: unknown, advice: string): unknown {
  if (error instanceof DamagedFile) return error.advising(advice);
  if (!hasCode(error, 'encryption')) return error;
  return new CatalogError('encryption', `${messageOf(error)}; ${advice}`, { cause: error });
}

function beforeAll(objects: ArchiveObjects, bases: readonly ArchivedBase[]): CatalogError {
  const [first] = bases;
  if (first === undefined) return failed(`${objects.url} has no base yet`);
  const since = first.time === null ? '' : `, ${first.time}`;
  return failed(
    `${objects.url} begins with change set ${first.sequence}${since}; name that or a later one`,
  );
}

function gapAfter({ url }: ArchiveObjects, sequence: number): CatalogError {
  return failed(
    `${url} has a gap after change set ${sequence}: restore that with --sequence ${sequence}, or a later time`,
  );
}

function lostAfter({ url }: ArchiveObjects, sequence: number, next: number): CatalogError {
  return failed(
    `${url} has change set ${next}, but not those between it and ${sequence}: restore ${sequence} with --sequence ${sequence}`,
  );
}

function failed(message: string): CatalogError {
  return new CatalogError('archive_failed', message);
}
