/**
 * One I/O error at the n-th disk call, for every n of a fixed history: a store is created, commits,
 * makes checkpoints, is closed and opened again. Whichever call fails, an answered write is
 * durable, a refused write leaves nothing, and the store works again with the next call.
 */
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError, messageOf } from '../../../src/errors.ts';
import { checkStore } from '../../../src/store/check.ts';
import type { Transaction } from '../../../src/store/writer/draft.ts';
import { recover } from '../../../src/store/files/recovery.ts';
import type { ReadableStore } from '../../../src/store/readable-store.ts';
import { Store } from '../../../src/store/store.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { type Effect, faultyDisk, type FaultyDisk } from '../../support/faulty-disk.ts';
import { Doubts } from '../../support/power-cut.ts';
import { randomFrom } from '../../support/random.ts';
import { PowerDisk } from '../../support/power-disk.ts';

/** The names of the brands, by ascending id. */
type Names = readonly string[];

/** What one transaction does: it adds, renames or deletes a brand. */
interface Act {
  readonly from: string | null;
  readonly to: string | null;
}

const add = (to: string): Act => ({ from: null, to });

/** The transactions of each opening of the store; those of one list are submitted together. */
const HISTORY: readonly (readonly (readonly Act[])[])[] = [
  [[add('a')], [add('b'), add('c')], [{ from: 'a', to: 'd' }]],
  [[{ from: 'b', to: null }], [add('e')], [add('f')]],
];

/** The bytes of one small change set, so that each opening makes a checkpoint. */
const SMALLEST_CHECKPOINT = 4096;

function perform(transaction: Transaction, { from, to }: Act): void {
  const ids = [1, 2, 3, 4, 5];
  const found = ids.find((each) => transaction.get('brands', each)?.name === from);
  const id = from === null ? transaction.nextId('brands') : (found ?? 0);
  if (to === null) transaction.delete('brands', id);
  else transaction.put('brands', { id, name: to, logo: '', first_letter: '' });
}

/** The names that the acts must lead to. */
function after(names: Names, acts: readonly Act[]): Names {
  const changed = [...names];
  for (const { from, to } of acts) {
    const place = from === null ? changed.length : changed.indexOf(from);
    changed.splice(place, 1, ...(to === null ? [] : [to]));
  }
  return changed;
}

function namesOf(store: ReadableStore): Names {
  return [...store.ids('brands')].map((id) => store.get('brands', id)?.name ?? '');
}

/** Runs the history on one disk, and continues after the failure. */
class Run {
  readonly #faulty: FaultyDisk;
  readonly #power: PowerDisk;
  readonly #data: string;
  /** The names that must be durable. */
  #answered: Names = [];
  readonly #reported: string[] = [];

  constructor(nth: number, effect: Effect) {
    const root = temporaryDirectory();
    this.#data = join(root, 'data');
    this.#power = new PowerDisk(root);
    this.#faulty = faultyDisk(this.#power, nth, effect);
  }

  /** @returns the call that failed; null if there were fewer calls. */
  async play(): Promise<string | null> {
    for (const rounds of HISTORY) {
      let store = await this.#open();
      for (const acts of rounds) store = await this.#round(store, acts);
      await this.#close(store);
      this.#judge('after the end');
    }
    return this.#faulty.failed();
  }

