/** What a command takes from outside: streams, environment, version, disk. */
import type { Readable, Writable } from 'node:stream';
import type { Disk } from '../disk/disk.ts';

export interface Context {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  /** For a server, one on which a wait for the device does not block its requests. */
  readonly disk: Disk;
  /** Standard input. */
  readonly input: () => Readable;
  /** Standard error if it is a terminal, for prompts and progress bars; otherwise null. */
  readonly terminal: Writable | null;
  /** Prints one line to standard output; control characters are escaped. */
  readonly print: (line: string) => void;
  /** Writes bytes to standard output; resolves when they are written, and rejects on failure. */
  readonly write: (bytes: Uint8Array) => Promise<void>;
  /** Prints one line to standard error, with `--verbose` followed by the stack of the error. */
  readonly warn: (line: string, error?: unknown) => void;
}
