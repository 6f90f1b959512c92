/** The delays between the attempts of a test, noted as they are taken. */
import { Backoff } from '../../src/backoff.ts';

export class RecordedBackoff extends Backoff {
  /** Milliseconds. */
  readonly delays: number[] = [];

  override delay(): number {
    const delay = super.delay();
    this.delays.push(delay);
    return delay;
  }
}
