/** The flags of `serve` that bound what a client may send, hold open and wait for. */
import { type Command, InvalidArgumentError } from 'commander';
import { MAX_IMPORT_BYTES } from '../../http/endpoints/imports/paths.ts';
import { LIMITS } from '../../http/wire/limits.ts';
import { JSON_LIMITS } from '../../json/json-limits.ts';
import { parseLifetime } from './access.ts';
import { type Flag, flag } from './flag.ts';
import {
  parseMemory,
  parseMinFreeDisk,
  parseSize,
  parseSizeWithin,
  type SizeRange,
} from './sizes.ts';

/** An array of SKUs with their specifications is nested this deep. */
const MIN_JSON_DEPTH = 4;

/** Browsers and proxies send a few KiB; node:http keeps them in memory for each connection. */
const HEADER_BYTES: SizeRange = { least: 1024, most: 1024 * 1024 };

const URL_BYTES: SizeRange = { least: 256, most: 1024 * 1024 };

/** The command `import` has it as well. */
export function maxImportFlag(): Flag {
  return flag('--max-import <size>', 'largest file of an import', parseSize, {
    value: MAX_IMPORT_BYTES,
    shown: '256MiB',
  });
}

/** Adds the limits on sizes, in bytes, and on numbers to `serve`. */
export function addLimitFlags(serve: Command): void {
  serve.optionsGroup('Limits:');
  serve
    .addOption(
      flag('--max-body <size>', 'largest body of a request', parseSize, {
        value: LIMITS.body,
        shown: '1MiB',
      }),
    )
    .addOption(maxImportFlag())
    .addOption(
      flag(
        '--max-body-memory <size>',
        'memory for all request bodies over 16 KiB together',
        parseSize,
        {
          value: LIMITS.bodyMemory,
          shown: '64MiB',
        },
      ),
    );
  addMachineLimits(serve);
  serve
    .addOption(
      size('--max-headers', 'total size of the headers of a request', LIMITS.headers, HEADER_BYTES),
    )
    .addOption(size('--max-url', 'longest path and query of a request', LIMITS.url, URL_BYTES))
    .addOption(
      count(
        '--max-json-depth',
        'maximum nesting depth of a JSON body',
        JSON_LIMITS.depth,
        MIN_JSON_DEPTH,
      ),
    )
    .addOption(
      count(
        '--max-json-elements',
        'maximum number of elements in an array of a body',
        JSON_LIMITS.elements,
      ),
    )
    .addOption(count('--max-connections', 'maximum number of open connections', LIMITS.connections))
    .addOption(
      count(
        '--max-connections-per-address',
        'maximum number of open connections from one address, or one /64 of IPv6; 0 for no limit',
        LIMITS.connectionsPerAddress,
        0,
      ),
    )
    .addOption(
      count(
        '--max-pipelined',
        'maximum number of requests that wait for an earlier one on their connection',
        LIMITS.pipelined,
        0,
      ),
    );
}

/** The limits of memory and disk space. */
function addMachineLimits(serve: Command): void {
  serve
    .addOption(
      flag<number | undefined>('--max-memory <size>', 'memory limit of the process', parseMemory, {
        value: undefined,
        shown: "3/4 of the machine's",
      }),
    )
    .addOption(
      flag<number | undefined>(
        '--min-free-disk <size>',
        'free disk space below which /readyz is 503; 0 turns this off',
        parseMinFreeDisk,
        { value: undefined, shown: '256MiB or 5% of the disk if that is less' },
      ),
    );
}

/** Adds the limits on times, in milliseconds, to `serve`. */
export function addTimeoutFlags(serve: Command): void {
  serve.optionsGroup('Timeouts:');
  serve
    .addOption(
      time(
        '--headers-timeout',
        'time for a client to send the headers of a request',
        LIMITS.headersTimeout,
      ),
    )
    .addOption(
      time(
        '--request-timeout',
        'time for a client to send a body, or a MiB of a file',
        LIMITS.requestTimeout,
      ),
    )
    .addOption(
      time(
        '--keep-alive-timeout',
        'time for an idle connection to stay open',
        LIMITS.keepAliveTimeout,
      ),
    )
    .addOption(
      time(
        '--send-timeout',
        'time for a client to read 64KiB of a response, or 1MiB of an export',
        LIMITS.sendTimeout,
      ),
    );
}

function size(name: string, what: string, value: number, range: SizeRange): Flag {
  const shown = `${value / 1024}KiB`;
  return flag(`${name} <size>`, what, parseSizeWithin(range), { value, shown });
}

function count(name: string, what: string, value: number, least = 1): Flag {
  return flag(`${name} <number>`, what, parseCount(least), { value });
}

function time(name: string, what: string, value: number): Flag {
  return flag(`${name} <duration>`, what, parseTimeout, { value, shown: `${value / 1000}s` });
}

/** A day. A timer takes no more milliseconds than a signed 32-bit number holds. */
const MAX_TIMEOUT_MS = 24 * 3600 * 1000;

const MAX_COUNT = 1_000_000;

/**
 * @param least the smallest number that is allowed, 0 or more.
 * @returns a parser of numbers from `least` to {@link MAX_COUNT}, which throws
 *   InvalidArgumentError for other texts.
 */
export function parseCount(least: number): (text: string) => number {
  return (text) => {
    if (/^\d{1,7}$/.test(text) && Number(text) >= least && Number(text) <= MAX_COUNT) {
      return Number(text);
    }
    throw new InvalidArgumentError(`Give a number from ${least} to ${MAX_COUNT}.`);
  };
}

/** @returns milliseconds. @throws InvalidArgumentError. */
export function parseTimeout(text: string): number {
  const milliseconds = parseLifetime(text) * 1000;
  if (milliseconds <= MAX_TIMEOUT_MS) return milliseconds;
  throw new InvalidArgumentError('Give at most 1d.');
}
