/** Servers that are killed at a step while writers are at work, and the checks of what is left. */
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { DATA_FILES } from '../../../src/data-files.ts';
import { machineDisk } from '../../../src/disk/disk.ts';
import { decodeBase } from '../../../src/store/files/base/base-reader.ts';
import { checkStore } from '../../../src/store/check.ts';
import type { State } from '../../../src/store/state.ts';
import { changeSetName, listChanges, occupied } from '../../../src/store/files/files.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { openService } from '../../support/service.ts';
import { runCommand, type Serving, serving, startServer } from '../../support/server.ts';
import { Ledger } from './ledger.ts';
import {
  assertDied,
  CLOSING,
  type Death,
  DIRECTORIES,
  FIXTURE,
  startVictim,
  Trace,
} from './steps.ts';

const WRITERS = 6;

/** Sizes of change sets at which a checkpoint is due, in KiB. */
export const FULL = { small: 256, large: 4096 } as const;

/** Answered writes after which a victim is assumed never to reach its step. */
const PATIENCE = 4000;

/** A directory to copy, and the ledger of what a server has answered about it. */
export interface Prepared {
  readonly data: string;
  readonly ledger: Ledger;
  /** Arguments with which its servers are started. */
  readonly args: readonly string[];
}

const OPTIONS = { seed: 1, writers: WRITERS, bulky: false };

/** A migrated store, so that it has files of the earlier version, with a catalog to write to. */
export async function prepare(): Promise<Prepared> {
  const data = join(temporaryDirectory(), 'data');
  cpSync(FIXTURE, data, { recursive: true });
  const { status, stderr } = await runCommand(['migrate', '--data', data]);
  assert.is(status, 0, stderr);
  const ledger = new Ledger(OPTIONS);
  const server = await startServer({ data });
  await ledger.prepare(server);
  await ledger.spendId(server);
  await server.stop();
  return { data, ledger, args: [] };
}

/**
 * The same, with enough change sets that the next commit begins a checkpoint.
 *
 * @param size of the change sets, in KiB.
 */
export async function prepareFull(size: number): Promise<Prepared> {
  const { data, ledger } = await prepare();
  const args = ['--checkpoint-size', `${size}KiB`];
  const server = await startServer({ data, args });
  const sizes = () =>
    listChanges(machineDisk, data).sequences.map((sequence) =>
      occupied(machineDisk.size(join(data, changeSetName(sequence))) ?? 0),
    );
  const isFull = () => sizes().reduce((sum, bytes) => sum + bytes, 0) > size * 1024;
  while (!isFull()) await ledger.fill(server, textOf(size));
  await server.stop();
  return { data, ledger, args };
}

/**
 * Characters of a text such that a dozen SPUs fill the store. An SPU has three such texts, and the
 * files hold each twice: in its row and in the audit trail.
 */
export const textOf = (size: number): number => Math.floor((size * 1024) / 66);

function copyOf(data: string): string {
  const copy = join(temporaryDirectory(), 'data');
  cpSync(data, copy, { recursive: true });
  return copy;
}

/** Runs the writers until the server ends, or until `enough`. */
async function write(ledger: Ledger, server: Serving, enough: () => boolean): Promise<void> {
  await Promise.all(
    Array.from({ length: WRITERS }, (_, index) => ledger.write(server, index, () => !enough())),
  );
}

/** What a killed server has left. */
export interface Left {
  readonly data: string;
  readonly ledger: Ledger;
}

/**
 * Kills a server at a step while writers are at work; the files that it leaves pass the check.
 *
 * @param death counted from when the server is ready.
 */
export async function dieServing(prepared: Prepared, { step, nth, side }: Death): Promise<Left> {
  const death = { step, nth: nth + DIRECTORIES.filter((other) => other === step).length, side };
  const data = copyOf(prepared.data);
  const ledger = prepared.ledger.copy(OPTIONS);
  const child = startVictim(['serve', '--port', '0', ...prepared.args], {
    data,
    backup: null,
    death,
  });
  const victim = await serving(child, `victim ${prepared.args.join(' ')}`);
  await write(ledger, victim, () => ledger.answered >= PATIENCE);
  if (ledger.answered >= PATIENCE) await victim.stop();
  assertDied(await victim.finished, death);
  assert.equal(ledger.violations, []);
  assert.ok(ledger.cutOff > 0, 'no write was under way');
  ledger.compareFiles(checked(data), 'as it was left');
  return { data, ledger };
}

/** @returns the state of a directory, which has to pass the check. */
export function checked(data: string): State {
  const { findings, state } = checkStore(machineDisk, data);
  assert.equal(findings, []);
  if (state === null) throw new Error(`there is no store in ${data}`);
  return state;
}

/** @returns the number of the last change set that the base contains. */
export function sequenceOfBase(data: string): number {
  const path = join(data, DATA_FILES.base);
  return decodeBase(path, machineDisk.read(path) ?? Buffer.alloc(0)).state.sequence;
}

/**
 * Opens the catalog on what was left, and compares it with what was answered. It runs in this
 * process, since a start does the same to the files; sigkill.test.ts starts the program.
 */
export async function recover({ data, ledger }: Left): Promise<void> {
  const server = await openService({ data, history: 0, disk: machineDisk });
  ledger.compareFiles(checked(data), 'started again');
  const base = sequenceOfBase(data);
  const numbers = readdirSync(join(data, 'changes')).map((name) => Number.parseInt(name, 10));
  const others = numbers.filter((number) => !(number > base));
  assert.equal(others, [], 'temporary files, or change sets that the base contains');
  assert.equal(temporariesIn(data), []);
  await ledger.compare(server, 'started again');
  assert.equal(ledger.violations, []);
  // Do not wait for pages.
  await server.stop(0);
  rmSync(data, { recursive: true });
}

const temporariesIn = (directory: string) =>
  readdirSync(directory).filter((name) => name.endsWith('.tmp'));

/** Whether the directory has files of an earlier version. */
export const hasKept = (data: string) =>
  readdirSync(data).some((name) => name.startsWith('migrated-from-'));

/** The steps of a server between its start and its shutdown. @param enough ends the writing. */
export async function traceServing(
  prepared: Prepared,
  enough: (left: Left) => boolean,
): Promise<string[]> {
  const left = { data: copyOf(prepared.data), ledger: prepared.ledger.copy(OPTIONS) };
  const { data, ledger } = left;
  const trace = new Trace();
  const child = startVictim(['serve', '--port', '0', ...prepared.args], {
    data,
    backup: null,
    trace: trace.path,
  });
  const victim = await serving(child, `victim ${prepared.args.join(' ')}`);
  await write(ledger, victim, () => enough(left) || ledger.answered >= PATIENCE);
  const { status, stderr } = await victim.stop();
  assert.is(status, 0, stderr);
  const steps = trace.steps();
  assert.equal(steps.slice(0, DIRECTORIES.length), DIRECTORIES);
  assert.equal(steps.slice(-CLOSING.length), CLOSING);
  return steps.slice(DIRECTORIES.length, -CLOSING.length);
}
