/** Opens a host's part in a cluster from its settings. */
import { type FileContent, readWithMode } from '../../disk/watched-file.ts';
import { CatalogError, messageOf, systemErrorCode } from '../../errors.ts';
import { Cluster } from '../../hosts/cluster/cluster.ts';
import type { Certificates, Login } from '../../hosts/cluster/etcd-client.ts';
import { type ClusterSettings, DEFAULT_LOG_TIMEOUT_MS } from './options.ts';

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
  const content = read(flag, path);
  if (content !== null) return content.bytes.toString();
  throw new CatalogError('usage', `${flag}: there is no file ${path}`);
}

function read(flag: string, path: string): FileContent | null {
  try {
    return readWithMode(path);
  } catch (cause) {
    const what =
      systemErrorCode(cause) === 'EFTYPE'
        ? `${path} is a pipe or a device; name a file, which commands can read as well`
        : `${path} cannot be read: ${messageOf(cause)}`;
    throw new CatalogError('usage', `${flag}: ${what}`, { cause });
  }
}
