/** Who is at the other end: a client, or a proxy that tells whom it speaks for. */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import proxyAddress from 'proxy-addr';
import { CatalogError, messageOf } from '../../errors.ts';

/** Whether what an address says of others is believed. */
export type Trust = (address: string) => boolean;

export const TRUST_NOBODY: Trust = () => false;

/**
 * @param proxies addresses, networks such as `10.0.0.0/8`, or `loopback`, `linklocal`,
 *   `uniquelocal`.
 * @throws CatalogError `usage`.
 */
export function trustIn(proxies: readonly string[]): Trust {
  if (proxies.length === 0) return TRUST_NOBODY;
  try {
    const trusts = proxyAddress.compile([...proxies]);
    return (address) => trusts(address, 0);
  } catch (error) {
    throw new CatalogError('usage', messageOf(error));
  }
}

/** The address of the peer, without the prefix that IPv6 sockets give to IPv4. */
export function peerAddress({ socket }: Pick<IncomingMessage, 'socket'>): string {
  return (socket.remoteAddress ?? '').replace(/^::ffff:/i, '');
}

/**
 * @returns the right-most address of `X-Forwarded-For` that no trusted proxy has; that of the peer
 *   where it is not trusted, or where what a proxy says is no address.
 */
export function clientAddress(incoming: IncomingMessage, trusts: Trust): string {
  const peer = peerAddress(incoming);
  if (trusts === TRUST_NOBODY || incoming.headers['x-forwarded-for'] === undefined) return peer;
  const address = proxyAddress(incoming, trusts);
  return isIP(address) === 0 ? peer : address.replace(/^::ffff:/i, '');
}
