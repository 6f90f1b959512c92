/** What pages need of a store. */
import type { ReadableStore } from '../../store/readable-store.ts';

export type Catalog = Pick<
  ReadableStore,
  | 'get'
  | 'peek'
  | 'has'
  | 'matching'
  | 'selectIds'
  | 'rank'
  | 'ids'
  | 'count'
  | 'lastId'
  | 'sequence'
  | 'digest'
>;
