/** The flags of `serve` for its log and its metrics. */
import type { Command } from 'commander';
import { FORMATS, LEVELS } from '../../telemetry/log.ts';
import { choice, flag } from './flag.ts';
import { parseHost, parsePort } from './network.ts';

/** Adds the flags to `serve`, with those of {@link addMetricsFlags}. */
export function addLoggingFlags(serve: Command): void {
  serve
    .optionsGroup('Log and metrics:')
    .addOption(choice('--log-level <level>', 'least severe level that is logged', LEVELS, 'warn'))
    .addOption(
      choice(
        '--log-format <format>',
        'format of the log; auto is text on a terminal and JSON elsewhere',
        FORMATS,
        'auto',
      ),
    );
  addMetricsFlags(serve);
}

/** The address of the metrics, at which the server reports its health as well. */
export function addMetricsFlags(command: Command): void {
  command
    .addOption(
      flag<number | undefined>(
        '--metrics-port <number>',
        'port of /metrics; 0 takes a free one',
        parsePort,
        { value: undefined, shown: 'no metrics' },
      ),
    )
    .addOption(
      flag<string | undefined>('--metrics-host <host>', 'address of /metrics', parseHost, {
        value: undefined,
        shown: 'that of --host',
      }).onlyWith('metricsPort'),
    );
}
