/** Addresses of other hosts. */
import { CatalogError } from '../errors.ts';

/** Another host, as `--follow` names it. */
export interface HostAddress {
  /** Scheme, name and port, such as `https://primary.example`. */
  readonly origin: string;
  /** The path below which it serves; "" or a path such as `/api`. */
  readonly basePath: string;
}

/** Hosts to which secrets may be sent without TLS, because they do not leave the machine. */
export const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * @param text an address such as `https://primary.example/api`.
 * @returns null if it is not the address of a host.
 */
export function parseHostAddress(text: string): HostAddress | null {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
    return null;
  }
  return { origin: url.origin, basePath: url.pathname.replace(/\/$/, '') };
}

/** @returns the address as one string. */
export function formatHostAddress({ origin, basePath }: HostAddress): string {
  return `${origin}${basePath}`;
}

/** @returns whether others cannot read what is sent to the address. */
export function isSecure({ origin }: HostAddress): boolean {
  const { protocol, hostname } = new URL(origin);
  return protocol === 'https:' || LOOPBACK.test(hostname);
}

/**
 * Checks that secrets may cross a connection.
 *
 * @throws CatalogError `usage` if others could read them on the way.
 */
export function requireSecure(address: HostAddress): void {
  if (isSecure(address)) return;
  const { origin } = address;
  throw new CatalogError(
    'usage',
    `${origin} is not encrypted, and accounts and keys would cross it: use https://, or --follow-insecure on a network that you trust`,
  );
}
