/** The address of a log, `etcd://a:2379,b:2379,c:2379/shop`, and how its nodes are reached. */
import { CatalogError } from '../../errors.ts';
import { LOOPBACK } from '../address.ts';

/** Nodes of a cluster; etcd's own advice is seven at most. */
const MAX_NODES = 16;

const ADDRESS = /^etcd:\/\/([^/?#@]+)(\/[\w.~-]+)+\/?$/;

/** A name or IPv4 address, or an IPv6 address in brackets, and a port. */
const NODE = /^([\w.-]+|\[[0-9A-Fa-f:.]+\]):(\d{1,5})$/;

/** An address as it is written, before it is known whether there are certificates. */
export interface LogAddress {
  /** `a:2379` for each node. */
  readonly nodes: readonly string[];
  /** The prefix of every key: `/shop/`. */
  readonly prefix: string;
}

/** How etcd is reached. */
export interface EtcdAddress {
  /** `https://a:2379` for each node. */
  readonly endpoints: readonly string[];
  /** The prefix of every key: `/shop/`. */
  readonly prefix: string;
}

/** PEM texts. */
export interface Certificates {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/** @throws CatalogError `usage`. */
export function parseLogAddress(text: string): LogAddress {
  const [, list = ''] = ADDRESS.exec(text) ?? [];
  const nodes = list.split(',');
  if (nodes.length > MAX_NODES || !nodes.every(isNode)) {
    throw new CatalogError(
      'usage',
      'Give the nodes of etcd and a prefix, such as etcd://a:2379,b:2379,c:2379/shop.',
    );
  }
  const path = text.slice(text.indexOf(list) + list.length);
  return { nodes, prefix: path.endsWith('/') ? path : `${path}/` };
}

/**
 * Chooses TLS: always, except to nodes on this machine for which no certificate is given.
 *
 * @returns the address with an endpoint for each node.
 */
export function endpointsOf(
  { nodes, prefix }: LogAddress,
  { ca, cert, key }: Certificates,
): EtcdAddress {
  const isLocal = nodes.every((node) => LOOPBACK.test(node.slice(0, node.lastIndexOf(':'))));
  const isPlain = isLocal && ca === undefined && cert === undefined && key === undefined;
  const scheme = isPlain ? 'http' : 'https';
  return { endpoints: nodes.map((node) => `${scheme}://${node}`), prefix };
}

/** The inverse of {@link parseLogAddress}. */
export function formatLogAddress({ nodes, prefix }: LogAddress): string {
  return `etcd://${nodes.join(',')}${prefix.replace(/\/$/, '')}`;
}

function isNode(text: string): boolean {
  const port = NODE.exec(text)?.[2];
  return port !== undefined && Number(port) >= 1 && Number(port) <= 65_535;
}
