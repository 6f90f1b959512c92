/**
 * The log of a server: one line for each event, on standard error.
 *
 * Invariants:
 * 1. Writing a line never throws, and never waits for the reader of standard error; only the line
 *    that says why the process ends waits, within a bound.
 * 2. The buffer is bounded. Lines that do not fit are dropped and counted.
 * 3. Control characters are escaped, whatever a client has put into a path or a header.
 */
import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';
import { SonicBoom } from 'sonic-boom';
import { withTimeout } from '../delay.ts';
import { writeLastLine } from '../disk/last-line.ts';
import { asText, escaped } from './text.ts';

/** From the fewest lines to the most. */
export const LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;

export type Level = (typeof LEVELS)[number];

/** `auto` is text on a terminal and JSON elsewhere. */
export const FORMATS = ['auto', 'json', 'text'] as const;

export type Format = (typeof FORMATS)[number];

const STANDARD_ERROR = 2;

/** Bytes that may wait for a slow reader. */
const MAX_BUFFER_BYTES = 1024 * 1024;

/**
 * Bytes that are gathered for one write, and milliseconds after which fewer are written. A write
 * costs as much time as several lines.
 */
const MIN_WRITE_BYTES = 4096;
const FLUSH_INTERVAL_MS = 50;

/** The beginning of a line of the level `error` or `warn`. */
const URGENT = /^\{"level":"(?:error|warn)"/;

/** Failures of a file that end once its disk has room again. */
const DISK_FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);

/** Milliseconds for which {@link Log.close} waits for the last lines to be written. */
const CLOSE_TIMEOUT_MS = 1000;

export interface LogOptions {
  readonly level: Level;
  readonly format: Format;
  /** Whether standard error is a terminal. */
  readonly terminal: boolean;
  /** Whether the stack of an error is logged with its message. */
  readonly stacks: boolean;
}

export class Log {
  readonly #pino: Logger;
  readonly #stacks: boolean;
  readonly #flush: () => Promise<void>;
  /** Whether lines are written directly, because the process ends. */
  #isLast = false;
  /** Bytes that are not written yet. */
  #waiting = 0;
  /** Lines since the last moment when none waited, without those that count as lost. */
  #lines = 0;
  /** Lines dropped so far, because standard error was not read in time, or at all. */
  lost = 0;

  constructor({ level, format, terminal, stacks }: LogOptions) {
    const text = format === 'text' || (format === 'auto' && terminal);
    // Not `pino.destination`, which at exit would wait for a slow reader without a limit.
    const out = new SonicBoom({
      fd: STANDARD_ERROR,
      sync: false,
      minLength: MIN_WRITE_BYTES,
      maxLength: MAX_BUFFER_BYTES,
    });
    let unreported = 0;
    const lose = (lines: number) => {
      this.lost += lines;
      unreported += lines;
    };
    out.on('drop', (line: string) => {
      lose(1);
      this.#lines -= 1;
      this.#waiting -= Buffer.byteLength(line);
    });
    out.on('write', (bytes) => {
      this.#waiting -= bytes;
      if (this.#waiting === 0) this.#lines = 0;
    });
    out.on('error', (error: NodeJS.ErrnoException) => {
      // The buffer keeps the lines, and is written again with the next one.
      if (DISK_FULL.has(error.code ?? '')) return;
      // The reader has gone: the lines can only be counted.
      lose(this.#lines);
      this.#lines = 0;
    });
    out.on('drain', () => {
      // A flush during a write does nothing: without this, the lines since would wait for the next.
      if (this.#waiting > 0) out.flush();
      if (unreported === 0) return;
      const lines = unreported;
      unreported = 0;
      this.warn(`${lines} lines of the log were lost: standard error was not read in time`);
    });
    this.#pino = pino(
      {
        level,
        base: null,
        timestamp: stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }) },
      },
      this.#stream(out, text, terminal),
    );
    this.#stacks = stacks;
    this.#flush = () => new Promise((resolve) => out.flush(() => resolve()));
  }

  /** Whether lines of the level are written. If not, the caller need not gather their fields. */
  writes(level: Exclude<Level, 'silent'>): boolean {
    return this.#pino.isLevelEnabled(level);
  }

  error(message: string, fields: object = {}): void {
    this.#pino.error(fields, message);
  }

  warn(message: string): void {
    this.#pino.warn(message);
  }

  info(message: string, fields: object = {}): void {
    this.#pino.info(fields, message);
  }

  debug(message: string, fields: object = {}): void {
    this.#pino.debug(fields, message);
  }

  /** Logs an error, with its stack if stacks are wanted. */
  failure(message: string, error: unknown, fields: object = {}): void {
    const stack = this.#stacks && error instanceof Error ? { stack: error.stack } : {};
    this.#pino.error({ ...fields, ...stack }, message);
  }

  /**
   * Logs why a process ends at once. The line is written whatever the level, and directly (see
   * {@link writeLastLine}); lines that are still being written at that moment can come after it.
   */
  lastFailure(message: string, error: unknown): void {
    this.#isLast = true;
    this.#pino.level = 'error';
    this.failure(message, error);
  }

  /** Waits, within bounds, until all lines are written. */
  async close(): Promise<void> {
    await withTimeout(this.#flush(), CLOSE_TIMEOUT_MS, () => {});
  }

  #stream(out: SonicBoom, text: boolean, colours: boolean): DestinationStream {
    let timer: ReturnType<typeof setTimeout> | null = null;
    const flush = () => {
      timer = null;
      out.flush();
    };
    return {
      write: (line) => {
        const shown = text ? asText(line, colours) : `${escaped(line.trimEnd())}\n`;
        if (this.#isLast) writeLastLine(shown);
        else {
          this.#waiting += Buffer.byteLength(shown);
          this.#lines += 1;
          out.write(shown);
        }
        // Errors and warnings are written at once, other lines together.
        if (URGENT.test(line)) out.flush();
        else timer ??= setTimeout(flush, FLUSH_INTERVAL_MS).unref();
      },
    };
  }
}
