/**
 * A service on a port of this machine: for tests of the connection, which need no process of their
 * own.
 */
import { trustIn } from '../../src/http/wire/client-address.ts';
import type { Limits } from '../../src/http/wire/limits.ts';
import { startServer } from '../../src/http/wire/server.ts';
import { openService, type Service, type ServiceOptions } from './service.ts';

export interface ListeningOptions extends ServiceOptions {
  readonly limits?: Partial<Limits>;
  /** Addresses and networks of proxies. */
  readonly trustProxy?: readonly string[];
}

export interface Listening extends Pick<Service, 'data' | 'log'> {
  readonly url: string;
  /**
   * Waits for the requests under way, and closes the service.
   *
   * @throws if they have not ended after half a minute: the shutdown does not wait for idle connections.
   */
  stop(): Promise<void>;
}

/** Longer than any request of these tests takes, on the busiest machine. */
const GRACE_MS = 30_000;

const open = new Set<Listening>();

/** Closes every server that a failed test left open. */
export async function closeListening(): Promise<void> {
  for (const server of open) await server.stop();
}

export async function listen(options: ListeningOptions = {}): Promise<Listening> {
  const { limits = {}, trustProxy = [] } = options;
  const service = await openService(options);
  const server = await startServer({
    application: service.application,
    host: '127.0.0.1',
    port: 0,
    onError: (error) => service.log.push(`a response could not be sent: ${String(error)}`),
    trusts: trustIn(trustProxy),
    limits,
  });
  const { data, log } = service;
  const listening: Listening = {
    data,
    log,
    url: server.url,
    async stop() {
      if (!open.delete(listening)) return;
      const areAnswered = await server.close(GRACE_MS);
      await service.stop();
      if (!areAnswered) throw new Error('a request was still under way when the server closed');
    },
  };
  open.add(listening);
  return listening;
}
