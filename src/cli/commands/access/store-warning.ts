/** The warning of commands that also work before the first start, when there is no store yet. */
import type { Context } from '../../../app/context.ts';
import { messageOf } from '../../../errors.ts';
import { requireStore } from '../../../store/directory.ts';

/** Warns if `data` holds no store: its name may be mistyped. */
export function warnWithoutStore(data: string, { disk, warn }: Context): void {
  try {
    requireStore(data, disk);
  } catch (error) {
    warn(`warning: ${messageOf(error)}`);
  }
}
