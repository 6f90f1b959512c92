/** The flags of `serve` for its log and its metrics. */
import type { Command } from 'commander';
import { FORMATS, LEVELS } from '../../telemetry/log.ts';
import { choice, flag } from './flag.ts';
import { parseHost, parsePort } from './network.ts';

export function addLoggingFlags(serve: Command): void {
  serve
    .optionsGroup('Log and metrics:')
    .addOption(choice('--log-level <level>', 'least severe level that is logged', LEVELS, 'warn'))
    .addOption(
      choice(
        '--log-format <format>',
        'auto is text on a terminal and JSON elsewhere',
        FORMATS,
        'auto',
      ),
    )
    .addOption(
      flag(
        '--metrics-port <number>',
        'port of /metrics; 0 takes a free one; left out, there are no metrics',
        parsePort,
      ),
    )
    .addOption(
      flag('--metrics-host <host>', 'address of /metrics, if not that of --host', parseHost),
    );
}
