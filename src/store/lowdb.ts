/**
 * lowdb over a log. `Low.data` is the committed state: every reader and every draft works on it.
 *
 * lowdb's two operations keep their meaning. `read()` replaces the data by what is stored.
 * `write()` stores the data whole, as lowdb always does: that creates a store, and afterwards is a
 * checkpoint. Between two of them the log holds the change sets, because writing the whole document
 * for each commit would cost more the more is stored.
 */
import { type Adapter, Low } from 'lowdb';
import type { Log } from './log.ts';
import { State } from './state.ts';

class LogAdapter implements Adapter<State> {
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  read(): Promise<State | null> {
    return this.#log.open();
  }

  write(state: State): Promise<void> {
    return this.#log.checkpoint(state);
  }
}

/**
 * @param origin see {@link State.empty}.
 * @returns a database whose data is an empty state until `read()`.
 */
export function databaseOver(log: Log, origin?: string): Low<State> {
  return new Low<State>(new LogAdapter(log), State.empty(origin));
}
