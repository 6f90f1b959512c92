/** Checks an archive: every object, and that the objects fit together. */
import { createHash } from 'node:crypto';
import { CatalogError } from '../errors.ts';
import type { ChangeSet } from '../store/change-set.ts';
import { changeSetFaults, stateFaults } from '../store/check.ts';
import { reusedBaseSlices } from '../store/files/base.ts';
import { MAX_FINDINGS } from '../store/files/history.ts';
import type { State } from '../store/state.ts';
import type { ArchiveObjects } from './archive-objects.ts';
import { Replay, stateInBase } from './replay.ts';

export interface ArchiveReport {
  /** What is wrong, one sentence each; empty if the archive is in order. */
  readonly findings: readonly string[];
  /** Ranges that cannot be restored, because the archive was cut off for too long. */
  readonly gaps: readonly string[];
  readonly bases: number;
  /** The first state that can be restored. */
  readonly first: number;
  /** The last state; null if there is none. */
  readonly state: State | null;
}

/**
 * Reads every object from the oldest base on, judges the change sets and applies them in order, and
 * compares the state with every base on the way. Change sets before the oldest base are not read,
 * because no restore uses them.
 *
 * @throws CatalogError `archive_failed` if there is no archive or it cannot be reached;
 *   `encryption` if its key is another.
 */
export async function checkArchive(objects: ArchiveObjects): Promise<ArchiveReport> {
  const manifest = await objects.manifest();
  const bases = await objects.bases();
  if (manifest === null && bases.length === 0) {
    throw new CatalogError('archive_failed', `${objects.url} holds no archive`);
  }
  const known = await objects.gaps();
  const findings: string[] = [];
  const gaps: string[] = [];
  let state: State | null = null;
  /** The first change set after a gap that ends before the next base; null if there is none. */
  let resumed: number | null = null;
  const judgeChangeSet = (before: State, changeSet: ChangeSet) => {
    const advice = `--sequence ${before.sequence} restores the last state before`;
    for (const fault of changeSetFaults(before, changeSet)) {
      if (findings.length === MAX_FINDINGS) return;
      findings.push(`${objects.url}: change set ${changeSet.sequence}: ${fault}; ${advice}`);
    }
  };
  if (manifest === null) {
    findings.push(
      `${objects.url}: archive.json is missing; restart the server of this archive, which makes it again`,
    );
  }
  if (bases.length === 0) findings.push(`${objects.url} has no base, so nothing can be restored`);
  for (const [index, base] of bases.entries()) {
    try {
      const before: State | null = state;
      // If an object is damaged, the next base is not compared with the state before it.
      state = null;
      const found: State = await stateInBase(objects, base);
      if (before !== null && before.sequence < base.sequence) {
        if (known.has(before.sequence)) {
          gaps.push(`change sets ${before.sequence + 1} to ${base.sequence}`);
        } else {
          const end = Math.min(base.sequence + 1, resumed ?? Number.POSITIVE_INFINITY);
          findings.push(missingBetween(objects, before.sequence, end));
        }
      } else if (before !== null) {
        const isSameVersion = bases[index - 1]?.schema === base.schema;
        if (!isSame(before, found, isSameVersion)) {
          findings.push(
            `${objects.url}: bases/${base.name} does not match the change sets before it`,
          );
        }
      }
      const next = bases[index + 1]?.sequence ?? Number.POSITIVE_INFINITY;
      const replay = new Replay(objects, base, found, { onReplay: judgeChangeSet });
      await replay
        .run(({ sequence }) => sequence <= next)
        .catch((error: unknown) => {
          // The object with the change set after the next base is read again from that base on.
          if (found.sequence < next || replay.read <= next) throw error;
        });
      state = found;
      resumed = replay.next;
      if (index === bases.length - 1 && resumed !== null) {
        findings.push(missingBetween(objects, found.sequence, resumed));
      }
    } catch (error) {
      if (!(error instanceof CatalogError)) throw error;
      findings.push(error.message);
    }
  }
  if (state !== null && findings.length === 0) findings.push(...stateFaults(state));
  return { findings, gaps, bases: bases.length, first: bases[0]?.sequence ?? 0, state };
}

/** @returns the finding about the change sets after `last` and before `next`. */
function missingBetween({ url }: ArchiveObjects, last: number, next: number): string {
  const which = last + 2 === next ? `set ${last + 1} is` : `sets ${last + 1} to ${next - 1} are`;
  return `${url}: change ${which} missing; --sequence ${last} restores the last state before`;
}

/**
 * @param isSameVersion whether the rows of both were written by the same schema version. Otherwise
 *   the conversion may have added attributes in another order.
 */
function isSame(replayed: State, base: State, isSameVersion: boolean): boolean {
  if (replayed.digest !== base.digest) return false;
  return !isSameVersion || digestOf(replayed) === digestOf(base);
}

/** SHA-256 of a state as a base. */
function digestOf(state: State): string {
  const hash = createHash('sha256');
  for (const slice of reusedBaseSlices(state.snapshot())) hash.update(slice);
  return hash.digest('hex');
}
