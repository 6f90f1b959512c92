/** A log that is a list: it takes change sets at once, unless a test makes it refuse or wait. */
import { CatalogError } from '../../src/errors.ts';
import type { ChangeSet, EncodedChangeSet } from '../../src/store/change-set.ts';
import type { Log } from '../../src/store/log.ts';
import { State } from '../../src/store/state.ts';

export class MemoryLog implements Log {
  readonly encoded: EncodedChangeSet[] = [];
  checkpointDue = false;
  /** Called with every change set before it is taken; what it throws is what `append` throws. */
  onAppend: (encoded: EncodedChangeSet) => Promise<void> = async () => {};

  readonly #origin: string | undefined;

  /** @param origin the digest before the first change set; a random one if left out. */
  constructor(origin?: string) {
    this.#origin = origin;
  }

  async open(): Promise<State> {
    return State.empty(this.#origin);
  }

  async append(encoded: EncodedChangeSet): Promise<void> {
    await this.onAppend(encoded);
    this.encoded.push(encoded);
  }

  get changeSets(): ChangeSet[] {
    return this.encoded.map(({ changeSet }) => changeSet);
  }

  async *since(sequence: number): AsyncGenerator<EncodedChangeSet> {
    if (sequence > this.encoded.length) throw new CatalogError('history_gone', 'not yet');
    yield* this.encoded.slice(sequence);
  }

  async checkpoint(): Promise<void> {}

  async close(): Promise<void> {}
}
