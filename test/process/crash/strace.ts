/** A server under strace, and its system calls, ordered by their beginnings and ends. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../../support/directory.ts';
import { SECRET, serving } from '../../support/server.ts';
import { ROOT } from '../../support/paths.ts';

/** Calls that change files or directories, make them durable, or send to a client. */
const TRACED = [
  ['open', 'openat', 'creat', 'close', 'mkdir', 'mkdirat'],
  ['write', 'writev', 'pwrite64', 'pwritev', 'pwritev2', 'ftruncate', 'truncate'],
  ['fdatasync', 'fsync', 'sync_file_range', 'syncfs', 'sync'],
  ['rename', 'renameat', 'renameat2', 'link', 'linkat', 'unlink', 'unlinkat', 'rmdir'],
  ['sendto', 'sendmsg', 'sendmmsg', 'sendfile', 'recvfrom', 'recvmsg', 'read'],
].flat();

/** With the paths of descriptors and long strings, and without stops at untraced calls. */
const OPTIONS = ['-f', '--seccomp-bpf', '-yy', '-s', '65536', '-e', `trace=${TRACED.join(',')}`];

/** Whether this machine has strace and permits tracing. */
export const canTrace =
  spawnSync('strace', [...OPTIONS, '-o', '/dev/null', 'true'], { stdio: 'ignore' }).status === 0;

export interface Call {
  /** The id of the calling thread; that of the first thread is the id of the process. */
  readonly thread: number;
  readonly name: string;
  /** As strace prints them. */
  readonly arguments: string;
  /** What the first descriptor among them refers to: a path or a connection. */
  readonly target: string | null;
  readonly result: number;
  /** The positions of its beginning and its end in the order of all such events. */
  readonly began: number;
  readonly ended: number;
}

export interface Traced {
  readonly url: string;
  /** The id of the process. */
  readonly pid: number;
  /** Stops the server. @returns all its calls. */
  calls(): Promise<Call[]>;
}

/** Traced servers by process id: they would outlive strace. */
const traced = new Map<number, Promise<unknown>>();
process.on('exit', () => {
  for (const pid of traced.keys()) process.kill(pid, 'SIGKILL');
});

/** Kills every server that a failed test left running. */
export async function killTraced(): Promise<void> {
  for (const pid of traced.keys()) process.kill(pid, 'SIGKILL');
  await Promise.all(traced.values());
}

/** @param program the executable and the arguments before `serve`. */
export async function serveTraced(program: readonly string[], data: string): Promise<Traced> {
  const output = join(temporaryDirectory(), 'trace');
  const child: ChildProcess = spawn(
    'strace',
    [...OPTIONS, '-o', output, ...program, 'serve', '--data', data, '--port', '0'],
    {
      cwd: ROOT,
      env: { PATH: process.env['PATH'] ?? '', CATALOG_JWT_SECRET: SECRET, CATALOG_HISTORY: '0' },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const server = await serving(child);
  const { pid } = JSON.parse(readFileSync(join(data, 'lock'), 'utf8')) as { pid: number };
  traced.set(pid, server.finished);
  void server.finished.then(() => traced.delete(pid));
  return {
    url: server.url,
    pid,
    async calls() {
      // strace itself does not forward signals.
      process.kill(pid, 'SIGTERM');
      const { status, stderr } = await server.finished;
      if (status !== 0) throw new Error(`the server ended with ${status}: ${stderr}`);
      return parse(readFileSync(output, 'latin1'));
    },
  };
}

/**
 * strace stops a process at the beginning and the end of a call until it has written a line, so the
 * order of the lines is the order of these events. If calls of two threads overlap, the line of a
 * call is split in two.
 */
function parse(text: string): Call[] {
  const calls: Call[] = [];
  const unfinished = new Map<string, { text: string; began: number }>();
  for (const [at, line] of text.split('\n').entries()) {
    const [, pid = '', rest = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const begun = /^(.*) <unfinished \.\.\.>$/.exec(rest)?.[1];
    if (begun !== undefined) {
      unfinished.set(pid, { text: begun, began: at });
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest)?.[1];
    const first = resumed === undefined ? undefined : unfinished.get(pid);
    const call = parseCall(`${first?.text ?? ''}${resumed ?? rest}`);
    if (call !== null)
      calls.push({ ...call, thread: Number(pid), began: first?.began ?? at, ended: at });
  }
  return calls;
}

function parseCall(text: string): Omit<Call, 'thread' | 'began' | 'ended'> | null {
  const [, name, given, result] = /^(\w+)\((.*)\) += (-?\d+)/.exec(text) ?? [];
  if (name === undefined || given === undefined) return null;
  const target = /^\d+<(.*?)>(?:, |$)/.exec(given)?.[1] ?? null;
  return { name, arguments: given, target, result: Number(result) };
}

/** The strings among the arguments of a call. */
export function stringsOf(call: Call): string[] {
  const quoted = call.arguments.matchAll(/"((?:[^"\\]|\\.)*)"/g);
  return [...quoted].map(([, text = '']) =>
    // These tests send only ASCII, so only a few characters are escaped, as in JSON.
    text.replace(
      /\\(?:(["\\])|n|r|t)/g,
      (escaped, kept?: string) => kept ?? CONTROLS[escaped] ?? '',
    ),
  );
}

const CONTROLS: Readonly<Record<string, string>> = { '\\n': '\n', '\\r': '\r', '\\t': '\t' };
