/** What the commands are given from outside: streams, environment, version, disk. */
import type { Readable } from 'node:stream';
import type { Disk } from '../disk/disk.ts';

export interface Context {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly disk: Disk;
  /** Standard input. */
  readonly input: () => Readable;
  /** One line to standard output. */
  readonly print: (line: string) => void;
  /** Bytes to standard output; resolves when they are taken, and rejects when they are not. */
  readonly write: (bytes: Uint8Array) => Promise<void>;
  /** One line to standard error; the stack of an error follows under `--verbose`. */
  readonly warn: (line: string, error?: unknown) => void;
}
