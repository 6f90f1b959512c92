/** Ports for servers that are started again at the same address, or whose address others need first. */
import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

/**
 * Ports below those that systems give out by themselves: while a server is down, nothing else of
 * the machine takes its port.
 */
const PORTS = { from: 10_000, below: 32_000 } as const;

/** @returns a server that holds a port; null if another process has it. */
function hold(port: number): Promise<Server | null> {
  return new Promise((resolve) => {
    const server = createServer().listen(port, '127.0.0.1', () => resolve(server));
    server.on('error', () => resolve(null));
  });
}

/** @returns ports that are free now. All are held until all are known, so that they differ. */
export async function freePorts(count: number): Promise<number[]> {
  const held: { readonly port: number; readonly server: Server }[] = [];
  while (held.length < count) {
    const port = randomInt(PORTS.from, PORTS.below);
    const server = await hold(port);
    if (server !== null) held.push({ port, server });
  }
  await Promise.all(held.map(({ server }) => new Promise((resolve) => server.close(resolve))));
  return held.map(({ port }) => port);
}

/** Flags for a server that is to be started again at the same address. */
export async function portFlags(): Promise<string[]> {
  const [port] = await freePorts(1);
  return ['--port', `${port}`];
}
