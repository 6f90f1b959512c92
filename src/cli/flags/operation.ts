/** The flags of `serve` that are about running it: log, metrics, limits, whom to trust. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../auth/duration.ts';
import { messageOf } from '../../errors.ts';
import { trustIn } from '../../http/wire/client-address.ts';
import { LIMITS } from '../../http/wire/limits.ts';
import { FORMATS, LEVELS } from '../../telemetry/log.ts';
import { parseHost, parsePort, parseSize } from './values.ts';

/** More elements than a body of 1 MiB can hold: they count where `--max-body` is larger. */
const JSON_LIMITS = { depth: 64, elements: 1_000_000 };

/** Adds the flags to `serve`. */
export function addOperationFlags(serve: Command): void {
  const flag = <T>(
    flags: string,
    what: string,
    parse: (text: string, before: T) => T,
    fallback?: { readonly value: T; readonly shown: string },
  ): void => {
    const [name = ''] = flags.split(' ');
    const option = new Option(flags, what).env(variableOf(name)).argParser<T>(parse);
    if (fallback !== undefined) option.default(fallback.value, fallback.shown);
    serve.addOption(option);
  };
  serve.addOption(
    new Option('--log-level <level>', 'least important lines that the log has')
      .env('CATALOG_LOG_LEVEL')
      .choices(LEVELS)
      .default('warn'),
  );
  serve.addOption(
    new Option('--log-format <format>', 'of the log; auto is text on a terminal, else json')
      .env('CATALOG_LOG_FORMAT')
      .choices(FORMATS)
      .default('auto'),
  );
  flag('--metrics-port <number>', 'port for /metrics; 0 takes a free one', parsePort);
  flag('--metrics-host <host>', 'address for /metrics; that of --host otherwise', parseHost);
  flag('--trust-proxy <addresses>', 'proxies whose X-Forwarded-For is believed', parseProxies);
  flag('--protect-books [yes|no]', 'ask for a token to write books', parseSwitch);
  const count = (name: string, what: string, value: number, least = 1) =>
    flag(`${name} <number>`, what, parseCount(least), { value, shown: String(value) });
  const size = (name: string, what: string, value: number, range: Range) =>
    flag(`${name} <size>`, what, parseSizeWithin(range), { value, shown: `${value / 1024}KiB` });
  const time = (name: string, what: string, value: number) =>
    flag(`${name} <duration>`, what, parseTimeout, { value, shown: `${value / 1000}s` });
  size('--max-headers', 'largest headers of a request, together', LIMITS.headers, HEADERS);
  size('--max-url', 'longest target of a request', LIMITS.url, URLS);
  count('--max-json-depth', 'deepest nesting of a body', JSON_LIMITS.depth, DEPTH_OF_OUR_OWN);
  count('--max-json-elements', 'longest array of a body', JSON_LIMITS.elements);
  count('--max-connections', 'open connections', LIMITS.connections);
  count(
    '--max-connections-per-address',
    'open connections from one address; 0 for any number',
    LIMITS.connectionsPerAddress,
    0,
  );
  count('--max-pipelined', 'requests that wait on one connection', LIMITS.pipelined, 0);
  time('--headers-timeout', 'for the headers of a request to arrive', LIMITS.headersTimeout);
  time('--request-timeout', 'for a whole request to arrive', LIMITS.requestTimeout);
  time('--keep-alive-timeout', 'that an idle connection stays open', LIMITS.keepAliveTimeout);
  time('--send-timeout', 'for a client to take an answer', LIMITS.sendTimeout);
}

function variableOf(flag: string): string {
  return `CATALOG_${flag.slice(2).replaceAll('-', '_').toUpperCase()}`;
}

interface Range {
  readonly least: number;
  readonly most: number;
}

/** Browsers and proxies send a few KiB; node:http keeps them in memory for each connection. */
const HEADERS: Range = { least: 1024, most: 1024 * 1024 };

const URLS: Range = { least: 256, most: 1024 * 1024 };

/** An array of SKUs with their specifications is nested this deep. */
const DEPTH_OF_OUR_OWN = 4;

/** Within what a signed 32-bit number holds, in milliseconds: timers go no further. */
const MAX_TIMEOUT_MS = 24 * 3600 * 1000;

const MAX_COUNT = 1_000_000;

export function parseCount(least: number): (text: string) => number {
  return (text) => {
    if (/^\d{1,7}$/.test(text) && Number(text) >= least && Number(text) <= MAX_COUNT) {
      return Number(text);
    }
    throw new InvalidArgumentError(`Give a number from ${least} to ${MAX_COUNT}.`);
  };
}

export function parseSizeWithin({ least, most }: Range): (text: string) => number {
  return (text) => {
    const size = parseSize(text);
    if (size >= least && size <= most) return size;
    throw new InvalidArgumentError(`Give ${least} bytes or more, and at most ${most}.`);
  };
}

/** @returns milliseconds. */
export function parseTimeout(text: string): number {
  let milliseconds: number;
  try {
    milliseconds = parseDuration(text) * 1000;
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
  if (milliseconds <= MAX_TIMEOUT_MS) return milliseconds;
  throw new InvalidArgumentError('Give at most 1d.');
}

/** Addresses or networks with commas between them; more than one flag adds up. */
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

export function parseSwitch(text: string): boolean {
  if (/^(?:yes|true|1)$/.test(text)) return true;
  if (/^(?:no|false|0)$/.test(text)) return false;
  throw new InvalidArgumentError('Give yes or no.');
}
