/** `health` on the command line. */
import type { Command } from 'commander';
import type { Context } from '../../app/context.ts';
import { subcommand, verboseFlag } from '../command.ts';
import { health, healthUrl, readinessUrl, type ServerAddress } from '../commands/health.ts';
import { flag } from '../flags/flag.ts';
import { timeFlag } from '../flags/limits.ts';
import { addMetricsFlags } from '../flags/logging.ts';
import { addAddressFlags, parseServerUrl } from '../flags/network.ts';

interface HealthFlags extends ServerAddress {
  readonly url?: URL;
  /** Milliseconds. */
  readonly timeout: number;
}

/** Adds the command. It needs no data directory: it asks the server over HTTP. */
export function declareHealth(program: Command, context: Context): void {
  const command = subcommand(program, 'health', 'ask a running server whether it is ready')
    .addOption(
      flag(
        '--url <url>',
        'address of the server (default: built from the flags below)',
        parseServerUrl,
      ).insteadOf(['host', 'port', 'basePath', 'metricsPort', 'metricsHost']),
    )
    .addOption(timeFlag('--timeout', 'time for the whole response', 5000))
    .addOption(verboseFlag())
    .action(({ url, timeout, ...address }: HealthFlags) =>
      health({ url: url === undefined ? readinessUrl(address) : healthUrl(url), timeout }, context),
    );
  command.optionsGroup('Flags that the server was started with:');
  addAddressFlags(command);
  addMetricsFlags(command);
}
