/** Opens a host's part in a cluster from its settings. */
import type { Disk } from '../../disk/disk.ts';
import { CatalogError } from '../../errors.ts';
import { Cluster } from '../../hosts/cluster/cluster.ts';
import type { Certificates, Login } from '../../hosts/cluster/etcd-client.ts';
import { type ClusterSettings, DEFAULT_LOG_TIMEOUT_MS } from './options.ts';

/**
 * @returns null if the host shares no log.
 * @throws CatalogError `usage` if settings do not fit together, or a file cannot be read.
 */
export function openCluster(settings: ClusterSettings, disk: Disk): Cluster | null {
  const { log: address, logTimeout: timeoutMs = DEFAULT_LOG_TIMEOUT_MS } = settings;
  if (address === undefined) return null;
  const certificates = certificatesOf(settings, disk);
  const origin = settings.advertise ?? null;
  return new Cluster({ address, certificates, login: loginOf(settings, disk), timeoutMs, origin });
}

function certificatesOf({ logCa, logCert, logKey }: ClusterSettings, disk: Disk): Certificates {
  if ((logCert === undefined) !== (logKey === undefined)) {
    throw new CatalogError('usage', 'give --log-cert and --log-key together');
  }
  return {
    ca: textOf('--log-ca', logCa, disk),
    cert: textOf('--log-cert', logCert, disk),
    key: textOf('--log-key', logKey, disk),
  };
}

function loginOf({ logUser: name, logPasswordFile }: ClusterSettings, disk: Disk): Login | null {
  const password = textOf('--log-password-file', logPasswordFile, disk)?.split(/\r?\n/)[0];
  if (name === undefined && password === undefined) return null;
  if (name !== undefined && password !== undefined) return { name, password };
  throw new CatalogError('usage', 'give --log-user and --log-password-file together');
}

function textOf(flag: string, path: string | undefined, disk: Disk): string | undefined {
  if (path === undefined) return undefined;
  // The file may be a pipe, which only this call reads.
  const pieces = disk.input(path);
  if (pieces === null) throw new CatalogError('usage', `${flag}: there is no file ${path}`);
  return Buffer.concat(Array.from(pieces, (piece) => Buffer.from(piece))).toString();
}
