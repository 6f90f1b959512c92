/**
 * A server under concurrent writers, killed at a random moment, restarted and compared with what it
 * had answered. All rounds use one directory, so that its history grows.
 *
 *     CRASH_ROUNDS=500 CRASH_SEED=7 bun test/process/crash/sigkill.test.ts
 *     CRASH_ROUNDS=500 CRASH_BINARY=dist/catalog-server bun test/process/crash/sigkill.test.ts
 *
 * In a third of the rounds the kill waits until a checkpoint begins, in another third until its
 * base appears, so that many kills hit a checkpoint. The kill follows after a random delay.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DATA_FILES } from '../../../src/data-files.ts';
import { machineDisk } from '../../../src/disk/disk.ts';
import { decodeBase } from '../../../src/store/files/base/base-reader.ts';
import { checkStore } from '../../../src/store/check.ts';
import { listChanges } from '../../../src/store/files/files.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { randomFrom } from '../../support/random.ts';
import { Ledger } from './ledger.ts';

export interface CrashOptions {
  readonly seed: number;
  readonly rounds: number;
  /** Numbers of concurrent writers and readers. */
  readonly writers: number;
  readonly readers: number;
  /** Maximum number of answered writes in one round before the kill. */
  readonly writes: number;
  /** The executable to run instead of the source. */
  readonly binary: string | undefined;
}

export interface CrashReport {
  /** Answered writes. */
  readonly answered: number;
  /** Writes that a kill cut off. */
  readonly cutOff: number;
  /** New bases that were observed. */
  readonly checkpoints: number;
  /** Kills that left a checkpoint unfinished. */
  readonly withinCheckpoint: number;
  /** Differences from what was promised; empty if there are none. */
  readonly violations: readonly string[];
}

/** Answered writes after which a round stops waiting for a checkpoint. */
const PATIENCE = 20_000;

/** Maximum delay between the trigger and the kill, in milliseconds. */
const LONGEST_DELAY = { write: 4, begun: 12, replaced: 30 } as const;

/** What a kill waits for: a number of writes, the start of a checkpoint, or its new base. */
type Trigger = keyof typeof LONGEST_DELAY;
const TRIGGERS = Object.keys(LONGEST_DELAY) as Trigger[];

/** Runs the rounds and reports every violation. */
export async function crashRounds(options: CrashOptions): Promise<CrashReport> {
  const run = new CrashRun(options);
  await run.prepare();
  for (let round = 1; round <= options.rounds; round += 1) await run.round(round);
  return run.end();
}

class CrashRun {
  readonly #options: CrashOptions;
  readonly #random: (below: number) => number;
  readonly #ledger: Ledger;
  readonly #data = temporaryDirectory();
  #server: TestServer | null = null;
  #base = '';
  #checkpoints = 0;
  #withinCheckpoint = 0;

  constructor(options: CrashOptions) {
    this.#options = options;
    const { seed, writers } = options;
    this.#random = randomFrom(seed);
    this.#ledger = new Ledger({ seed: seed + 1, writers, bulky: true });
  }

  async prepare(): Promise<void> {
    this.#server = await this.#start();
    await this.#ledger.prepare(this.#server);
    await this.#ledger.spendId(this.#server);
    this.#base = this.#identityOfBase();
  }

  async end(): Promise<CrashReport> {
    await this.#server?.kill();
    const { answered, cutOff, violations } = this.#ledger;
    return {
      answered,
      cutOff,
      checkpoints: this.#checkpoints,
      withinCheckpoint: this.#withinCheckpoint,
      violations,
    };
  }

  async round(round: number): Promise<void> {
    await this.#writeUntilKilled(
      this.#server as TestServer,
      TRIGGERS[round % TRIGGERS.length] ?? 'write',
    );
    this.#lookForCheckpoint();
    if (this.#isWithinCheckpoint()) this.#withinCheckpoint += 1;
    this.#check(`round ${round}, as the kill left it`);

    this.#server = await this.#start();
    this.#check(`round ${round}, started again`);
    await this.#ledger.compare(this.#server, `round ${round}`);
    // Not in every round: the next option would hide that the id of this one is forgotten.
    if (round % TRIGGERS.length === 0) await this.#ledger.spendId(this.#server);
  }

  #start(): Promise<TestServer> {
    const { binary } = this.#options;
    // Checkpoints after few writes, so that many kills hit one.
    const args = ['--history', '0', '--checkpoint-size', '1MiB'];
    return startServer({ data: this.#data, args, ...(binary !== undefined && { binary }) });
  }

  async #writeUntilKilled(server: TestServer, trigger: Trigger): Promise<void> {
    const goal = 1 + this.#random(this.#options.writes);
    const delay = this.#random(LONGEST_DELAY[trigger] * 1000) / 1000;
    const before = this.#checkpoints;
    let answered = 0;
    let killed: Promise<unknown> | null = null;
    const due = () => {
      if (answered >= PATIENCE) return true;
      if (trigger === 'write') return answered >= goal;
      return trigger === 'begun' ? this.#isWriting() : this.#checkpoints > before;
    };
    const onResponse = () => {
      answered += 1;
      this.#lookForCheckpoint();
      if (due()) killed ??= pause(delay).then(() => server.kill());
      return true;
    };
    let writing = true;
    const readers = Array.from({ length: this.#options.readers }, () =>
      this.#ledger.read(server, () => writing),
    );
    await Promise.all(
      Array.from({ length: this.#options.writers }, (_, index) =>
        this.#ledger.write(server, index, onResponse),
      ),
    );
    writing = false;
    await server.kill();
    await Promise.all(readers);
  }

  #identityOfBase(): string {
    const { ino, mtimeMs, size } = statSync(join(this.#data, DATA_FILES.base));
    return `${ino} ${mtimeMs} ${size}`;
  }

  #lookForCheckpoint(): void {
    const base = this.#identityOfBase();
    if (base !== this.#base) this.#checkpoints += 1;
    this.#base = base;
  }

  /** Whether a new base is being written next to the old one. */
  #isWriting(): boolean {
    return readdirSync(this.#data).some((name) => name.endsWith('.tmp'));
  }

  #isWithinCheckpoint(): boolean {
    const path = join(this.#data, DATA_FILES.base);
    const base = decodeBase(path, machineDisk.read(path) ?? Buffer.alloc(0)).state;
    const [first] = listChanges(machineDisk, this.#data).sequences;
    return this.#isWriting() || (first !== undefined && first <= base.sequence);
  }

  #check(when: string): void {
    const { findings, state: document } = checkStore(machineDisk, this.#data);
    const wrong = (text: string) => this.#ledger.violations.push(`${when}: ${text}`);
    for (const finding of findings) wrong(finding);
    if (document === null) wrong('there is no store');
    else this.#ledger.compareFiles(document, when);
  }
}
