/** The settings of a server. src/cli reads them from flags and variables. */
import type { ArchiveOptions } from './archive/open.ts';
import type { PageSettings } from '../pages/shop/settings.ts';
import type { ClusterSettings } from './cluster/options.ts';
import type { Format, Level } from '../telemetry/log.ts';

/** How the server is run: log, metrics, limits, trusted proxies. */
export interface RuntimeOptions {
  readonly logLevel: Level;
  readonly logFormat: Format;
  readonly metricsPort?: number;
  readonly metricsHost?: string;
  /** Addresses and networks of proxies, as `trustIn` takes them. */
  readonly trustProxy?: readonly string[];
  readonly protectBooks?: boolean;
  /** Bytes. */
  readonly maxHeaders: number;
  /** Bytes. */
  readonly maxUrl: number;
  /** Bytes. */
  readonly maxBodyMemory: number;
  /** Processes that serve requests; if it is 1, the one that owns the directory. */
  readonly workers: number;
  /** Bytes of all processes; three quarters of the machine's if left out. */
  readonly maxMemory?: number;
  /** Bytes free on the disk below which the server is not ready; see DiskWatch if left out. */
  readonly minFreeDisk?: number;
  readonly maxJsonDepth: number;
  readonly maxJsonElements: number;
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  readonly maxPipelined: number;
  /** Milliseconds, as are the other times. */
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly keepAliveTimeout: number;
  readonly sendTimeout: number;
}

/** A host that is followed, and how. */
export interface FollowOptions {
  /** Such as `https://primary.example/api`. */
  readonly address: string;
  /** A file with an admin token of the followed host. */
  readonly tokenFile: string;
  /** Whether writes are passed on to it. */
  readonly forward: boolean;
  /** Milliseconds for which tokens are accepted without its confirmation. */
  readonly maxUnconfirmed: number;
  /** Whether secrets may cross a connection that is not encrypted. */
  readonly insecure: boolean;
}

export interface ServeOptions extends RuntimeOptions, ArchiveOptions, ClusterSettings {
  /** The data directory. */
  readonly data: string;
  readonly host: string;
  readonly port: number;
  /** "" or a path such as "/api". */
  readonly basePath: string;
  /** Bytes. */
  readonly maxBody: number;
  /** Bytes of a file that is imported. */
  readonly maxImport: number;
  readonly corsOrigins: readonly string[];
  readonly pages: PageSettings;
  /** Milliseconds for which pages may wait while writes keep coming. */
  readonly pageDelay: number;
  /** Whether stacks are logged. */
  readonly verbose?: boolean;
  /** Bytes of the audit trail. */
  readonly auditSize: number;
  /** Bytes of change sets that are kept after a checkpoint. */
  readonly history: number;
  /** Bytes of change sets below which no checkpoint is made. */
  readonly checkpointSize: number;
  /** Whether other hosts may follow this one. */
  readonly followers?: boolean;
  /** The host that this one follows; left out if it follows none. */
  readonly follow?: FollowOptions;
  /** What is probably wrong in the settings; logged at the start. */
  readonly warnings?: readonly string[];
}
