/** What pages need of a store. */
import type { ReadableStore } from '../../store/state.ts';

export type Catalog = Pick<
  ReadableStore,
  'get' | 'matching' | 'select' | 'rank' | 'ids' | 'count' | 'lastId' | 'sequence' | 'digest'
>;
