/** `health` on the command line. */
import { type Command, Option } from 'commander';
import type { Context } from '../../app/context.ts';
import { subcommand } from '../command.ts';
import { health, healthUrl, readinessUrl, type ServerAddress } from '../commands/health.ts';
import { parseTimeout } from '../flags/limits.ts';
import { addMetricsFlags } from '../flags/logging.ts';
import { addAddressFlags, parseServerUrl } from '../flags/network.ts';

interface HealthFlags extends ServerAddress {
  readonly url?: URL;
  /** Milliseconds. */
  readonly timeout: number;
}

export function declareHealth(program: Command, context: Context): void {
  const command = subcommand(program, 'health', 'ask a running server whether it is ready')
    .option(
      '--url <url>',
      'address of the server (default: that of the flags below)',
      parseServerUrl,
    )
    .addOption(
      new Option('--timeout <duration>', 'for the whole answer')
        .default(5000, '5s')
        .argParser(parseTimeout),
    )
    .option('--verbose', 'print the stack of an error as well')
    .action(({ url, timeout, ...address }: HealthFlags) =>
      health({ url: url === undefined ? readinessUrl(address) : healthUrl(url), timeout }, context),
    );
  command.optionsGroup('As the server has them:');
  addAddressFlags(command);
  addMetricsFlags(command);
}
