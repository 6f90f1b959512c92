/**
 * A server of several processes: workers listen on the port, and the owner of the data directory
 * carries out what they pass on to it over a socket in that directory.
 */
import type { Disk } from '../../disk/disk.ts';
import { makePrivate, withPrivateUmask } from '../../disk/modes.ts';
import {
  freePorts,
  type HttpServer,
  type ServerOptions,
  startServer,
} from '../../http/wire/server.ts';
import { LIMITS } from '../../http/wire/limits.ts';
import { ADDED_HEADER_BYTES } from '../../hosts/forwarding/headers.ts';
import type { WorkerPool } from './pool.ts';
import { socketPath } from './socket-path.ts';

/** Milliseconds that a worker has beyond the grace of its requests. */
const END_MS = 2000;

interface Options extends ServerOptions {
  readonly data: string;
  readonly disk: Disk;
  readonly pool: WorkerPool;
}

/** @throws CatalogError `listen`, `usage`, and why a worker cannot serve. */
export async function startWorkers(options: Options): Promise<HttpServer> {
  const { data, disk, pool, ...own } = options;
  const { host, port, limits } = own;
  const socket = socketPath(data);
  // Workers share their port with each other, and with any other program that shares it.
  const [free = port] = await freePorts([{ host, port }]);
  // This process owns the directory, so no process listens on a socket that a killed run left.
  await disk.unlink(socket);
  const { headers = LIMITS.headers } = limits ?? {};
  const server = await withPrivateUmask(() =>
    startServer({
      ...own,
      socket,
      // Only processes of this user reach the socket, and they pass on the addresses of clients.
      trusts: () => true,
      limits: {
        ...limits,
        // The workers judge what clients send.
        headers: headers + ADDED_HEADER_BYTES,
        // Each worker opens as many connections here as clients may open to it.
        connections: Infinity,
        connectionsPerAddress: Infinity,
        // A worker may send a write over an idle connection at the moment at which it is closed
        // here, and would not know what became of the write. So only workers close them.
        keepAliveTimeout: 0,
      },
    }),
  );
  let url: string;
  try {
    makePrivate(socket);
    url = await pool.open(free);
  } catch (error) {
    await server.close(0);
    throw error;
  }
  return {
    url,
    /** The workers count the connections of clients. */
    connections: 0,
    get requests() {
      return server.requests;
    },
    get bodyMemory() {
      return server.bodyMemory;
    },
    async close(grace) {
      await pool.close(grace + END_MS);
      return await server.close(grace);
    },
  };
}
