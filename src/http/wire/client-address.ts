/** The address of a client, taken from a trusted proxy if there is one. */
import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import proxyAddress from 'proxy-addr';
import { CatalogError, messageOf } from '../../errors.ts';

/** Whether the peer at an address is trusted to name its clients. */
export type Trust = (address: string) => boolean;

/** The default: `X-Forwarded-For` is ignored, because any client can send it. */
export const TRUST_NOBODY: Trust = () => false;

/**
 * @param proxies addresses, networks such as `10.0.0.0/8`, or `loopback`, `linklocal`,
 *   `uniquelocal`.
 * @throws CatalogError `usage`.
 */
export function trustIn(proxies: readonly string[]): Trust {
  if (proxies.length === 0) return TRUST_NOBODY;
  const wrong = proxies.find((each) => !/^[a-z]+$/.test(each) && isIP(addressIn(each)) === 0);
  if (wrong !== undefined) throw new CatalogError('usage', `${wrong} is no address or network`);
  try {
    const trusts = proxyAddress.compile([...proxies]);
    return (address) => trusts(address, 0);
  } catch (error) {
    throw new CatalogError('usage', messageOf(error));
  }
}

/** proxy-addr reads `1` as 0.0.0.1 and `010.0.0.1` as 8.0.0.1, as inet_aton(3) does. */
function addressIn(network: string): string {
  return network.split('/', 1)[0] ?? '';
}

/** The parts of an incoming request that identify its client. */
export type Incoming = Pick<IncomingMessage, 'socket' | 'headers'>;

/** By socket. A socket that is closed has no address any more, and its request may not be logged yet. */
const PEERS = new WeakMap<object, string>();

/** Remembers the address of a new connection for {@link peerAddress}. */
export function rememberPeer(socket: Socket): void {
  PEERS.set(socket, remoteAddress(socket));
}

/** The address of the peer; an IPv4 address without the prefix that it has on IPv6 sockets. */
export function peerAddress({ socket }: Pick<IncomingMessage, 'socket'>): string {
  return PEERS.get(socket) ?? remoteAddress(socket);
}

function remoteAddress(socket: Socket): string {
  return (socket.remoteAddress ?? '').replace(/^::ffff:/i, '');
}

/**
 * @returns the right-most address of `X-Forwarded-For` that is not a trusted proxy; the address of
 *   the peer if the peer is not trusted, or if the header has no valid address there.
 */
export function clientAddress(incoming: Incoming, trusts: Trust): string {
  const peer = peerAddress(incoming);
  if (trusts === TRUST_NOBODY || incoming.headers['x-forwarded-for'] === undefined) return peer;
  const { headers } = incoming;
  const seen = { headers, socket: { remoteAddress: peer } };
  const address = proxyAddress(seen as IncomingMessage, trusts);
  return isIP(address) === 0 ? peer : address.replace(/^::ffff:/i, '');
}
