/** The settings of a host that shares its log with others. */
import type { LogAddress } from '../../hosts/cluster/address.ts';

export const DEFAULT_LOG_TIMEOUT_MS = 10_000;

export interface ClusterSettings {
  /** Where the log is; a host without one commits on its own. */
  readonly log?: LogAddress | undefined;
  /** Paths of files in PEM. */
  readonly logCa?: string | undefined;
  readonly logCert?: string | undefined;
  readonly logKey?: string | undefined;
  readonly logUser?: string | undefined;
  /** The path of a file whose first line is the password. */
  readonly logPasswordFile?: string | undefined;
  /** Milliseconds that a write waits for the log; {@link DEFAULT_LOG_TIMEOUT_MS} if left out. */
  readonly logTimeout?: number | undefined;
  /** The origin at which the other hosts reach this one. */
  readonly advertise?: string | undefined;
}

/** The settings of a host that certainly shares its log. */
export type SharedLogSettings = ClusterSettings & { readonly log: LogAddress };
