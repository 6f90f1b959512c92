/** What belongs to an SPU. */
import type { Item } from '../../api/types.ts';
import type { SpecChoices } from './specs.ts';

export interface Parts {
  readonly spu: Item;
  readonly specs: readonly SpecChoices[];
  readonly skus: readonly Item[];
  /** Reads the specifications again. There may be thousands of SKUs, which these do not change. */
  readonly reloadSpecs: () => void;
  /** Reads both again. */
  readonly reload: () => void;
}
