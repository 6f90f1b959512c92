/**
 * How many connections the process can take. Without a free descriptor the runtime tries to accept a
 * waiting connection again and again, which takes a whole processor, and the store cannot open its
 * files. So the limit of connections leaves descriptors for everything else.
 */
import { MAX_HTTP_REQUESTS } from './http-client.ts';

/** Descriptors for files, refused connections, the metrics port, and connections to other machines. */
const RESERVED = 512;

/**
 * With several workers, each connection of a worker may have a request that the worker passes on.
 * That takes a second descriptor in the worker, and one in the owner, which has as many as a worker.
 *
 * @param wanted connections (`--max-connections`).
 * @param openFiles that the process may have; see maxOpenFiles.
 * @param workers processes that serve requests; 1 if it is this one alone.
 * @returns the connections that fit: at least a quarter of the descriptors if there are few, divided
 *   among the workers.
 */
export function connectionLimit(wanted: number, openFiles: number, workers: number): number {
  const free = Math.max(openFiles - RESERVED, Math.floor(openFiles / 4));
  return Math.min(wanted, workers === 1 ? free : perWorker(free, workers));
}

function perWorker(free: number, workers: number): number {
  // A worker's HTTP client has no more connections to the owner than this, however many it wants.
  if (workers * MAX_HTTP_REQUESTS <= free) return free - MAX_HTTP_REQUESTS;
  return Math.max(1, Math.floor(free / workers));
}
