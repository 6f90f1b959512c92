/** The flags of `serve` for the log that several hosts share. */
import { type Command, InvalidArgumentError } from 'commander';
import { messageOf } from '../../errors.ts';
import { DEFAULT_LOG_TIMEOUT_MS } from '../../app/cluster/options.ts';
import { isSecure, parseHostAddress } from '../../hosts/address.ts';
import { type LogAddress, parseLogAddress } from '../../hosts/cluster/address.ts';
import { flag } from './flag.ts';
import { timeFlag } from './limits.ts';
import { parseFile } from './values.ts';

/** Adds the flags to `serve`. The others need `--log`. */
export function addClusterFlags(serve: Command): void {
  serve
    .optionsGroup('Shared log in etcd:')
    .addOption(
      flag<LogAddress | undefined>(
        '--log <url>',
        'etcd cluster with the log that all hosts share, such as etcd://a:2379,b:2379,c:2379/shop',
        parseLog,
      ),
    )
    .addOption(
      flag('--log-ca <file>', 'file with the CA certificates of etcd', parseFile).onlyWith('log'),
    )
    .addOption(
      flag('--log-cert <file>', 'client certificate of this host for etcd', parseFile).onlyWith(
        'log',
      ),
    )
    .addOption(
      flag('--log-key <file>', 'private key of that certificate', parseFile).onlyWith('log'),
    )
    .addOption(flag('--log-user <name>', 'etcd user', parseUser).onlyWith('log'))
    .addOption(
      flag('--log-password-file <file>', 'file with the password of that user', parseFile).onlyWith(
        'log',
      ),
    )
    .addOption(
      timeFlag(
        '--log-timeout',
        'longest time that a write waits for etcd',
        DEFAULT_LOG_TIMEOUT_MS,
      ).onlyWith('log'),
    )
    .addOption(
      flag(
        '--advertise <url>',
        'address at which other hosts reach this one, such as https://a.example:8000',
        parseAdvertised,
      ).onlyWith('log'),
    );
}

function parseLog(text: string): LogAddress {
  try {
    return parseLogAddress(text);
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
}

function parseUser(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('Name an etcd user.');
}

/**
 * Tokens and passwords are sent to the address, so it needs TLS unless it is on this machine.
 *
 * @returns an origin, without a path.
 */
function parseAdvertised(text: string): string {
  const address = parseHostAddress(text);
  const isOrigin = address?.origin === text.replace(/\/$/, '');
  if (address !== null && isOrigin && isSecure(address)) return address.origin;
  throw new InvalidArgumentError(
    'Give https, host and port, such as https://a.example:8000; http only for a loopback address.',
  );
}
