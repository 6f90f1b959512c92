/** Commands that are killed at a step: their directories, and the checks of what they leave. */
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DATA_FILES } from '../../../src/data-files.ts';
import { machineDisk } from '../../../src/disk/disk.ts';
import { checkStore } from '../../../src/store/check.ts';
import type { State as StoreState } from '../../../src/store/state.ts';
import { recover } from '../../../src/store/files/recovery.ts';
import { filesOf } from '../../support/catalog.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { assertDone } from '../../support/finished.ts';
import { callProgram } from '../../support/program.ts';
import { collect, type Finished } from '../../support/server.ts';
import {
  assertDied,
  type Death,
  deathsOneByOne,
  describeDeath,
  FIXTURE,
  hasMade,
  type Orders,
  startVictim,
  Trace,
  withoutRepeats,
} from './steps.ts';

/** A data directory and a directory for backups. */
export class Place {
  readonly #root = temporaryDirectory();
  readonly data = join(this.#root, 'data');
  readonly backup = join(this.#root, 'backups', 'catalog.json');

  /** @param data a directory to copy. @param backup the content of the existing backup. */
  constructor(data: string | null, backup: Uint8Array | null = null) {
    if (data !== null) cpSync(data, this.data, { recursive: true });
    mkdirSync(dirname(this.backup));
    if (backup !== null) writeFileSync(this.backup, backup);
  }

  /** Calls the ordinary program in this process: only victims need a separate process. */
  run(args: readonly string[]): Promise<Finished> {
    return callProgram([...args, '--data', this.data]);
  }

  /** Runs the program as a victim. */
  runVictim(args: readonly string[], orders: Omit<Orders, 'data' | 'backup'>): Promise<Finished> {
    const backup = args[0] === 'backup' ? this.backup : null;
    return collect(startVictim(args, { ...orders, data: this.data, backup }));
  }

  async die(args: readonly string[], death: Death): Promise<void> {
    assertDied(await this.runVictim(args, { death }), death);
  }

  async trace(args: readonly string[]): Promise<string[]> {
    const trace = new Trace();
    assertDone(await this.runVictim(args, { trace: trace.path }));
    return trace.steps();
  }

  /** The state, which has to pass `check`; null if there is no store. */
  state(): State | null {
    const { findings, state } = checkStore(machineDisk, this.data);
    assert.equal(findings, []);
    return state && stateOf(state);
  }

  remove(): void {
    rmSync(this.#root, { recursive: true });
  }
}

export type State = ReturnType<typeof stateOf>;

export function stateOf({ sequence, digest, time, lastIds, rows }: StoreState) {
  const tables = Object.entries(rows).map(([kind, table]) => [kind, [...table.values()]]);
  return { sequence, digest, time, lastIds, tables };
}

/**
 * Checks that the directory has a whole store and no leftovers of crashes.
 *
 * @param changeSets the expected number of change sets after the base.
 */
export function assertTidy(place: Place, changeSets: number): void {
  const names = Object.keys(filesOf(place.data)).filter((name) => !name.startsWith('migrated-'));
  const found = recover(machineDisk, place.data);
  assert.is(found?.files.length, changeSets);
  assert.equal(found?.leftover, []);
  const known = changeSets + (found?.kept.length ?? 0);
  assert.is(names.filter((name) => name.startsWith('changes/')).length, known);
  assert.equal(names.filter((name) => !name.startsWith('changes/')).sort(), [
    DATA_FILES.base,
    'head.json',
    DATA_FILES.outline,
  ]);
  const hidden = [place.data, join(place.data, 'changes')].flatMap((directory) =>
    machineDisk.list(directory).filter((name) => name.startsWith('.')),
  );
  assert.equal(hidden, []);
}

/** Checks that a directory has the unchanged files of an earlier version. */
export function assertOldFiles(directory: string, from = FIXTURE): void {
  const old = filesOf(from);
  const found = filesOf(directory);
  for (const [path, content] of Object.entries(old)) {
    assert.ok(found[path] === content, `${join(directory, path)} is not as it was`);
  }
}

/** The state that a directory of an earlier version holds. */
export function stateIn(directory: string): State {
  const loaded = recover(machineDisk, directory, 'older');
  if (loaded === null) throw new Error(`there is no store in ${directory}`);
  return stateOf(loaded.state);
}

export const FIXTURE_STATE = stateIn(FIXTURE);

/**
 * Registers a test for every death in a command.
 *
 * @param expected the command's steps.
 * @param make creates the place in which the command runs; the same each time.
 * @param judge checks what is left; its `made` returns whether a step was completed.
 * @param only the steps at which to kill it; all by default.
 */
export async function eachDeath(
  what: string,
  expected: readonly string[],
  make: () => Place,
  args: (place: Place) => readonly string[],
  judge: (place: Place, made: (step: string) => boolean) => Promise<void>,
  only?: readonly string[],
): Promise<void> {
  const model = make();
  const steps = await model.trace(args(model));
  test(`${what} performs the expected steps in order`, () => {
    assert.equal(withoutRepeats(steps), expected);
  });
  for (const death of deathsOneByOne(steps)) {
    if (only?.includes(death.step) === false) continue;
    test(`${what}, killed ${describeDeath(death)}, leaves whole files, and a rerun completes`, async () => {
      const place = make();
      await place.die(args(place), death);
      await judge(place, (step) => hasMade(steps, step, death));
      place.remove();
    });
  }
}
