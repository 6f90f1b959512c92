/** Running victim.ts, and deciding at which of its steps to kill it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as assert from 'uvu/assert';
import { temporaryDirectory } from '../../support/directory.ts';
import { type Finished, SECRET, SHORT_LIVED } from '../../support/server.ts';
import type { Side } from './step-disk.ts';
import { fixture, ROOT } from '../../support/paths.ts';

/** A directory of schema version 1. */
export const FIXTURE = fixture(1);

/** victim.ts, as the executable that test/run.ts has built or from source. */
const VICTIM =
  process.env['CATALOG_TEST_VICTIM'] ?? fileURLToPath(import.meta.resolve('./victim.ts'));

/**
 * The steps of creating the directories of a store; opening an intact store has only these. HEAD
 * and BASE are the steps of writing the head and the base.
 */
export const DIRECTORIES = ['make changes', 'sync changes', 'sync data directory', 'sync parent'];
export const HEAD = stepsOfFile('head');
/** The outline is renamed before the base. */
export const BASE = stepsOfFile('base').toSpliced(4, 0, 'copy temporary', 'rename outline');

/** The steps of closing a store. */
export const CLOSING = ['sync head record', 'close head record'];

function stepsOfFile(name: string): string[] {
  const verbs = ['create', 'write', 'sync', 'close', 'rename'];
  return [...verbs.map((verb) => `${verb} ${name}`), 'sync data directory'];
}

/** The step at which the victim is killed: the n-th of that name since its start. */
export interface Death {
  readonly step: string;
  readonly nth: number;
  readonly side: Side;
}

/** The instructions to victim.ts. */
export interface Orders {
  readonly data: string;
  /** The file to which it writes a backup. */
  readonly backup: string | null;
  readonly death?: Death;
  /** The file to which it writes each step. */
  readonly trace?: string;
}

/** Starts the program as a victim. @param args its own arguments, without `--data`. */
export function startVictim(
  [command = '', ...args]: readonly string[],
  orders: Orders,
): ChildProcess {
  return spawn(VICTIM, [command, '--data', orders.data, ...args], {
    cwd: ROOT,
    env: {
      PATH: process.env['PATH'] ?? '',
      CATALOG_JWT_SECRET: SECRET,
      ...SHORT_LIVED,
      // With this a checkpoint always removes change sets.
      CATALOG_HISTORY: '0',
      VICTIM: JSON.stringify(orders),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** @throws if the process did not die at the step. */
export function assertDied({ status, signal, stderr }: Finished, { side, step }: Death): void {
  const how = `it ended with ${signal ?? status}: ${stderr}`;
  assert.is(stderr, `died ${side} ${step}\n`, `it never came to "${step}"; ${how}`);
  assert.is(signal, 'SIGKILL', how);
}

/** The file to which a victim writes its steps, and what it has written. */
export class Trace {
  readonly path = join(temporaryDirectory(), 'steps');

  steps(): string[] {
    return readFileSync(this.path, 'utf8').split('\n').slice(0, -1);
  }
}

/** Number of change sets of {@link FIXTURE}: a step on each of them is tested for all of them. */
const FILES = 5;

/**
 * Every point in these steps at which to kill the process.
 *
 * @param few of a step that occurs more often, only the first, a middle and the last are used.
 */
export function deathsIn(steps: readonly string[], few: number): Death[] {
  return [...new Set(steps)].flatMap((step) => {
    const count = steps.filter((other) => other === step).length;
    const all = Array.from({ length: count }, (_, index) => index + 1);
    const chosen = count <= few ? all : [1, Math.ceil(count / 2), count];
    return chosen.flatMap((nth) => deathsAt([step], nth));
  });
}

/**
 * Every point at which to kill a process whose steps are sequential: the files before a step are
 * those after the previous step.
 */
export function deathsOneByOne(steps: readonly string[]): Death[] {
  return withoutTwins(deathsIn(steps, FILES));
}

/** Omits "before" a step, since the files are those after the previous step. */
export function withoutTwins(deaths: readonly Death[]): Death[] {
  return deaths.filter(({ side }, index) => side !== 'before' || index === 0);
}

/** Every point at which to kill the process in the n-th of each of these steps. */
export function deathsAt(steps: readonly string[], nth: number): Death[] {
  return steps.flatMap((step) => sidesOf(step).map((side) => ({ step, nth, side })));
}

function sidesOf(step: string): readonly Side[] {
  const divisible = step.startsWith('write ') && step !== 'write head record';
  return divisible ? ['before', 'amid', 'after'] : ['before', 'after'];
}

/** The steps in order, each run of equal steps as one. */
export function withoutRepeats(steps: readonly string[]): string[] {
  return steps.filter((step, index) => step !== steps[index - 1]);
}

/** Whether a process with these steps completes the first `step` before it is killed. */
export function hasMade(steps: readonly string[], step: string, death: Death): boolean {
  const made = steps.indexOf(step);
  const all = steps.flatMap((other, index) => (other === death.step ? [index] : []));
  const died = all[death.nth - 1];
  if (made < 0 || died === undefined) throw new Error(`no ${step}, or no ${death.step}`);
  return died > made || (died === made && death.side === 'after');
}

export const describeDeath = ({ step, nth, side }: Death) => `${side} "${step}" number ${nth}`;
