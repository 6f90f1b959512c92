/** The flags of `serve` for a host that follows another one. */
import { type Command, InvalidArgumentError } from 'commander';
import type { FollowOptions } from '../../app/server-options.ts';
import { CatalogError } from '../../errors.ts';
import { isSecure, parseHostAddress, formatHostAddress } from '../../hosts/address.ts';
import { type Flag, flag, parseSwitch } from './flag.ts';
import { parseTimeout, timeFlag } from './limits.ts';
import { parseFile } from './values.ts';

/** Milliseconds. */
const DEFAULT_UNCONFIRMED_MS = 10_000;
const MIN_UNCONFIRMED_MS = 3000;
const MAX_UNCONFIRMED_MS = 3600 * 1000;

/** The flags as commander names them. */
export interface HostFlags {
  readonly follow?: string;
  readonly tokenFile?: string;
  readonly forward: boolean;
  readonly maxUnconfirmed: number;
  readonly followInsecure?: boolean;
}

/** Adds the flags to `serve`; {@link followOptionsOf} turns their values into options. */
export function addHostFlags(serve: Command): void {
  serve
    .optionsGroup('Primary and followers:')
    .addOption(
      flag(
        '--followers [yes|no]',
        'let other hosts follow this one; they get its accounts and keys',
        parseSwitch,
      ),
    )
    .addOption(
      // The primary archives, since an archive has one writer; and a shared log has no primary.
      flag('--follow <url>', 'follow the host at this address', parseFollowed).conflicts([
        'archive',
        'log',
      ]),
    )
    .addOption(
      flag(
        '--token-file <file>',
        'file with an admin token of the followed host',
        parseFile,
      ).onlyWith('follow'),
    )
    .addOption(
      flag(
        '--no-forward [yes|no]',
        'refuse writes instead of forwarding them',
        (text) => !parseSwitch(text),
      ).onlyWith('follow'),
    )
    .addOption(
      timeFlag(
        '--max-unconfirmed',
        'how long tokens are accepted while the followed host does not answer',
        DEFAULT_UNCONFIRMED_MS,
        parseUnconfirmed,
      ).onlyWith('follow'),
    )
    .addOption(
      flag(
        '--follow-insecure [yes|no]',
        'let accounts and keys cross a network unencrypted',
        parseSwitch,
      ).onlyWith('follow'),
    );
}

/** The flag of `promote`. */
export function notifyFlag(): Flag {
  return flag(
    '--notify <url>',
    'also tell the host at this address to take no more writes; may be repeated',
    parseNotified,
  );
}

/**
 * @returns undefined if no host is followed.
 * @throws CatalogError `usage`.
 */
export function followOptionsOf(flags: HostFlags): FollowOptions | undefined {
  const { follow: address, tokenFile, forward, maxUnconfirmed, followInsecure } = flags;
  if (address === undefined) return undefined;
  if (tokenFile === undefined) {
    throw new CatalogError('usage', '--follow needs --token-file, with a token of the role admin');
  }
  return { address, tokenFile, forward, maxUnconfirmed, insecure: followInsecure ?? false };
}

function parseFollowed(text: string): string {
  const address = parseHostAddress(text);
  if (address !== null) return formatHostAddress(address);
  throw new InvalidArgumentError('Give an address such as https://primary.example.');
}

function parseNotified(text: string, before: readonly string[] = []): string[] {
  const address = parseHostAddress(text);
  if (address !== null && isSecure(address)) return [...before, formatHostAddress(address)];
  throw new InvalidArgumentError(
    'Give an address such as https://other.example; http:// only with a loopback address, because a token is sent there.',
  );
}

/** @returns milliseconds. */
function parseUnconfirmed(text: string): number {
  const milliseconds = parseTimeout(text);
  if (milliseconds >= MIN_UNCONFIRMED_MS && milliseconds <= MAX_UNCONFIRMED_MS) {
    return milliseconds;
  }
  throw new InvalidArgumentError('Give a duration from 3s to 1h.');
}
