/** Answers to what is no request that the application could read. */
import type { Duplex } from 'node:stream';
import type { Answer } from './exchange.ts';
import { JSON_TYPE } from './negotiate.ts';

/** Answers what node:http could not read as a request, in the shape of every other failure. */
export function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const [status, message] = REFUSALS[error.code ?? ''] ?? ['400 Bad Request', 'this is not HTTP'];
  const body = JSON.stringify({ error: message });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
}

const REFUSALS: Readonly<Record<string, readonly [string, string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'the headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'the request took too long to arrive'],
};

/** The answer to a request that node:http hands over, but that is not to be read any further. */
export function refused(status: 400 | 417, message: string): Answer {
  return {
    status,
    headers: { 'Content-Type': JSON_TYPE, Connection: 'close' },
    body: JSON.stringify({ error: message }),
  };
}
