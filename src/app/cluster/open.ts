/** Opens a host's part in a cluster from its settings. */
import { createSecureContext } from 'node:tls';
import { type FileContent, readShort } from '../../disk/watched-file.ts';
import { CatalogError, messageOf } from '../../errors.ts';
import type { Certificates } from '../../hosts/cluster/address.ts';
import { Cluster } from '../../hosts/cluster/cluster.ts';
import type { EtcdLogin } from '../../hosts/cluster/etcd-client.ts';
import { type ClusterSettings, DEFAULT_LOG_TIMEOUT_MS, type SharedLogSettings } from './options.ts';

/** More than a bundle of certificates has. */
const MAX_BYTES = 4 * 1024 * 1024;

/** @throws CatalogError `usage` if settings do not fit together, or a file cannot be read. */
export function openCluster(settings: SharedLogSettings): Cluster {
  const { log: address, logTimeout: timeoutMs = DEFAULT_LOG_TIMEOUT_MS } = settings;
  const certificates = certificatesOf(settings);
  const origin = settings.advertise ?? null;
  return new Cluster({ address, certificates, login: loginOf(settings), timeoutMs, origin });
}

function certificatesOf({ logCa, logCert, logKey }: ClusterSettings): Certificates {
  if ((logCert === undefined) !== (logKey === undefined)) {
    throw new CatalogError('usage', 'give --log-cert and --log-key together');
  }
  const ca = textOf('--log-ca', logCa);
  const cert = textOf('--log-cert', logCert);
  const key = textOf('--log-key', logKey);
  requirePem(`--log-ca: ${logCa} has no certificate`, { ca });
  requirePem(`${logCert} and ${logKey} are not a certificate and its key`, { cert, key });
  return { ca, cert, key };
}

/** The HTTP client would report a mistake as an address that cannot be reached. */
function requirePem(mistake: string, certificates: Certificates): void {
  try {
    createSecureContext(certificates);
  } catch (cause) {
    throw new CatalogError('usage', `${mistake} in PEM format: ${messageOf(cause)}`, { cause });
  }
}

function loginOf({ logUser: name, logPasswordFile }: ClusterSettings): EtcdLogin | null {
  const password = textOf('--log-password-file', logPasswordFile)?.split(/\r?\n/)[0];
  if (name === undefined && password === undefined) return null;
  if (name !== undefined && password !== undefined) return { name, password };
  throw new CatalogError('usage', 'give --log-user and --log-password-file together');
}

function textOf(flag: string, path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const content = read(flag, path);
  if (content === null) throw new CatalogError('usage', `${flag}: there is no file ${path}`);
  if (content.bytes.length === 0) throw new CatalogError('usage', `${flag}: ${path} is empty`);
  // Without the byte order mark that some editors write.
  return new TextDecoder().decode(content.bytes);
}

/** Commands that change accounts and keys read the file again. */
function read(flag: string, path: string): FileContent | null {
  try {
    return readShort(path, MAX_BYTES, 'usage');
  } catch (cause) {
    throw new CatalogError('usage', `${flag}: ${messageOf(cause)}`, { cause });
  }
}
