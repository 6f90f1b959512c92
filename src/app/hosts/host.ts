/** A host as a server runs it: one class for each way to work with other hosts. */
import type { HostSources } from '../../telemetry/host-metrics.ts';
import type { Context } from '../context.ts';
import type { Observability } from '../observability.ts';
import type { ServeOptions } from '../server-options.ts';
import type { CurrentCatalog } from './current-catalog.ts';

export interface Host {
  /** Why the host is not ready, in words for `/readyz`; null if it is. */
  readonly reason: () => string | null;
  /** How far it is behind the host that it follows; null if it follows none. */
  readonly following: HostSources['following'];
  /** Opens the catalog, if there is one to open already. @throws CatalogError as `openCatalog`. */
  begin(): Promise<void>;
  /**
   * Does what the host does besides answering requests, until that is done or the server is to end.
   *
   * @returns when nothing but the catalog writes to the directory any more.
   * @throws CatalogError if the host cannot go on.
   */
  run(): Promise<void>;
}

/** What every host works with. */
export interface HostParts {
  readonly options: ServeOptions;
  readonly context: Context;
  readonly observability: Observability;
  readonly current: CurrentCatalog;
  /** Aborts when the server is to end. */
  readonly stop: AbortSignal;
}
