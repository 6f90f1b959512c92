/** The description of a state of the store in messages. */
import { ALL_KINDS } from '../../model/kinds.ts';
import type { State } from '../../store/state.ts';

/** "135 rows as of change set 8, 2026-11-21T14:27:37.505Z". */
export function describeState({ rows, sequence, time }: State): string {
  const count = ALL_KINDS.reduce((sum, { name }) => sum + rows[name].size, 0);
  return `${count} ${count === 1 ? 'row' : 'rows'} as of change set ${sequence}${time === null ? '' : `, ${time}`}`;
}
