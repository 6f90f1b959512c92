/** The flags of `serve` that bound what a client may send, hold open and wait for. */
import { type Command, InvalidArgumentError } from 'commander';
import { MAX_IMPORT_BYTES } from '../../http/endpoints/imports/paths.ts';
import { LIMITS } from '../../http/wire/limits.ts';
import { JSON_LIMITS } from '../../json/json-limits.ts';
import { parseLifetime } from './access.ts';
import { type Flag, flag } from './flag.ts';
import { parseMemory, parseMinFreeDisk, parseSize, parseSizeWithin } from './sizes.ts';

/** An array of SKUs with their specifications is nested this deep. */
const MIN_JSON_DEPTH = 4;

/** Browsers and proxies send a few KiB; node:http keeps them in memory for each connection. */
const parseHeaders = parseSizeWithin({ least: 1024, most: 1024 * 1024 });

const parseUrl = parseSizeWithin({ least: 256, most: 1024 * 1024 });

/** The command `import` has it as well. */
export function maxImportFlag(): Flag {
  return sizeFlag('--max-import', 'largest file of an import', MAX_IMPORT_BYTES);
}

/** Adds the limits on sizes, in bytes, and on numbers to `serve`. */
export function addLimitFlags(serve: Command): void {
  serve.optionsGroup('Limits:');
  serve
    .addOption(sizeFlag('--max-body', 'largest body of a request', LIMITS.body))
    .addOption(maxImportFlag())
    .addOption(
      sizeFlag(
        '--max-body-memory',
        'memory for all request bodies over 16 KiB together',
        LIMITS.bodyMemory,
      ),
    );
  addMachineLimits(serve);
  serve
    .addOption(
      sizeFlag(
        '--max-headers',
        'total size of the headers of a request',
        LIMITS.headers,
        parseHeaders,
      ),
    )
    .addOption(sizeFlag('--max-url', 'longest path and query of a request', LIMITS.url, parseUrl))
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
      timeFlag(
        '--headers-timeout',
        'time for a client to send the headers of a request',
        LIMITS.headersTimeout,
      ),
    )
    .addOption(
      timeFlag(
        '--request-timeout',
        'time for a client to send a body, or a MiB of a file',
        LIMITS.requestTimeout,
      ),
    )
    .addOption(
      timeFlag(
        '--keep-alive-timeout',
        'time for an idle connection to stay open',
        LIMITS.keepAliveTimeout,
      ),
    )
    .addOption(
      timeFlag(
        '--send-timeout',
        'time for a client to read 64KiB of a response, or 1MiB of an export',
        LIMITS.sendTimeout,
      ),
    );
}

/** @param value the default, in bytes: whole KiB or MiB. */
export function sizeFlag(name: string, what: string, value: number, parse = parseSize): Flag {
  const shown = value % 2 ** 20 === 0 ? `${value / 2 ** 20}MiB` : `${value / 2 ** 10}KiB`;
  return flag(`${name} <size>`, what, parse, { value, shown });
}

function count(name: string, what: string, value: number, least = 1): Flag {
  return flag(`${name} <number>`, what, parseCount(least), { value });
}

/** @param value the default, in milliseconds: whole seconds. */
export function timeFlag(name: string, what: string, value: number, parse = parseTimeout): Flag {
  return flag(`${name} <duration>`, what, parse, { value, shown: `${value / 1000}s` });
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
