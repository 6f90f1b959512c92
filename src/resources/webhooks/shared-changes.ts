/**
 * The changes of change sets as texts, for the deliveries to all webhooks.
 *
 * Short change sets are read from memory. Others are read one at a time, and all webhooks share
 * their texts, in bounded memory: see text/shared-texts.ts. So many webhooks that are behind do not
 * each hold a change set while their receivers are slow.
 */
import type { KindName } from '../../model/kind.ts';
import { atOnce, inSlices } from '../../slices.ts';
import type { ChangeSet } from '../../store/change-set.ts';
import type { ChangeSource } from '../changes/change-source.ts';
import { changesIn } from '../changes/published.ts';
import { SharedTexts, type SharedTextsOptions } from '../text/shared-texts.ts';
import { TurnQueue } from '../text/turn-queue.ts';

/**
 * Bytes of memory for the texts that are kept: more than for readers of the feed, because receivers
 * are often at different change sets, and take their time for each message.
 */
const MAX_SHARED_BYTES = 32 * 1024 * 1024;

/** Bytes of the longest change set that is read from memory. */
const SHORT_BYTES = 64 * 1024;

/** UTF-16 units after which a run is complete: readers pass from run to run in steps. */
const RUN_UNITS = 32 * 1024;

/** Bytes of memory that a UTF-16 unit takes at most. */
const UNIT_BYTES = 2;

/** Changes of one resource that follow each other in a change set. */
export interface ChangeRun {
  /** Of the change set. */
  readonly sequence: number;
  readonly time: string;
  readonly resource: KindName;
  /** JSON texts of the changes, as an admin reads them. */
  readonly texts: readonly string[];
  /** Bytes of memory. */
  readonly length: number;
}

export class SharedChanges {
  readonly #source: Pick<ChangeSource, 'recent'>;
  readonly #changesAfter: ChangeSource['after'];
  readonly #shared: SharedTexts<ChangeRun>;
  readonly #turns = new TurnQueue();

  /**
   * @param changesAfter see {@link ChangeSource.after}.
   * @param options for sharing that differ from the defaults.
   */
  constructor(
    source: Pick<ChangeSource, 'recent'>,
    changesAfter: ChangeSource['after'],
    options: Partial<SharedTextsOptions> = {},
  ) {
    this.#source = source;
    this.#changesAfter = changesAfter;
    this.#shared = new SharedTexts({ maxBytes: MAX_SHARED_BYTES, ...options });
  }

  /**
   * The changes of a change set, in order.
   *
   * @param gone ends the wait for them.
   * @throws the reason of `gone` if it ends them; CatalogError `history_gone`, `store_damaged`,
   *   `store_unreadable`; what the network throws.
   */
  async *of(sequence: number, gone: AbortSignal): AsyncGenerator<ChangeRun, void, void> {
    // There may be many short change sets in a row of which nothing is sent.
    await this.#turns.next();
    const recent = this.#source.recent(sequence);
    if (recent !== undefined && recent.bytes <= SHORT_BYTES) {
      yield* atOnce(runsOf(recent.changeSet));
      return;
    }
    const runs = this.#shared.read(String(sequence), () => this.#make(sequence), gone);
    let isWhole = false;
    for await (const { content, isLast } of runs) {
      isWhole = isLast;
      yield content;
    }
    if (!isWhole) gone.throwIfAborted();
  }

  async #make(sequence: number): Promise<readonly ChangeRun[]> {
    for await (const changeSet of this.#changesAfter(sequence - 1, sequence)) {
      return inSlices(runsOf(changeSet));
    }
    throw new Error(`change set ${sequence} was not read`);
  }
}

function* runsOf(changeSet: ChangeSet): Generator<undefined, readonly ChangeRun[]> {
  const { sequence, time } = changeSet;
  const runs: ChangeRun[] = [];
  let [texts, units]: [string[], number] = [[], 0];
  let resource: KindName | null = null;
  const endRun = () => {
    if (resource === null) return;
    runs.push({ sequence, time, resource, texts, length: units * UNIT_BYTES });
    [texts, units] = [[], 0];
  };
  for (const change of changesIn(changeSet)) {
    if (change !== null) {
      if (change.resource !== resource || units >= RUN_UNITS) endRun();
      ({ resource } = change);
      const text = change.text(true);
      texts.push(text);
      units += text.length;
    }
    yield;
  }
  endRun();
  return runs;
}
