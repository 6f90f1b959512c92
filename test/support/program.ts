/** The program, called in this process with streams of the test's own. */
import { Readable, Writable } from 'node:stream';
import { version } from '../../package.json' with { type: 'json' };
import { run } from '../../src/cli/run.ts';
import type { Disk } from '../../src/disk/disk.ts';
import { temporaryDirectory } from './directory.ts';
import { quickDisk } from './disk.ts';
import type { Finished } from './server.ts';

export interface CallOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** What is on standard input. */
  readonly input?: string | Uint8Array;
  readonly disk?: Disk;
  /** Standard error is a terminal. */
  readonly terminal?: true;
  readonly platform?: NodeJS.Platform;
  /** The code of the error with which standard output fails. */
  readonly outputFails?: string;
}

class Captured extends Writable {
  readonly #chunks: Buffer[] = [];
  readonly #failure: Error | null;

  /** @param code of the error of each write; null if all succeed. */
  constructor(code: string | null = null) {
    super();
    this.#failure = code === null ? null : Object.assign(new Error(`${code}: write`), { code });
  }

  override _write(
    chunk: Buffer,
    _encoding: BufferEncoding,
    done: (error: Error | null) => void,
  ): void {
    if (this.#failure === null) this.#chunks.push(chunk);
    done(this.#failure);
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}

/** What a shell would see of a command, without the time that a process takes. */
export async function callProgram(
  args: readonly string[],
  { env = {}, input = '', disk = quickDisk, terminal, ...options }: CallOptions = {},
): Promise<Finished> {
  const { platform = 'linux', outputFails } = options;
  const [stdout, stderr] = [new Captured(outputFails), new Captured()];
  if (terminal) Object.assign(stderr, { isTTY: true, columns: 80 });
  const stdin = () => Readable.from([Buffer.from(input)]);
  const status = await run(args, version, { env, stdin, stdout, stderr, disk, platform });
  return { status, signal: null, stdout: stdout.text, stderr: stderr.text };
}

/** A new directory with an empty store. */
export async function directoryWithStore(): Promise<string> {
  const data = temporaryDirectory();
  const { status, stderr } = await callProgram(['migrate', '--data', data]);
  if (status !== 0) throw new Error(stderr);
  return data;
}
