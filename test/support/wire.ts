/** An HTTP server in this process and raw connections to it: what tests of src/http/wire are about. */
import { connect, type Socket } from 'node:net';
import type { HttpRequest, HttpResponse } from '../../src/http/message.ts';
import type { Limits } from '../../src/http/wire/limits.ts';
import { type HttpServer, startServer } from '../../src/http/wire/server.ts';
import type { AccessRecord } from '../../src/telemetry/requests.ts';
import { until } from './until.ts';

/** A server in this process, what it reports, and its clients. */
export class Stage {
  readonly records: AccessRecord[] = [];
  readonly errors: unknown[] = [];
  readonly clients: Socket[] = [];
  #server: HttpServer | null = null;

  get server(): HttpServer {
    if (this.#server === null) throw new Error('start it first');
    return this.#server;
  }

  async start(
    application: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>,
    limits: Partial<Limits> = {},
  ): Promise<void> {
    this.#server = await startServer({
      application,
      host: '127.0.0.1',
      port: 0,
      onError: (error) => this.errors.push(error),
      listener: { wants: () => true, onResponse: (record) => this.records.push(record) },
      limits,
    });
  }

  connect(): Client {
    const client = new Client(Number(new URL(this.server.url).port));
    this.clients.push(client.socket);
    return client;
  }

  async stop(): Promise<void> {
    for (const socket of this.clients) socket.destroy();
    await this.server.close(1000);
  }
}

/** A connection, what was received over it, and whether it is closed. */
export class Client {
  readonly socket: Socket;
  readonly #chunks: Buffer[] = [];
  received = 0;
  closed = false;

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    this.socket.on('end', () => this.socket.end());
    this.socket.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.received += chunk.length;
    });
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.closed = true;
    });
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString('latin1');
  }

  send(line: string, headers: readonly string[] = [], body: string | Uint8Array = ''): void {
    this.socket.write([`${line} HTTP/1.1`, 'Host: catalog', ...headers, '', ''].join('\r\n'));
    if (body.length > 0) this.socket.write(body);
  }

  /** Waits until the server closes the connection. @returns all that was received. */
  async end(): Promise<string> {
    await until('the connection is closed', () => this.closed);
    return this.text;
  }
}

/** Runs a test against an application, and closes what it opened. */
export async function staged(
  application: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>,
  run: (stage: Stage) => Promise<void>,
  limits?: Partial<Limits>,
): Promise<void> {
  const stage = new Stage();
  await stage.start(application, limits);
  try {
    await run(stage);
  } finally {
    await stage.stop();
  }
}
