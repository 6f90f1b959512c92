/** Opens a host's part in a cluster from its settings. */
import { readShort } from '../../disk/watched-file.ts';
import { CatalogError } from '../../errors.ts';
import { Cluster } from '../../hosts/cluster/cluster.ts';
import type { Certificates, Login } from '../../hosts/cluster/etcd-client.ts';
import { type ClusterSettings, DEFAULT_LOG_TIMEOUT_MS } from './options.ts';

/** Bytes: more than the certificates of a machine have; it bounds the reading of a device. */
const MAX_BYTES = 1024 * 1024;

/**
 * @returns null if the host shares no log.
 * @throws CatalogError `usage` if settings do not fit together, or a file cannot be read.
 */
export function openCluster(settings: ClusterSettings): Cluster | null {
  const { log: address, logTimeout: timeoutMs = DEFAULT_LOG_TIMEOUT_MS } = settings;
  if (address === undefined) return null;
  const certificates = certificatesOf(settings);
  const origin = settings.advertise ?? null;
  return new Cluster({ address, certificates, login: loginOf(settings), timeoutMs, origin });
}

function certificatesOf({ logCa, logCert, logKey }: ClusterSettings): Certificates {
  if ((logCert === undefined) !== (logKey === undefined)) {
    throw new CatalogError('usage', 'give --log-cert and --log-key together');
  }
  return {
    ca: textOf('--log-ca', logCa),
    cert: textOf('--log-cert', logCert),
    key: textOf('--log-key', logKey),
  };
}

function loginOf({ logUser: name, logPasswordFile }: ClusterSettings): Login | null {
  const password = textOf('--log-password-file', logPasswordFile)?.split(/\r?\n/)[0];
  if (name === undefined && password === undefined) return null;
  if (name !== undefined && password !== undefined) return { name, password };
  throw new CatalogError('usage', 'give --log-user and --log-password-file together');
}

function textOf(flag: string, path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const content = readShort(path, MAX_BYTES, 'usage');
  if (content !== null) return content.bytes.toString();
  throw new CatalogError('usage', `${flag}: there is no file ${path}`);
}
