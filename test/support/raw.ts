/** Bytes to a socket and bytes back, for what no HTTP client would send. */
import { connect } from 'node:net';
import type { TestServer } from './server.ts';

/**
 * Writes the chunks one after the other, and returns all that comes back until the server closes
 * the connection or, where it stays open, until nothing has come for `quiet` milliseconds.
 */
export function exchangeRaw(
  server: Pick<TestServer, 'url'>,
  chunks: readonly (string | Uint8Array)[],
  quiet = 400,
): Promise<{ text: string; closed: boolean }> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    let timer: ReturnType<typeof setTimeout>;
    const finish = (closed: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ text, closed });
    };
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(() => finish(false), quiet);
    };
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      wait();
    });
    socket.on('close', () => finish(true));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') finish(true);
      else reject(error);
    });
    socket.on('connect', () => {
      for (const chunk of chunks) socket.write(chunk);
      wait();
    });
  });
}