  async #open(): Promise<Store> {
    const open = () =>
      Store.open({
        directory: this.#data,
        command: 'test',
        create: true,
        disk: this.#faulty.disk,
        history: 0,
        smallestCheckpoint: SMALLEST_CHECKPOINT,
        onError: (error) => this.#reported.push(messageOf(error)),
        onFatal: (error) => this.#reported.push(`fatal: ${messageOf(error)}`),
      });
    const store = await open().catch((error: unknown) => {
      this.#reported.push(messageOf(error));
      assert.equal(this.#power.descriptors, [], this.#about('a failed start'));
      return open();
    });
    assert.equal(namesOf(store), this.#answered, this.#about('the start'));
    return store;
  }

  async #close(store: Store): Promise<void> {
    await store.close().catch((error: unknown) => this.#reported.push(messageOf(error)));
    assert.equal(this.#power.descriptors, [], this.#about('the end'));
  }

  /** @returns the store; a new one if this one had to be closed. */
  async #round(store: Store, acts: readonly Act[]): Promise<Store> {
    const before = this.#answered;
    const ended = await Promise.all(acts.map((act) => submit(store, act)));
    if (ended.includes('durability_unknown')) return this.#restart(store, acts);
    const refused = acts.filter((_, index) => ended[index] === 'write_refused');
    const answered = acts.filter((_, index) => ended[index] === 'answered');
    assert.is(refused.length + answered.length, acts.length, this.#about(ended.join()));
    this.#answered = after(before, answered);
    assert.equal(namesOf(store), this.#answered, this.#about('a round'));
    this.#judge('after a round');
    return this.#continue(store, refused);
  }

  /** Opens the store again after a failure that left it unknown whether a change set is durable. */
  async #restart(store: Store, acts: readonly Act[]): Promise<Store> {
    const fatal = this.#reported.filter((text) => text.startsWith('fatal: '));
    assert.is(fatal.length, 1, this.#about('an unknown end'));
    await this.#close(store);
    const found = recover(this.#power, this.#data)?.state;
    const names = found === undefined ? [] : namesOf(found);
    const made = [...acts.keys(), acts.length].find((count) =>
      Bun.deepEquals(names, after(this.#answered, acts.slice(0, count))),
    );
    if (made === undefined) throw new Error(this.#about(`a new start finds ${names.join()}`));
    this.#answered = names;
    return this.#continue(await this.#open(), acts.slice(made));
  }

  /** Submits the refused acts again, now that the disk works. */
  async #continue(store: Store, acts: readonly Act[]): Promise<Store> {
    for (const act of acts) assert.is(await submit(store, act), 'answered', this.#about('later'));
    this.#answered = after(this.#answered, acts);
    this.#judge('after a refusal');
    return store;
  }

  /** After a power cut now, exactly the answered writes are left, and check finds nothing. */
  #judge(when: string): void {
    if (this.#faulty.failed() === null) return;
    const doubts = new Doubts(this.#power.volume, randomFrom(1));
    for (const choice of [doubts.nothing(), doubts.everything()]) {
      const left = new PowerDisk(this.#power.root, doubts.leave(choice));
      // checkStore reads the files as a start does.
      const { state, findings } = checkStore(left, this.#data);
      assert.equal(findings, [], this.#about(when));
      assert.equal(state === null ? [] : namesOf(state), this.#answered, this.#about(when));
    }
  }

  #about(when: string): string {
    return `${when}, with ${this.#faulty.failed() ?? 'no call'} failed; ${this.#reported.join('; ')}`;
  }
}

/** @returns the outcome of a transaction. */
function submit(store: Store, act: Act): Promise<string> {
  return store
    .transact((transaction) => perform(transaction, act))
    .then(
      () => 'answered',
      (error: unknown) => (error instanceof CatalogError ? error.code : messageOf(error)),
    );
}

for (const effect of ['without effect', 'after its effect'] as const) {
  test(`a disk call that fails ${effect} loses no answered write and keeps no refused one`, async () => {
    const failed: string[] = [];
    for (let nth = 1; ; nth += 1) {
      const call = await new Run(nth, effect).play();
      if (call === null) break;
      failed.push(call.split(' ')[0] ?? '');
    }
    // Every call that the store makes has failed once.
    assert.ok(failed.length > 100, `${failed.length} calls`);
    for (const call of CALLS) assert.ok(failed.includes(call), `${call} never failed`);
  });
}

const CALLS =
  `openSync writeSync fdatasyncSync fstatSync closeSync renameSync linkSync rmSync fsyncSync
  create write fdatasync close rename fsync unlink mkdir makeApart list read open openRecord leadsTo
  pieces`.split(/\s+/);

test.run();
