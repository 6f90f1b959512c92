/** Workers as processes of this program, which share a port. */
import cluster, { type Worker } from 'node:cluster';
import { runningExecutable } from '../../disk/system/executable.ts';
import { messageOf } from '../../errors.ts';
import { HTTP_CLIENT_POLICY } from '../engine/http-client.ts';
import type { WorkerPort } from './member.ts';
import type { FromWorker } from './messages.ts';

/** The port on which all workers listen: the owner may have been told to take a free one. */
const PORT_VARIABLE = 'CATALOG_WORKER_PORT';

/** @returns the port that a worker listens on; null in a process that is not a worker. */
export function workerPort(env: Readonly<Record<string, string | undefined>>): number | null {
  return cluster.isWorker ? Number(env[PORT_VARIABLE]) : null;
}

/** Starts a process with the arguments of this one. A failure to start counts as its end. */
export function startWorker(port: number): WorkerPort {
  // `exec` is the script; for the executable, which has no script, it is the first argument.
  const [exec = '', ...args] = process.argv.slice(Bun.isStandaloneExecutable ? 2 : 1);
  cluster.setupPrimary({ exec, args });
  process.execPath = runningExecutable(process.execPath);
  try {
    // A worker passes on all writes, also if this process runs without the serving policy.
    return portTo(cluster.fork({ [PORT_VARIABLE]: String(port), ...HTTP_CLIENT_POLICY }));
  } catch (error) {
    return endedPort(`it could not be started: ${messageOf(error)}`);
  }
}

function portTo(worker: Worker): WorkerPort {
  const ended = Promise.withResolvers<string>();
  worker.once('exit', (status: number | null, signal: string | null) =>
    ended.resolve(signal === null ? `status ${status}` : signal),
  );
  // Without a process there is no exit.
  worker.on('error', (error) => ended.resolve(`it could not be started: ${messageOf(error)}`));
  return {
    send(message) {
      // A process that has ended is noticed by its exit.
      if (worker.isConnected()) worker.send(message);
    },
    kill: () => worker.process.kill('SIGKILL'),
    onMessage: (listener) =>
      worker.on('message', (message: unknown) => listener(message as FromWorker)),
    onExit: (listener) => void ended.promise.then(listener),
  };
}

function endedPort(how: string): WorkerPort {
  return {
    send() {},
    kill() {},
    onMessage() {},
    onExit: (listener) => queueMicrotask(() => listener(how)),
  };
}
