/** A proxy as `HTTP_PROXY` names it: it passes plain requests on, refuses tunnels, and records both. */
import { createServer, request as requestTo } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ForwardProxy extends AsyncDisposable {
  /** `GET http://127.0.0.1:8000/books/` or `CONNECT 127.0.0.1:8000`, in order. */
  readonly requests: readonly string[];
  /** The variables with which a program uses it. */
  readonly environment: Readonly<Record<string, string>>;
}

const NAMES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'];

export async function startForwardProxy(): Promise<ForwardProxy> {
  const requests: string[] = [];
  const server = createServer((incoming, outgoing) => {
    const { method, url = '', headers } = incoming;
    requests.push(`${method} ${url}`);
    const passedOn = requestTo(url, { method, headers, agent: false }, (response) => {
      outgoing.writeHead(response.statusCode ?? 0, response.headers);
      response.pipe(outgoing);
    });
    passedOn.on('error', (error) => outgoing.destroy(error));
    incoming.pipe(passedOn);
  });
  server.on('connect', ({ url }, socket) => {
    requests.push(`CONNECT ${url}`);
    socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const names = [...NAMES, ...NAMES.map((name) => name.toLowerCase())];
  return {
    requests,
    environment: {
      ...Object.fromEntries(names.map((name) => [name, url])),
      NO_PROXY: '',
      no_proxy: '',
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
