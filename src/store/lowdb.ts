/**
 * lowdb over a log. `Low.data` is the committed state: every reader and every draft works on it.
 *
 * lowdb's two operations keep their meaning. `read()` replaces the data by what is stored.
 * `write()` stores all of the data, as lowdb always does: the first call creates the store, each
 * later one is a checkpoint. Between checkpoints the log holds the change sets, because the cost of
 * writing the whole document for each commit would grow with the store.
 */
import { type Adapter, Low } from 'lowdb';
import type { Log } from './log.ts';
import { State } from './state.ts';

/**
 * @param origin see {@link State.empty}.
 * @returns a database whose data is an empty state until `read()`.
 */
export function databaseOver(log: Log, origin?: string): Low<State> {
  const adapter: Adapter<State> = {
    read: () => log.open(),
    write: (state) => log.checkpoint(state),
  };
  return new Low(adapter, State.empty(origin));
}
