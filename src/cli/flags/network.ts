/** The flags of `serve` for its address, and for the clients that may use it. */
import { type Command, InvalidArgumentError } from 'commander';
import { ANY_ORIGIN } from '../../http/rules/cors.ts';
import { trustIn } from '../../http/wire/client-address.ts';
import { flag, parseSwitch } from './flag.ts';

/** Adds the flags to `serve`, or to `health`, which asks a server that has the same flags. */
export function addAddressFlags(serve: Command): void {
  serve
    .addOption(flag('--host <host>', 'address to listen on', parseHost, { value: '127.0.0.1' }))
    .addOption(
      flag('--port <number>', 'port to listen on; 0 takes a free one', parsePort, { value: 8000 }),
    )
    .addOption(
      flag('--base-path <path>', 'path below which everything is served', parseBasePath, {
        value: '',
        shown: 'none',
      }),
    );
}

/** Adds the flags to `serve`. By default no other origin and no proxy is trusted. */
export function addClientFlags(serve: Command): void {
  serve
    .optionsGroup('Clients:')
    .addOption(
      flag(
        '--cors-origin <origin>',
        'origin whose pages may call the API; may be repeated',
        parseOrigins,
      ),
    )
    .addOption(
      flag(
        '--trust-proxy <addresses>',
        'proxies whose X-Forwarded-For is trusted: addresses, networks, or loopback',
        parseProxies,
      ),
    )
    .addOption(flag('--protect-books [yes|no]', 'require a token to write books', parseSwitch));
}

/**
 * @returns a name or an address; whether it belongs to this machine shows when it is used.
 * @throws InvalidArgumentError.
 */
export function parseHost(text: string): string {
  // The runtime takes an asterisk for all addresses.
  if (/^[^\s*]+$/.test(text)) return text;
  throw new InvalidArgumentError(
    'Name an address, such as 127.0.0.1, or 0.0.0.0 for all addresses of this machine.',
  );
}

/** @returns 0 to 65535; 0 stands for any free port. @throws InvalidArgumentError. */
export function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError('Give a number from 0 to 65535.');
}

/**
 * @returns the address of a server, without query, fragment and credentials.
 * @throws InvalidArgumentError.
 */
export function parseServerUrl(text: string): URL {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol) && !/[?#@]/.test(text)) return url;
  throw new InvalidArgumentError('Give an address such as http://127.0.0.1:8000.');
}

/** @returns "" for "/"; a slash at the end is removed. */
function parseBasePath(text: string): string {
  const path = text.replace(/\/$/, '');
  const [first, ...segments] = path.split('/');
  if (first === '' && segments.every(isPlainSegment)) return path;
  throw new InvalidArgumentError('Give a path that begins with a slash, such as /api.');
}

/** Whether a segment needs no escapes, and is not one that clients resolve (RFC 3986, 5.2.4). */
function isPlainSegment(segment: string): boolean {
  return /^[\w.~-]+$/.test(segment) && segment !== '.' && segment !== '..';
}

/**
 * @returns the origins (RFC 6454) of a list with commas, after those of earlier flags.
 * @throws InvalidArgumentError.
 */
export function parseOrigins(text: string, before: readonly string[] = []): string[] {
  const origins = text.split(',').map((origin) => origin.trim());
  for (const origin of origins) {
    if (origin === ANY_ORIGIN || isOrigin(origin)) continue;
    throw new InvalidArgumentError(
      'Give origins such as https://shop.example, without a path and in lower case, or "*".',
    );
  }
  return [...before, ...origins];
}

/** Whether it is written as browsers send it in `Origin`. */
function isOrigin(text: string): boolean {
  return /^https?:[^*]+$/.test(text) && URL.parse(text)?.origin === text;
}

/**
 * @returns the addresses and networks of a list with commas, after those of earlier flags.
 * @throws InvalidArgumentError.
 */
export function parseProxies(text: string, before: readonly string[] = []): readonly string[] {
  const named = text.split(',').map((each) => each.trim());
  try {
    trustIn(named);
  } catch {
    throw new InvalidArgumentError(
      'Give addresses or networks, such as 10.0.0.1 or 10.0.0.0/8, or loopback.',
    );
  }
  return [...before, ...named];
}
