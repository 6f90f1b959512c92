/** The state of a primary, as a host that follows it receives it (spec 15.10). */
import type { HostState } from '../../src/http/services.ts';
import { SCHEMA_VERSION } from '../../src/store/files/schema.ts';
import type { HostRecord } from '../../src/store/hosts/host-record.ts';
import type { Store } from '../../src/store/store.ts';

/** @param source the store of the primary. */
export function stateOfPrimary(
  { history, epochs, predecessors }: Pick<HostRecord, 'history' | 'epochs' | 'predecessors'>,
  { sequence, digest }: Pick<Store, 'sequence' | 'digest'>,
): HostState {
  return {
    history,
    epochs,
    predecessors,
    role: 'primary',
    primary: null,
    schema: SCHEMA_VERSION,
    sequence,
    digest,
    base_bytes: 1,
    credentials: 'c'.repeat(64),
    secret: null,
  };
}
