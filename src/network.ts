/** Which addresses count as one client, for limits on each client and for fair queues. */
import { isIPv6 } from 'node:net';

/** The 16-bit groups of an IPv6 address, and how many of them name its network. */
const GROUPS = 8;
const NETWORK_GROUPS = 4;

/**
 * The address itself, or the first 64 bits of an IPv6 address, since one host may have all
 * addresses with the same prefix (RFC 4291, section 2.5.4). An IPv4-mapped address gives the IPv4
 * address, since an IPv6 socket reports IPv4 clients so (section 2.5.5.2). A zone is dropped.
 */
export function networkOf(address: string): string {
  // The usual case: the test of the address takes longer.
  if (!address.includes(':')) return address;
  const [plain = ''] = address.split('%', 1);
  if (!isIPv6(plain)) return address;
  const groups = groupsOf(plain);
  const mapped = mappedAddress(groups);
  if (mapped !== null) return mapped;
  const network = groups.slice(0, NETWORK_GROUPS).map((group) => group.toString(16));
  return `${network.join(':')}::/64`;
}

/** The groups of a valid address (RFC 4291, section 2.2). */
function groupsOf(address: string): number[] {
  const [head = '', tail = ''] = address.split('::');
  const before = numbersOf(head);
  const after = numbersOf(tail);
  const zeros = Array<number>(GROUPS - before.length - after.length).fill(0);
  return [...before, ...zeros, ...after];
}

/** The last two groups may be written as an IPv4 address. */
function numbersOf(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

/** @returns the IPv4 address of an IPv4-mapped address; null for any other address. */
function mappedAddress(groups: readonly number[]): string | null {
  const prefix = groups.slice(0, 6).map((group) => group.toString(16));
  if (prefix.join(':') !== '0:0:0:0:0:ffff') return null;
  const bytes = groups.slice(6).flatMap((group) => [group >> 8, group & 255]);
  return bytes.join('.');
}
