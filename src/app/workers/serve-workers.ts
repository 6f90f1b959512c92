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

interface Parts {
  readonly data: string;
  readonly disk: Disk;
  readonly pool: WorkerPool;
}

/** Where clients are served, and figures of this process. */
export type Listening = Pick<HttpServer, 'url' | 'connections' | 'bodyMemory'>;

export class WorkersServer {
  readonly #parts: Parts;
  /** What takes the requests that workers pass on; null until it listens. */
  #owner: HttpServer | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** @throws CatalogError `listen`, `usage`, and why a worker cannot serve. */
  async listen(options: ServerOptions): Promise<Listening> {
    const { data, disk, pool } = this.#parts;
    const { host, port } = options;
    const socket = socketPath(data);
    // Workers share their port with each other, and with any other program that shares it.
    const [free = port] = await freePorts([{ host, port }]);
    // This process owns the directory, so no process listens on a socket that a killed run left.
    await disk.unlink(socket);
    const owner = await withPrivateUmask(() => startServer(forWorkers(options, socket)));
    this.#owner = owner;
    makePrivate(socket);
    const url = await pool.open(free);
    return {
      url,
      /** The workers count the connections of clients. */
      connections: 0,
      get bodyMemory() {
        return owner.bodyMemory;
      },
    };
  }

  /** Ends the workers first, because they pass requests on. @param grace milliseconds for requests. */
  async close(grace: number): Promise<void> {
    await this.#parts.pool.close(grace + END_MS);
    await this.#owner?.close(grace);
  }
}

/** The options of the server on the socket. @param options those of a server for clients. */
function forWorkers(options: ServerOptions, socket: string): ServerOptions {
  const { limits } = options;
  const { headers = LIMITS.headers } = limits ?? {};
  return {
    ...options,
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
      // A worker may send a write over an idle connection at the moment at which it is closed here,
      // and would not know what became of the write. So only workers close them.
      keepAliveTimeout: 0,
    },
  };
}
